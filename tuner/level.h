/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * level: which knees of a curve are levels of the TLB. Pure.
 */
#ifndef TLBTUNE_LEVEL_H
#define TLBTUNE_LEVEL_H

#include "knee.h"

/* A knee of what blocks have in common, and where it was fitted. */
struct level {
	bool found;
	bool unclear; /* not found, but there may be one */
	struct knee knee;
	double from, to; /* w */
};

/*
 * The L1 and the last level in the blocks of all, of which curve is the pool,
 * over all kinds of TLB, tables[MISS_KINDS]. A knee alone is the one or the
 * other. 0, or -1 with ENOMEM.
 */
int level_find(const struct curve *all, const struct curve *curve,
	       const struct miss_table *tables, struct level *l1,
	       struct level *last);

/*
 * Refit a level in every block of all, with the kind of TLB that was found: a
 * fact of the machine. knees is room for as many. Returns how many blocks there
 * are; where one does not allow it, the mean_square of its knee is INFINITY.
 */
size_t level_refit(const struct curve *all, const struct level *level,
		   struct knee *knees);

#endif
