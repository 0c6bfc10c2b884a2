/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdio.h>

#include "claim.h"

const char *const claim_name[CLAIM_VERDICTS] = {
	[CLAIM_UNKNOWN] = "unknown",
	[CLAIM_AGREES] = "agrees",
	[CLAIM_CONTRADICTS] = "contradiction",
};

enum claim_verdict claim_judge(int entries, const struct estimate *measured)
{
	const struct interval *ci95 = &measured->ci95;

	if (entries < 0 || !isfinite(measured->value) || !isfinite(ci95->lo) ||
	    !isfinite(ci95->hi))
		return CLAIM_UNKNOWN;
	return entries < ci95->lo || entries > ci95->hi ? CLAIM_CONTRADICTS :
							  CLAIM_AGREES;
}

char *claim_sentence(const char *what, int entries,
		     enum tlb_confidence confidence,
		     const struct estimate *measured)
{
	char *text;

	if (claim_judge(entries, measured) != CLAIM_CONTRADICTS ||
	    asprintf(&text,
		     "CPUID says %d entries of %s (%s), %.0f [%.0f, %.0f] "
		     "were measured",
		     entries, what, tlb_confidence_name[confidence],
		     measured->value, measured->ci95.lo, measured->ci95.hi) < 0)
		return NULL;
	return text;
}
