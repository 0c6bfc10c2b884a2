/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * both: costs known from both ways at every size, and whether those found
 * without a knob are the same, over many simulated runs.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>

#include "both.h"
#include "tap.h"

#define RUNS 400
#define BLOCKS 14
#define SIZES 12

static const unsigned int sizes[SIZES] = { 1,  2,   4,	 8,   16,  32,
					   64, 128, 192, 256, 384, 512 };

struct truth {
	double a, b, c_i, c_f;
};

/* A run whose blocks differ by sd of each cost, and readings by 1 %. */
static void simulate(const struct truth *truth, double sd, gsl_rng *rng,
		     struct both_point points[BLOCKS * SIZES])
{
	unsigned int block;
	size_t i;

	for (block = 0; block < BLOCKS; block++) {
		double a = truth->a * (1 + gsl_ran_gaussian(rng, sd));
		double c_i = truth->c_i * (1 + gsl_ran_gaussian(rng, sd));

		for (i = 0; i < SIZES; i++) {
			double n = sizes[i];
			double page = a + n * (truth->b + c_i);
			double full = a + truth->c_f + n * truth->b;

			points[block * SIZES + i] = (struct both_point){
				.block = block,
				.n = sizes[i],
				.count = 40,
				.page_ns = page *
					   (1 + gsl_ran_gaussian(rng, 0.01)),
				.full_ns = full *
					   (1 + gsl_ran_gaussian(rng, 0.01)),
			};
		}
	}
}

/* An estimate without the knob that is off by a share of its truth. */
static struct estimate without(double truth, double off, double half)
{
	double value = truth * (1 + off);

	return (struct estimate){ value, { value - half, value + half } };
}

static bool covers(const struct estimate *estimate, double truth)
{
	return estimate->ci95.lo <= truth && truth <= estimate->ci95.hi;
}

static void test_coverage(gsl_rng *rng)
{
	const struct truth truth = { 1000, 15, 40, 215 };
	unsigned int covered[4] = { 0 }, agrees = 0, found = 0, run;

	for (run = 0; run < RUNS; run++) {
		struct both_point points[BLOCKS * SIZES];
		const struct estimate a = without(1000, 0, 10),
				      b = without(15, 0, 0.5),
				      c_i = without(40, 0, 1),
				      c_i_off = without(40, 0.2, 1),
				      c_f = without(215, 0, 30);
		struct both both;

		simulate(&truth, 0.03, rng, points);
		if (both_fit(points, BLOCKS * SIZES, &both) < 0)
			break;
		covered[0] += covers(&both.a, truth.a);
		covered[1] += covers(&both.b, truth.b);
		covered[2] += covers(&both.c_i, truth.c_i);
		covered[3] += covers(&both.c_f, truth.c_f);
		both_check(&both, &a, &b, &c_i, &c_f);
		agrees += both.verdict == BOTH_AGREES;
		both_check(&both, &a, &b, &c_i_off, &c_f);
		found += both.verdict == BOTH_DISAGREES;
		both_free(&both);
	}
	is_int(run, RUNS, "all runs are fitted");
	ok(covered[0] > 0.93 * RUNS && covered[1] > 0.93 * RUNS &&
		   covered[2] > 0.93 * RUNS && covered[3] > 0.93 * RUNS,
	   "the intervals cover a %u, b %u, c_i %u, c_f %u of %d times",
	   covered[0], covered[1], covered[2], covered[3], RUNS);
	ok(agrees > 0.95 * RUNS, "the same costs agree %u of %d times", agrees,
	   RUNS);
	ok(found > 0.95 * RUNS, "c_i 20 %% off is found %u of %d times", found,
	   RUNS);
}

static void test_no_effect(gsl_rng *rng)
{
	const struct truth stuck = { 1000, 15, 0, 0 };
	const struct estimate a = without(1000, 0, 10), b = without(15, 0, 0.5),
			      c_i = without(40, 0, 1),
			      c_f = without(215, 0, 30);
	struct both_point points[BLOCKS * SIZES];
	struct both both;

	simulate(&stuck, 0.03, rng, points);
	is_int(both_fit(points, BLOCKS * SIZES, &both), 0, "a stuck knob");
	both_check(&both, &a, &b, &c_i, &c_f);
	is_int(both.verdict, BOTH_NO_EFFECT, "has no effect");
	both_free(&both);
}

static void test_too_little(gsl_rng *rng)
{
	const struct truth truth = { 1000, 15, 40, 215 };
	const struct estimate any = without(1, 0, 1);
	struct both_point points[BLOCKS * SIZES];
	struct both both;
	size_t i;

	simulate(&truth, 0.03, rng, points);
	ok(both_fit(points, 0, &both) < 0 && errno == EINVAL, "nothing");
	both_check(&both, &any, &any, &any, &any);
	is_int(both.verdict, BOTH_NONE, "is not measured");
	ok(both_fit(points, 2 * SIZES, &both) < 0 && errno == EINVAL,
	   "two blocks");
	points[0].block = 100000; /* as a file may say */
	for (i = 0; i < SIZES; i++)
		points[SIZES + i].page_ns = NAN;
	is_int(both_fit(points, BLOCKS * SIZES, &both), 0,
	       "unknown points are left out");
	is_int(both.n_blocks, BLOCKS - 1, "and so are blocks of them");
	both_free(&both);
}

int main(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, 1);
	test_coverage(rng);
	test_no_effect(rng);
	test_too_little(rng);
	gsl_rng_free(rng);
	return done();
}
