/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * level: which knees of a curve are levels of the TLB. Pure.
 */
#ifndef TLBTUNE_LEVEL_H
#define TLBTUNE_LEVEL_H

#include "knee.h"

/* A knee of the pooled curve, and where it was fitted. */
struct level {
	bool found;
	struct knee knee;
	double from, to; /* w */
};

/*
 * The L1 and the last level in a pooled curve, over all kinds of TLB,
 * tables[MISS_KINDS]. A knee alone is the one or the other.
 */
void level_find(const struct curve *curve, const struct miss_table *tables,
		struct level *l1, struct level *last);

/* Fit a level that was found again, in a better curve. */
void level_refine(const struct curve *curve, const struct miss_table *tables,
		  struct level *level);

/*
 * Refit a level in every block of all, with the kind of TLB that was found: a
 * fact of the machine. knees is room for as many; returns how many blocks allow
 * it.
 */
size_t level_refit(const struct curve *all, const struct level *level,
		   struct knee *knees);

#endif
