/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Location, spread and intervals, against values worked out by hand and against
 * the definition of a 95 % interval.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "stats.h"
#include "tap.h"

static void test_small(void)
{
	const double five[] = { 5, 1, 4, 2, 3 };
	const double four[] = { 1, 2, 3, 10 };
	const double copy[] = { 5, 1, 4, 2, 3 };

	is_double(stats_median(five, 5), 3, 0, "median of an odd number");
	is_double(stats_median(four, 4), 2.5, 0, "median of an even number");
	is_double(stats_mad(five, 5), 1, 0, "MAD of 1..5");
	is_double(stats_quantile(five, 5, 0), 1, 0, "quantile 0: minimum");
	is_double(stats_quantile(five, 5, 1), 5, 0, "quantile 1: maximum");
	is_double(stats_quantile(five, 5, 0.25), 2, 1e-12, "first quartile");
	is_double(stats_midmean(four, 4), 2.5, 1e-12,
		  "midmean drops a quarter on either side");
	ok(memcmp(five, copy, sizeof(five)) == 0, "the input is left alone");
}

static void test_unknown(void)
{
	const double one[] = { 7 };
	struct summary summary;

	is_double(stats_median(one, 0), NAN, 0, "no median of nothing");
	is_double(stats_midmean(one, 0), NAN, 0, "no midmean of nothing");
	is_double(stats_mad(one, 1), NAN, 0, "no MAD of one sample");
	is_double(stats_midmean(one, 1), 7, 0, "midmean of one sample");
	ok(isnan(stats_t_interval(one, 1).lo), "no interval of one sample");
	errno = 0;
	ok(stats_summarise(one, 0, &summary) < 0 && errno == EINVAL,
	   "a summary of nothing is refused");
	ok(stats_summarise(one, 1, &summary) == 0 && summary.median == 7 &&
		   summary.min == 7 && summary.max == 7,
	   "summary of one sample");
	ok(isnan(summary.ci95.lo) && isnan(summary.mad),
	   "... whose spread is unknown, not 0");
	ok(isnan(stats_unknown().value) && isnan(stats_unknown().ci95.hi),
	   "an unknown estimate is NAN");
}

static void test_t_interval(void)
{
	/* Mean 3, standard deviation sqrt(2.5), t(0.975, 4) = 2.7764. */
	const double x[] = { 1, 2, 3, 4, 5 };
	struct interval ci = stats_t_interval(x, 5);

	is_double(ci.lo, 3 - 2.7764451 * sqrt(2.5 / 5), 1e-6, "t-interval, lo");
	is_double(ci.hi, 3 + 2.7764451 * sqrt(2.5 / 5), 1e-6, "t-interval, hi");
}

/* The midmean does not care about a quarter of wild values; the mean would. */
static void test_outliers(void)
{
	double x[100];
	int i;

	for (i = 0; i < 100; i++)
		x[i] = i % 5 ? 100 : 1e9;
	is_double(stats_midmean(x, 100), 100, 0, "20 %% outliers are ignored");
}

/*
 * A clock that steps by 10 ns: the median of a 43 ns event is 40; the midmean
 * is within a quarter of a step.
 */
static void test_stepping_clock(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double x[20000];
	int i;

	for (i = 0; i < 20000; i++) {
		double start = 10 * gsl_rng_uniform(rng);
		double width = 43 + gsl_ran_gaussian(rng, 4);

		x[i] = 10 * (floor((start + width) / 10) - floor(start / 10));
	}
	is_double(stats_midmean(x, 20000), 43, 2.5,
		  "the midmean is within a quarter of a clock's step");
	gsl_rng_free(rng);
}

/* Blocks that differ: the interval must cover the mean of all in 95 %. */
static void test_coverage(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	int covered = 0, i, k;

	for (k = 0; k < 2000; k++) {
		double x[400], offset = 0;
		struct summary summary;

		for (i = 0; i < 400; i++) {
			if (i % 20 == 0)
				offset = gsl_ran_gaussian(rng, 3);
			x[i] = 1000 + offset + gsl_ran_gaussian(rng, 5);
		}
		stats_summarise(x, 400, &summary);
		covered += summary.ci95.lo <= 1000 && summary.ci95.hi >= 1000;
	}
	diag("coverage %.3f", covered / 2000.0);
	ok(covered >= 0.93 * 2000 && covered <= 0.97 * 2000,
	   "the interval over blocks covers at its nominal rate");
	gsl_rng_free(rng);
}

static void test_summary(void)
{
	double x[1000];
	struct summary summary;
	int i;

	for (i = 0; i < 1000; i++)
		x[i] = (i * 7919) % 1000; /* 0..999, shuffled */
	stats_summarise(x, 1000, &summary);
	is_int(summary.n, 1000, "n");
	is_double(summary.median, 499.5, 0, "median");
	is_double(summary.p10, 99.9, 1e-9, "p10");
	is_double(summary.p90, 899.1, 1e-9, "p90");
	is_double(summary.p99, 989.01, 1e-9, "p99");
	is_double(summary.mad, 250, 0, "MAD");
	ok(summary.min == 0 && summary.max == 999, "extremes");
}

/*
 * Blocks of different lengths that know of each other inside: what counts is
 * how far blocks are apart, and none is divided.
 */
static void test_blocks(void)
{
	double x[] = { 5, 1, 1, 9, 9, 9, 2, 2 };
	const size_t end[] = { 1, 3, 6 };
	double many[60];
	size_t ends[30], i;
	struct summary summary;

	stats_summarise_blocks(x, 6, end, 3, &summary);
	is_int(summary.blocks, 3, "as many blocks as there were");
	ok(summary.block[0] == 5 && summary.block[1] == 1 &&
		   summary.block[2] == 9,
	   "the median of each, in time order");
	is_double(summary.ci95.hi - 5, 4.3026527 * 4 / sqrt(3), 1e-6,
		  "the interval is over the blocks");
	is_int(summary.n, 6, "n counts readings");
	stats_summarise_blocks(x, 8, end, 3, &summary);
	ok(summary.blocks == 4 && summary.block[3] == 2,
	   "what follows the last block is one more");
	stats_summarise_blocks(x, 8, end, 0, &summary);
	ok(summary.blocks == 1 && isnan(summary.ci95.lo),
	   "one block has no interval");
	for (i = 0; i < 60; i++)
		many[i] = (double)(i / 2);
	for (i = 0; i < 30; i++)
		ends[i] = 2 * (i + 1);
	stats_summarise_blocks(many, 60, ends, 30, &summary);
	is_int(summary.blocks, STATS_BLOCKS, "no more than STATS_BLOCKS");
	ok(summary.block[0] == 0 && summary.block[1] == 1.5 &&
		   summary.block[19] == 28.5,
	   "neighbours are taken together, whole");
	stats_summarise(x, 8, &summary);
	ok(summary.blocks == 8 && summary.block[3] == 9,
	   "without blocks each reading is one");
}

/* The ranks are those of tables of the sign test. */
static void test_median_interval(void)
{
	static const struct {
		size_t n;
		double rank;
	} table[] = { { 6, 1 },	 { 8, 1 },  { 9, 2 },  { 10, 2 },
		      { 20, 6 }, { 25, 8 }, { 64, 24 } };
	double x[64];
	struct interval ci;
	size_t i, j;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		size_t n = table[i].n;

		for (j = 0; j < n; j++)
			x[j] = (double)((j * 5 + 3) % n + 1);
		if (n % 5 == 0)
			for (j = 0; j < n; j++)
				x[j] = (double)(n - j);
		ci = stats_median_interval(x, n);
		is_double(ci.lo, table[i].rank, 0, "of %zu, from rank %g", n,
			  table[i].rank);
		is_double(ci.hi, (double)n + 1 - table[i].rank, 0,
			  "... to the same from above");
	}
	ok(isnan(stats_median_interval(x, 5).lo) &&
		   isnan(stats_median_interval(x, 5).hi) &&
		   isnan(stats_median_interval(x, 0).lo),
	   "five samples have none");
}

int main(void)
{
	test_small();
	test_median_interval();
	test_unknown();
	test_t_interval();
	test_outliers();
	test_stepping_clock();
	test_coverage();
	test_summary();
	test_blocks();
	return done();
}
