/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "tail.h"

/*
 * With m = n (1 - q) readings expected beyond the quantile, m - z sqrt(m) >= 1
 * leaves one beyond the upper end of an interval of z standard errors.
 */
size_t tail_enough(double q)
{
	double z = gsl_cdf_ugaussian_Pinv(0.975);
	double root = (z + sqrt(z * z + 4)) / 2;

	return (size_t)ceil(root * root / (1 - q));
}

/*
 * Standard error of the share of readings beyond value, a ratio of sums over
 * time blocks: sqrt(B / (B - 1) sum (e_b - p n_b)^2) / n.
 */
static double error_over_blocks(const struct samples *samples, double value,
				double share)
{
	double squares = 0, blocks = (double)samples->blocks;
	size_t from = 0, block, i;

	for (block = 0; block < samples->blocks; block++) {
		size_t to = samples->end[block];
		double beyond = 0;

		for (i = from; i < to; i++)
			beyond += samples->x[i] > value;
		squares += pow(beyond - share * (double)(to - from), 2);
		from = to;
	}
	return sqrt(blocks / (blocks - 1) * squares) / (double)samples->n;
}

/* The interval of quantile q, which is value, of what is sorted. */
static struct interval bounds(const struct samples *samples,
			      const double *sorted, double q, double value)
{
	double n = (double)samples->n, share = 1 - q;
	double error, half;

	if (samples->blocks < 2)
		return (struct interval){ NAN, NAN };
	error = fmax(error_over_blocks(samples, value, share),
		     sqrt(share * q / n));
	half = gsl_cdf_tdist_Pinv(0.975, (double)samples->blocks - 1) * error;
	if (q + half > 1 - 1 / n)
		return (struct interval){ NAN, NAN };
	return (struct interval){
		.lo = gsl_stats_quantile_from_sorted_data(sorted, 1, samples->n,
							  fmax(q - half, 0)),
		.hi = gsl_stats_quantile_from_sorted_data(sorted, 1, samples->n,
							  q + half),
	};
}

struct estimate tail_quantile(const struct samples *samples, double q)
{
	struct estimate result = stats_unknown();
	double *sorted;

	if (samples->n < tail_enough(q))
		return result;
	sorted = calloc(samples->n, sizeof(*sorted));
	if (!sorted)
		return result;
	memcpy(sorted, samples->x, samples->n * sizeof(*sorted));
	gsl_sort(sorted, 1, samples->n);
	result.value =
		gsl_stats_quantile_from_sorted_data(sorted, 1, samples->n, q);
	result.ci95 = bounds(samples, sorted, q, result.value);
	free(sorted);
	return result;
}
