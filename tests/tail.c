/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tail: the interval of a tail quantile holds the true one at its nominal rate,
 * whether the late readings are scattered or come in bursts; too few readings
 * give no number.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "core/tail.h"
#include "tap.h"

#define TRIALS 600
#define BLOCKS 40
#define SEED 20120517

/*
 * One reading in 200 is late, by an exponential time above 10, the others are
 * below 1. In a bursty simulation one block in four has all of them.
 */
#define LATE 0.005
#define LATE_FROM 10
#define BURSTY 0.25

/* The true p99.9 then: exp(-(x - 10)) = 0.001 / 0.005. */
static double true_quantile(void)
{
	return LATE_FROM + log(LATE / 0.001);
}

static void simulate(gsl_rng *rng, size_t per_block, bool bursts,
		     struct samples *out)
{
	size_t block, i;

	*out = (struct samples){ 0 };
	for (block = 0; block < BLOCKS; block++) {
		double late = LATE;

		if (bursts)
			late = gsl_rng_uniform(rng) < BURSTY ? LATE / BURSTY :
							       0;
		for (i = 0; i < per_block; i++) {
			double x = gsl_rng_uniform(rng);

			if (gsl_rng_uniform(rng) < late)
				x = LATE_FROM + gsl_ran_exponential(rng, 1);
			if (samples_add(out, x) < 0)
				abort();
		}
		if (samples_end_block(out) < 0)
			abort();
	}
}

/* The share of simulations whose interval holds the truth; *known have one. */
static double coverage(size_t per_block, bool bursts, double *known)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double truth = true_quantile(), holds = 0;
	int i;

	gsl_rng_set(rng, SEED);
	*known = 0;
	for (i = 0; i < TRIALS; i++) {
		struct samples samples;
		struct estimate p999;

		simulate(rng, per_block, bursts, &samples);
		p999 = tail_quantile(&samples, 0.999);
		if (isfinite(p999.ci95.lo)) {
			++*known;
			holds += p999.ci95.lo <= truth && truth <= p999.ci95.hi;
		}
		samples_free(&samples);
	}
	gsl_rng_free(rng);
	diag("seed %d", SEED);
	holds /= *known;
	*known /= TRIALS;
	return holds;
}

static void test_coverage(void)
{
	double known, rate = coverage(500, false, &known);

	ok(rate > 0.92 && rate < 0.995,
	   "scattered: 95 %% intervals hold %.1f %%", 100 * rate);
	ok(known > 0.99, "there is one in %.1f %% of runs", 100 * known);
	rate = coverage(500, true, &known);
	ok(rate > 0.9 && rate < 0.995, "bursts: they hold %.1f %%", 100 * rate);
	ok(known > 0.9, "there is one in %.1f %% of runs", 100 * known);
}

/* Bursts leave fewer witnesses: the interval must be wider. */
static void test_width(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double width[2] = { 0, 0 };
	int i, bursts;

	gsl_rng_set(rng, SEED);
	for (bursts = 0; bursts < 2; bursts++) {
		for (i = 0; i < 50; i++) {
			struct samples samples;
			struct estimate p999;

			simulate(rng, 500, bursts, &samples);
			p999 = tail_quantile(&samples, 0.999);
			if (isfinite(p999.ci95.lo))
				width[bursts] +=
					(p999.ci95.hi - p999.ci95.lo) / 50;
			samples_free(&samples);
		}
	}
	gsl_rng_free(rng);
	ok(width[1] > 1.3 * width[0],
	   "bursts: the interval is %.2f wide, without %.2f", width[1],
	   width[0]);
}

static void test_enough(void)
{
	struct samples samples = { 0 };
	size_t n = tail_enough(0.999), i;

	is_int(tail_enough(0.99), 567, "readings that bound p99");
	is_int(n, 5665, "and p99.9");
	for (i = 0; i + 1 < n; i++) {
		samples_add(&samples, (double)i);
		if (i % 100 == 99)
			samples_end_block(&samples);
	}
	is_double(tail_quantile(&samples, 0.999).value, NAN, 0,
		  "one fewer: unknown");
	samples_add(&samples, (double)i);
	samples_end_block(&samples);
	is_double(tail_quantile(&samples, 0.999).value, 0.999 * (double)i, 1e-6,
		  "enough: a number");
	samples_free(&samples);
	is_double(tail_quantile(&samples, 0.99).value, NAN, 0,
		  "nothing: unknown");
}

/* Interval or not, no number is made up. */
static void test_blocks(void)
{
	struct samples samples = { 0 };
	struct estimate p99;
	int i;

	for (i = 0; i < 2000; i++)
		samples_add(&samples, i < 1000 ? 1 : 2);
	samples_end_block(&samples);
	p99 = tail_quantile(&samples, 0.99);
	is_double(p99.value, 2, 0, "one block: a quantile");
	is_double(p99.ci95.hi, NAN, 0, "but no interval");
	for (i = 0; i < 2000; i++)
		samples_add(&samples, 1);
	samples_end_block(&samples);
	p99 = tail_quantile(&samples, 0.99);
	is_double(p99.value, 2, 0, "two blocks that have nothing in common");
	is_double(p99.ci95.hi, NAN, 0, "bound nothing");
	samples_free(&samples);

	for (i = 0; i < 4000; i++) {
		samples_add(&samples, i >= 3900 ? i : 1);
		if (i % 1000 == 999)
			samples_end_block(&samples);
	}
	p99 = tail_quantile(&samples, 0.99);
	ok(p99.value > 3900, "the tail is in one of four blocks");
	is_double(p99.ci95.hi, NAN, 0, "which bounds nothing");
	samples_free(&samples);
}

int main(void)
{
	test_enough();
	test_blocks();
	test_coverage();
	test_width();
	return done();
}
