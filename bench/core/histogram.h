/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * histogram: a distribution of durations in a fixed room, whatever their
 * number. Pure.
 *
 * A bucket is 1/32 of an octave and values below 64 have one each, so a
 * quantile is off by at most 1/64 of itself (half a bucket), while n, min and
 * max are exact.
 */
#ifndef TLBTUNE_HISTOGRAM_H
#define TLBTUNE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 5
#define HISTOGRAM_BITS 44 /* larger values count as the largest bucket's */
#define HISTOGRAM_BUCKETS                                                      \
	((HISTOGRAM_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct histogram {
	uint64_t n, min, max; /* min and max mean nothing for n = 0 */
	uint32_t count[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *histogram);

void histogram_add(struct histogram *histogram, uint64_t value);

/* Add what is in from to into. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/*
 * The quantile 0 <= q <= 1: the middle of the bucket of the value of that rank,
 * within min and max; NAN for n = 0.
 */
double histogram_quantile(const struct histogram *histogram, double q);

#endif
