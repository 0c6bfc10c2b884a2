/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "stats.h"

struct estimate stats_unknown(void)
{
	return (struct estimate){ NAN, { NAN, NAN } };
}

/* A sorted copy of x[n], or NULL with errno. */
static double *sorted_copy(const double *x, size_t n)
{
	double *sorted;

	if (n == 0) {
		errno = EINVAL;
		return NULL;
	}
	sorted = calloc(n, sizeof(*sorted));
	if (!sorted)
		return NULL;
	memcpy(sorted, x, n * sizeof(*sorted));
	gsl_sort(sorted, 1, n);
	return sorted;
}

double stats_median(const double *x, size_t n)
{
	return stats_quantile(x, n, 0.5);
}

double stats_quantile(const double *x, size_t n, double q)
{
	double *sorted = sorted_copy(x, n);
	double value;

	if (!sorted)
		return NAN;
	value = gsl_stats_quantile_from_sorted_data(sorted, 1, n, q);
	free(sorted);
	return value;
}

/* Median absolute deviation of sorted[n] from its median; NAN for n < 2. */
static double mad_of_sorted(const double *sorted, size_t n)
{
	double *work;
	double mad;

	if (n < 2)
		return NAN;
	work = calloc(n, sizeof(*work));
	if (!work)
		return NAN;
	mad = gsl_stats_mad0(sorted, 1, n, work);
	free(work);
	return mad;
}

double stats_mad(const double *x, size_t n)
{
	return n < 2 ? NAN : mad_of_sorted(x, n);
}

double stats_midmean(const double *x, size_t n)
{
	double *sorted = sorted_copy(x, n);
	double value;

	if (!sorted)
		return NAN;
	value = gsl_stats_trmean_from_sorted_data(0.25, sorted, 1, n);
	free(sorted);
	return value;
}

struct interval stats_t_interval(const double *x, size_t n)
{
	double mean, half;

	if (n < 2)
		return (struct interval){ NAN, NAN };
	mean = gsl_stats_mean(x, 1, n);
	half = gsl_cdf_tdist_Pinv(0.975, (double)(n - 1)) *
	       gsl_stats_sd_m(x, 1, n, mean) / sqrt((double)n);
	return (struct interval){ mean - half, mean + half };
}

struct interval stats_median_interval(const double *x, size_t n)
{
	struct interval ci = { NAN, NAN };
	double *sorted = sorted_copy(x, n);
	unsigned int k = 0;

	if (!sorted)
		return ci;
	while (gsl_cdf_binomial_P(k, 0.5, (unsigned int)n) <= 0.025)
		k++;
	if (k) {
		ci.lo = sorted[k - 1];
		ci.hi = sorted[n - k];
	}
	free(sorted);
	return ci;
}

/* Where block number i of all ends in x[n]; without end, each is a reading. */
static size_t block_end(size_t n, const size_t *end, size_t blocks, size_t i)
{
	if (!end)
		return i;
	if (i == 0)
		return 0;
	return i <= blocks ? end[i - 1] : n;
}

/*
 * The medians of the time blocks of x[n], or of as many neighbours at a time as
 * leave STATS_BLOCKS of them, and the t-interval over them.
 */
static void summarise_blocks(const double *x, size_t n, const size_t *end,
			     size_t blocks, struct summary *out)
{
	size_t all = n, i;

	if (end)
		all = blocks + (blocks == 0 || end[blocks - 1] < n);
	out->blocks = all < STATS_BLOCKS ? all : STATS_BLOCKS;
	for (i = 0; i < out->blocks; i++) {
		size_t from = block_end(n, end, blocks, i * all / out->blocks);
		size_t to =
			block_end(n, end, blocks, (i + 1) * all / out->blocks);

		out->block[i] = stats_median(x + from, to - from);
	}
	out->ci95 = stats_t_interval(out->block, out->blocks);
}

int stats_summarise(const double *x, size_t n, struct summary *out)
{
	return stats_summarise_blocks(x, n, NULL, 0, out);
}

int stats_summarise_blocks(const double *x, size_t n, const size_t *end,
			   size_t blocks, struct summary *out)
{
	double *sorted = sorted_copy(x, n);

	if (!sorted)
		return -1;
	*out = (struct summary){
		.n = n,
		.median = gsl_stats_median_from_sorted_data(sorted, 1, n),
		.mad = mad_of_sorted(sorted, n),
		.p10 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.10),
		.p90 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.90),
		.p99 = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.99),
		.min = sorted[0],
		.max = sorted[n - 1],
	};
	summarise_blocks(x, n, end, blocks, out);
	free(sorted);
	return 0;
}
