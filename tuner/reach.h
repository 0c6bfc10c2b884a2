/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reach: how many pages the TLB holds, from latency against working set. Pure.
 *
 * Input is a pointer chase that goes round w pages, less the same chase over as
 * many cache lines packed densely. The excess per access has a plateau for each
 * TLB level that holds the set (hit in the L1 dTLB: about 0; hit in the last
 * level; page walk). Where it crosses the middle between two plateaus, half the
 * accesses miss the level; but which w that is depends on the kind of TLB. In
 * simulation, as a multiple of its entries E, for 4 to 16 ways:
 *
 *	replacement	sets fill evenly	sets fill at random
 *	LRU, tree-PLRU	1.03 .. 1.12		0.94 .. 1.01
 *	not recent (1)	1.05 .. 1.19		1.05 .. 1.11
 *	random		1.36 .. 1.38		1.26 .. 1.39
 *
 *	(1) a bit per way, all cleared when the last one is set
 *
 * The slope of the rise differs as well, and so the kind is fitted with E
 * (knee.h). In simulated machines with noise of 1 to 5 % and a walk that
 * grows with w, E comes out within 12 % in 19 of 20 cases for LRU and
 * tree-PLRU, as CPUs have as far as is known (Tatar et al., TLB;DR, USENIX
 * Security 2022), and in 17 of 20 for the others where sets fill evenly. Where
 * they fill at random it is up to 20 % too large for not recent, and 45 % for
 * random replacement, as rise and growth cannot be told apart there; the
 * interval covers that.
 */
#ifndef TLBTUNE_REACH_H
#define TLBTUNE_REACH_H

#include <stddef.h>

#include "stats.h"

struct reach_point {
	unsigned int block; /* any number, the same for points of one block */
	unsigned int w;	    /* pages */
	double spread_ns;   /* per access, one line a page */
	double dense_ns;    /* per access, the control */
};

struct reach {
	struct estimate l1;   /* entries of the L1 dTLB */
	struct estimate last; /* E: entries of the last-level dTLB */
	/* the knees themselves: pages of which half the accesses miss */
	struct estimate l1_knee, last_knee;
	struct estimate hit_l1; /* ns an access that hits the L1 dTLB */
	/* ns more than that: */
	struct estimate hit_last; /* an L1 miss that hits the last level */
	struct estimate walk;	  /* a miss of all levels, where w = 2 E */
};

/* All unknown. */
struct reach reach_unknown(void);

/*
 * Find both knees. An unclear one is unknown, and so is one with less than two
 * points before it or three after it: measure to at least 3 E, better 5 E. A
 * machine with one level has a last level and no L1.
 *
 * The intervals of l1 and last are those over blocks, widened to the range of
 * kinds of TLB that fit and to a step of the grid; the times are medians
 * over blocks with their t-interval. With one block an interval is unknown.
 * The knees are where the rise was measured, whatever kind of TLB it is, and so
 * differ less from run to run than the entries concluded from them: those of
 * five runs agree within a step of the grid in 19 of 20 cases, with others on
 * the machine too (tests/reach_steady.c).
 * hit_l1 is that of the smallest set, which any L1 dTLB should hold.
 *
 * Points with a time that is not positive are left out. Returns 0, or -1 with
 * errno (EINVAL: fewer than 8 distinct w; ENOMEM).
 */
int reach_find(const struct reach_point *points, size_t n_points,
	       struct reach *out);

/*
 * The working sets to measure: *n points from 16 to max pages, 8 apart up to
 * 128, 6 % apart above. malloc'ed; NULL on ENOMEM.
 */
unsigned int *reach_grid(unsigned int max, size_t *n);

/*
 * Those of them that tell more about a last level with a knee that was seen
 * already, roughly: all about it and about any L1, half of the others, and none
 * far beyond. That takes less than half the time, most of which goes into the
 * largest sets. All of them where knee is NAN: none is known yet.
 */
unsigned int *reach_grid_near(unsigned int max, double knee, size_t *n);

#endif
