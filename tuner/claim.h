/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claim: what CPUID says of a TLB, beside what was measured. Pure.
 *
 * The two are never averaged. In a guest CPUID is what the hypervisor shows.
 */
#ifndef TLBTUNE_CLAIM_H
#define TLBTUNE_CLAIM_H

#include "stats.h"
#include "tlb.h"

enum claim_verdict {
	CLAIM_UNKNOWN,	   /* one of the two is */
	CLAIM_AGREES,	   /* within the measured interval */
	CLAIM_CONTRADICTS, /* outside */
	CLAIM_VERDICTS
};

/* "unknown", "agrees", "contradiction": in reports. */
extern const char *const claim_name[CLAIM_VERDICTS];

/* entries: -1 where CPUID does not tell. */
enum claim_verdict claim_judge(int entries, const struct estimate *measured);

/*
 * A sentence that names a contradiction, malloc'ed: "CPUID says 64 entries of
 * WHAT (decoded), 2048 [1990, 2110] were measured". NULL where there is none,
 * or on ENOMEM.
 */
char *claim_sentence(const char *what, int entries,
		     enum tlb_confidence confidence,
		     const struct estimate *measured);

#endif
