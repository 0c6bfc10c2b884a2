/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series: the average over the time of a run, from one value per time block.
 * Pure.
 *
 * The blocks are of equal length and fill the run, so the mean of their values
 * estimates the average over its time whatever the machine did meanwhile. How
 * precisely shows in how the values scatter around a smooth trend: a cubic in
 * time is fitted and what is left counts as noise. A drift so leaves the
 * interval as it is; what jumps or wanders faster than a third of the run
 * widens it. The mean is independent of that fit, and for normal noise the
 * interval is Student's with the degrees of freedom that the fit leaves,
 * exactly.
 */
#ifndef TLBTUNE_SERIES_H
#define TLBTUNE_SERIES_H

#include <stddef.h>

#include "stats.h"

/* Values that an interval needs. */
#define SERIES_MIN 3

/* One value per block, in time order; blocks without one are left out. */
struct series {
	size_t n;
	double *x;	/* [n] */
	double *rest;	/* [n] what the trend leaves, after series_detrend */
	double freedom; /* degrees of freedom of rest */
};

/* count empty series for up to n values each. 0, or -1 with ENOMEM. */
int series_open(struct series *series, size_t count, size_t n);
void series_close(struct series *series, size_t count);

/* Append a value if it is finite. */
void series_add(struct series *series, double value);

/*
 * Find the trend; to be called when all values are there, before what follows.
 * 0, or -1 with ENOMEM. GSL's error handler must be off.
 */
int series_detrend(struct series *series);

/* Variance of the values around the trend; NAN for n < SERIES_MIN. */
double series_variance(const struct series *series);

/* The average over time; unknown for n < SERIES_MIN. */
struct estimate series_mean(const struct series *series);

/*
 * The ratio of the averages of two series of the same blocks, with Fieller's
 * interval: the ratios rho for which the mean of num - rho * den lies within t
 * standard errors of 0. Unlike an interval that takes den as known, or one of
 * the log of the ratio, it holds for a poor den and for num around 0. Unknown
 * for n < SERIES_MIN, and where den may be 0.
 */
struct estimate series_ratio(const struct series *num,
			     const struct series *den);

/* Mean of the last third over that of the first, less 1; NAN for n < 3. */
double series_drift(const struct series *series);

#endif
