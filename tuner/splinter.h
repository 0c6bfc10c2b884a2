/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * splinter: does a hypervisor map the guest's 2 MiB pages in pieces of 4 KiB?
 * Pure.
 *
 * The TLB holds what guest and hypervisor agree on. Where the latter has only
 * small pages, each 4 KiB of a guest's large page needs an entry of its own: a
 * chase over pieces of 4 KiB then misses as one over so many pages does.
 * Without splintering 512 pieces need one entry, and few pages have no misses.
 */
#ifndef TLBTUNE_SPLINTER_H
#define TLBTUNE_SPLINTER_H

#include "reach.h"

enum splinter_verdict {
	SPLINTER_UNKNOWN,
	SPLINTER_NONE,
	SPLINTER_SOME, /* in part */
	SPLINTER_ALL,
	SPLINTER_VERDICTS
};

/* "unknown", "no", "in part", "yes": in reports. */
extern const char *const splinter_name[SPLINTER_VERDICTS];

struct splinter {
	enum splinter_verdict verdict;
	struct estimate share; /* what pieces miss, of what pages miss */
};

/*
 * Compare a curve over w pieces of 4 KiB of large pages with one over w pages
 * (either size), measured in the same blocks. Unknown where the pages don't
 * clearly miss, or nothing can be compared. 0, or -1 with ENOMEM.
 */
int splinter_judge(const struct reach_point *pages, size_t n_pages,
		   const struct reach_point *pieces, size_t n_pieces,
		   struct splinter *out);

#endif
