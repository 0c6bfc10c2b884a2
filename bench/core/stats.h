/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats: robust location, spread and intervals of timing samples. Pure.
 *
 * Every array is in time order unless a comment says otherwise; no function
 * changes its input. NAN stands for "unknown": it is what a function returns
 * when the samples cannot support the number asked for.
 */
#ifndef TLBTUNE_STATS_H
#define TLBTUNE_STATS_H

#include <stddef.h>

/* How many contiguous time blocks an interval is taken over (design: ~20). */
#define STATS_BLOCKS 20

struct interval {
	double lo, hi;
};

/* A value with its 95 % interval; unknown: all NAN. */
struct estimate {
	double value;
	struct interval ci95;
};

/* What is said of a set of samples, all in the samples' unit. */
struct summary {
	size_t n;
	double median, mad, p10, p90, p99, min, max;
	struct interval ci95; /* of the median, from time blocks */
	size_t blocks;
	double block[STATS_BLOCKS]; /* [blocks] their medians, in time order */
};

/* An unknown estimate. */
struct estimate stats_unknown(void);

/* Median of x[n]; NAN for n = 0 or on ENOMEM. */
double stats_median(const double *x, size_t n);

/* Median absolute deviation, unscaled; NAN for n < 2. */
double stats_mad(const double *x, size_t n);

/*
 * Interquartile mean of x[n] (the mean of the middle half): ignores up to a
 * quarter of outliers on either side; where a clock steps it is within a
 * quarter of a step (the median: half a step). NAN for n = 0.
 */
double stats_midmean(const double *x, size_t n);

/* Quantile 0 <= q <= 1 of x[n], linearly interpolated; NAN for n = 0. */
double stats_quantile(const double *x, size_t n, double q);

/*
 * Student t-interval of the mean of x[n], 95 %. One value per time block is
 * expected. lo and hi are NAN for n < 2.
 */
struct interval stats_t_interval(const double *x, size_t n);

/*
 * Interval of the median of x[n], at least 95 %, for independent samples of any
 * distribution: the k-th smallest and the k-th largest, for the largest k that
 * P(Binomial(n, 1/2) < k) <= 2.5 % allows (the sign test). lo and hi are NAN
 * for n < 6, where there is no such k.
 */
struct interval stats_median_interval(const double *x, size_t n);

/*
 * Fill *out from x[n] in time order. ci95 is the t-interval over the medians of
 * min(STATS_BLOCKS, n) contiguous blocks. Returns 0, or -1 with errno (EINVAL:
 * n = 0, ENOMEM).
 */
int stats_summarise(const double *x, size_t n, struct summary *out);

/*
 * The same of readings that were taken in time blocks, which end before
 * x[end[0]], x[end[1]] ...; what follows the last of them is one more. No block
 * is divided; beyond STATS_BLOCKS, neighbours are taken together.
 */
int stats_summarise_blocks(const double *x, size_t n, const size_t *end,
			   size_t blocks, struct summary *out);

#endif
