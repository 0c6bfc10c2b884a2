/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan: which sizes and working sets to measure. Pure.
 */
#ifndef TLBTUNE_PLAN_H
#define TLBTUNE_PLAN_H

#include <stddef.h>

/* The re-access is compared this close to the ceiling, pages. */
#define PLAN_NEAR 9

/* The largest flush that is measured, pages: one page table. */
#define PLAN_LARGEST 512

/* The most sizes that plan_log_sizes and plan_gap_sizes give. */
#define PLAN_SIZES 64

/* What each time block measures. */
struct plan {
	unsigned int *n; /* [n_sizes] pages per operation */
	size_t n_sizes;
	unsigned int *w; /* [n_sets] working sets of the fit, pages */
	size_t n_sets;
	const unsigned int
		*held_out; /* [n_held_out] working sets, not fitted */
	size_t n_held_out;
	unsigned int ceiling; /* pages */
	double seconds;	      /* for all blocks */
	unsigned int blocks;
};

/*
 * The sizes around a ceiling, and working sets from 16 pages to twice the TLB's
 * entries (NAN: unknown); the rest is the caller's. 0 or -1 with ENOMEM.
 */
int plan_open(struct plan *plan, unsigned int ceiling, double entries);
void plan_close(struct plan *plan);

/* About two sizes an octave from 1 to PLAN_LARGEST; returns how many. */
size_t plan_log_sizes(unsigned int n[PLAN_SIZES]);

/*
 * The sizes of plan_log_sizes, both ends of a gap, and sizes spread evenly
 * between them, all of them where they fit; returns how many. With the others
 * in the same block the step is seen within blocks, not between them.
 */
size_t plan_gap_sizes(unsigned int below, unsigned int above,
		      unsigned int n[PLAN_SIZES]);

/* Sort x[n] and drop what is there twice; returns how many are left. */
size_t plan_sort_unique(unsigned int *x, size_t n);

#endif
