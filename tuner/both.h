/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * both: the costs of the two ways to flush where a knob let both be timed at
 * every size, and whether they are what was found without the knob. Pure.
 *
 *	T_page(n) = a + n*(b + c_i)
 *	T_full(n) = a + c_f + n*b
 *
 * so each block's difference of the two is the line n*c_i - c_f, in which what
 * both pay, bent or not, has no part.
 */
#ifndef TLBTUNE_BOTH_H
#define TLBTUNE_BOTH_H

#include <stdbool.h>

#include "estimate.h"

/* The time of an operation on n pages in one time block, both ways. */
struct both_point {
	unsigned int block; /* 0 .. blocks - 1, in time order */
	unsigned int n;	    /* pages, at least 1 */
	unsigned int count; /* samples behind each, at least 1 */
	double page_ns, full_ns;
};

/* What the knob said of the estimate without it. */
enum both_verdict {
	BOTH_NONE,	/* not measured */
	BOTH_AGREES,	/* the intervals of all costs overlap */
	BOTH_DISAGREES, /* those of worst do not */
	BOTH_NO_EFFECT, /* moving the knob changed nothing */
	BOTH_ALONE,	/* there are no costs without it to compare with */
};

extern const char *const both_verdict_name[];

struct both {
	size_t n_blocks; /* 0: not measured */
	struct block_fit *blocks;
	struct estimate a, b, c_i, c_f; /* intervals for another run */
	enum both_verdict verdict;
	const char *worst; /* the cost that disagrees most, or NULL */
};

/*
 * Fit block by block. 0, or -1 with errno (EINVAL: fewer than 3 blocks with 4
 * sizes each; ENOMEM).
 */
int both_fit(const struct both_point *points, size_t n_points,
	     struct both *out);

/*
 * True if moving the knob changed what a page costs: flushed by itself it costs
 * more than in a full flush.
 */
bool both_acts(const struct both *both);

/* Set verdict and worst by the costs found without the knob. */
void both_check(struct both *both, const struct estimate *a,
		const struct estimate *b, const struct estimate *c_i,
		const struct estimate *c_f);

void both_free(struct both *both);

#endif
