/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curve: excess latency against pages: points cleaned, by block, and pooled.
 * Pure.
 */
#ifndef TLBTUNE_CURVE_H
#define TLBTUNE_CURVE_H

#include <stddef.h>

#include "reach.h"

/* The excess at one w. */
struct sample {
	unsigned int block;
	double w, log_w;      /* pages, and log2 of them */
	double excess, dense; /* ns per access; dense is the control */
	double weight;	      /* of the squared error: 1 / variance, relative */
};

struct curve {
	size_t n;
	struct sample
		*samples; /* [n] by block, if there are some, and then w */
};

/*
 * All points that make sense, without peaks. To be freed with curve_free().
 * Returns 0, or -1 with ENOMEM.
 */
int curve_take(const struct reach_point *points, size_t n_points,
	       struct curve *out);

/*
 * All blocks in one curve: at each w the quantile of the excess, and the median
 * of the control. To be freed with curve_free(). 0, or -1 with ENOMEM.
 */
int curve_pool(const struct curve *all, double quantile, struct curve *out);

void curve_free(struct curve *curve);

/* The block that begins with samples[from]; shares the samples. */
struct curve curve_block(const struct curve *all, size_t from);

/* The part of a block with from <= w <= to; shares the samples. */
struct curve curve_window(const struct curve *curve, double from, double to);

#endif
