/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

#include "ranktest.h"

#define HALF_ALPHA 0.025

/*
 * Twice the mid-ranks of x[n], so that those of ties are integers. 0 or -1.
 * The sum of t^3 - t over all ties of t values is added to *ties.
 */
static int double_ranks(const double *x, size_t n, size_t *rank, double *ties)
{
	size_t *order = calloc(n, sizeof(*order));
	size_t first, last, i;

	if (!order)
		return -1;
	gsl_sort_index(order, x, 1, n);
	for (first = 0; first < n; first = last) {
		double t;

		for (last = first + 1;
		     last < n && x[order[last]] == x[order[first]]; last++)
			;
		/* Ranks first + 1 .. last have the mean of both ends. */
		for (i = first; i < last; i++)
			rank[order[i]] = first + 1 + last;
		t = (double)(last - first);
		*ties += t * t * t - t;
	}
	free(order);
	return 0;
}

/*
 * In how many ways can k of the n ranks have a sum s? ways[s] for s up to max,
 * the sum of all ranks. NULL on ENOMEM.
 */
static double *count_ways(const size_t *rank, size_t n, size_t k, size_t max)
{
	/* table[j * (max + 1) + s]: of the ranks so far, j with the sum s */
	double *table = calloc((k + 1) * (max + 1), sizeof(*table));
	double *ways = calloc(max + 1, sizeof(*ways));
	size_t i, j, s;

	if (table && ways) {
		table[0] = 1;
		for (i = 0; i < n; i++)
			for (j = i + 1 < k ? i + 1 : k; j > 0; j--)
				for (s = rank[i]; s <= max; s++)
					table[j * (max + 1) + s] +=
						table[(j - 1) * (max + 1) + s -
						      rank[i]];
		memcpy(ways, table + k * (max + 1), (max + 1) * sizeof(*ways));
	} else {
		free(ways);
		ways = NULL;
	}
	free(table);
	return ways;
}

/* The share of all ways whose sum is at least as far from the mean. */
static double exact_p(const double *ways, size_t max, double mean, size_t sum)
{
	double far = fabs((double)sum - mean), all = 0, extreme = 0;
	size_t s;

	for (s = 0; s <= max; s++) {
		all += ways[s];
		if (fabs((double)s - mean) >= far)
			extreme += ways[s];
	}
	return extreme / all;
}

/* The largest sum of ranks with at most HALF_ALPHA at or below it; -1: none. */
static double exact_limit(const double *ways, size_t max)
{
	double all = 0, below = 0;
	size_t s;

	for (s = 0; s <= max; s++)
		all += ways[s];
	for (s = 0; s <= max; s++) {
		below += ways[s];
		if (below > HALF_ALPHA * all)
			break;
	}
	return (double)s - 1;
}

/* All differences b - a in ascending order, [na * nb]; NULL on ENOMEM. */
static double *differences(const double *a, size_t na, const double *b,
			   size_t nb)
{
	double *d = calloc(na * nb, sizeof(*d));
	size_t i, j;

	if (!d)
		return NULL;
	for (i = 0; i < na; i++)
		for (j = 0; j < nb; j++)
			d[i * nb + j] = b[j] - a[i];
	gsl_sort(d, 1, na * nb);
	return d;
}

/* Standard deviation of U of na and nb values with these ties. */
static double deviation(size_t na, size_t nb, double ties)
{
	double n = (double)(na + nb);

	return sqrt((double)na * (double)nb / 12 *
		    (n + 1 - ties / (n * (n - 1))));
}

/*
 * p, and how many differences to cut off at either end: as many as without
 * ties. 0 or -1.
 */
static int test_exactly(const size_t *rank, size_t na, size_t nb, size_t sum,
			double ties, struct ranktest *out, double *cut)
{
	size_t n = na + nb, max = n * (n + 1), i;
	double *ways = count_ways(rank, n, nb, max);
	size_t *untied = calloc(n, sizeof(*untied));
	int status = -1;

	if (!ways || !untied)
		goto end;
	out->p = exact_p(ways, max, (double)(nb * (n + 1)), sum);
	if (ties > 0) {
		for (i = 0; i < n; i++)
			untied[i] = 2 * (i + 1);
		free(ways);
		ways = count_ways(untied, n, nb, max);
		if (!ways)
			goto end;
	}
	/* U = sum of ranks - nb (nb + 1) / 2 */
	*cut = floor(exact_limit(ways, max) / 2) - (double)(nb * (nb + 1) / 2) +
	       1;
	status = 0;
end:
	free(untied);
	free(ways);
	return status;
}

static void test_normally(size_t na, size_t nb, size_t sum, double ties,
			  struct ranktest *out, double *cut)
{
	double mean = (double)na * (double)nb / 2;
	double u = (double)sum / 2 - (double)(nb * (nb + 1)) / 2;
	double sd = deviation(na, nb, ties);
	/* U moves in steps of one half: continuity correction */
	double z = fmax(fabs(u - mean) - 0.5, 0) / sd;

	out->p = sd > 0 ? fmin(2 * gsl_cdf_ugaussian_Q(z), 1) : 1;
	*cut = floor(mean - 0.5 +
		     gsl_cdf_ugaussian_Pinv(HALF_ALPHA) * deviation(na, nb, 0));
}

static bool all_finite(const double *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return n > 0;
}

int ranktest(const double *a, size_t na, const double *b, size_t nb,
	     struct ranktest *out)
{
	size_t n = na + nb, sum = 0, i;
	double *x, *d;
	size_t *rank;
	double ties = 0, cut = 0;
	int status = -1;

	*out = (struct ranktest){
		.shift = NAN,
		.ci95 = { NAN, NAN },
		.p = NAN,
		.exact = n <= RANKTEST_EXACT,
	};
	if (!all_finite(a, na) || !all_finite(b, nb)) {
		errno = EINVAL;
		return -1;
	}
	x = calloc(n, sizeof(*x));
	rank = calloc(n, sizeof(*rank));
	d = differences(a, na, b, nb);
	if (!x || !rank || !d)
		goto end;
	memcpy(x, a, na * sizeof(*x));
	memcpy(x + na, b, nb * sizeof(*x));
	if (double_ranks(x, n, rank, &ties) < 0)
		goto end;
	for (i = na; i < n; i++)
		sum += rank[i];
	if (!out->exact)
		test_normally(na, nb, sum, ties, out, &cut);
	else if (test_exactly(rank, na, nb, sum, ties, out, &cut) < 0)
		goto end;
	out->shift = stats_median(d, na * nb);
	if (cut >= 1)
		out->ci95 = (struct interval){ d[(size_t)cut - 1],
					       d[na * nb - (size_t)cut] };
	status = 0;
end:
	free(x);
	free(rank);
	free(d);
	return status;
}

int ranktest_holm(double *p, size_t n)
{
	size_t *order = calloc(n + 1, sizeof(*order));
	double *key = calloc(n + 1, sizeof(*key));
	size_t left = 0, i;
	double largest = 0;
	int status = order && key ? 0 : -1;

	for (i = 0; status == 0 && i < n; i++) {
		key[i] = isnan(p[i]) ? INFINITY : p[i];
		left += !isnan(p[i]);
	}
	if (status == 0)
		gsl_sort_index(order, key, 1, n);
	for (i = 0; status == 0 && left > 0; i++, left--) {
		largest = fmax(largest, fmin(1, (double)left * p[order[i]]));
		p[order[i]] = largest;
	}
	free(order);
	free(key);
	return status;
}
