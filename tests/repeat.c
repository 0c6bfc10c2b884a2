/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interval for another run: 95 % where the machine stands still, and wide
 * enough where it wanders from run to run as it does within one.
 */
#include <config.h>

#include <math.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "repeat.h"
#include "tap.h"

#define BLOCKS 28
#define MEMORY 7 /* blocks */

static void test_widen(void)
{
	const struct estimate run = { 10, { 9, 11 } };
	double x[] = { 1, 2, NAN, 3, 4, NAN };
	struct estimate wide = repeat_widen(&run, x, 6);

	/* The sd of 1..4 is sqrt(5/3); t(0.975, 3) = 3.1824. */
	is_double(wide.ci95.hi, 10 + 3.1824463 * sqrt(5.0 / 3) / 2, 1e-6,
		  "widened by the spread of what is known");
	is_double(wide.ci95.lo, 10 - 3.1824463 * sqrt(5.0 / 3) / 2, 1e-6,
		  "on both sides");
	is_double(wide.value, 10, 0, "the value stays");
	x[0] = x[1] = x[3] = x[4] = 5;
	wide = repeat_widen(&run, x, 6);
	ok(wide.ci95.lo == 9 && wide.ci95.hi == 11, "never narrower");
	x[0] = NAN;
	x[1] = 100;
	wide = repeat_widen(&run, x, 6);
	ok(wide.ci95.lo == 9 && wide.ci95.hi == 11, "three values: as it is");
	wide = repeat_widen(&run, x, 0);
	ok(wide.ci95.lo == 9 && wide.ci95.hi == 11, "none: as it is");
}

/*
 * A machine whose level wanders and forgets where it was within a quarter of a
 * run (spells of 0.3 to 15 s were seen). Ten runs, each 28 blocks, a pause as
 * long as a run between them: how many intervals contain the median of the ten?
 */
static double share_covered(gsl_rng *rng, double walk, double noise)
{
	int covered = 0, round, k, i;

	for (round = 0; round < 200; round++) {
		struct estimate wide[10];
		double level = 100, values[10], median;

		for (k = 0; k < 10; k++) {
			double x[BLOCKS], sum = 0;
			struct estimate run;

			for (i = 0; i < BLOCKS; i++) {
				level += gsl_ran_gaussian(rng, walk) -
					 (level - 100) / MEMORY;
				x[i] = level + gsl_ran_gaussian(rng, noise);
				sum += x[i];
			}
			run.value = sum / BLOCKS;
			run.ci95 = stats_t_interval(x, BLOCKS);
			wide[k] = repeat_widen(&run, x, BLOCKS);
			values[k] = run.value;
			for (i = 0; i < BLOCKS; i++)
				level += gsl_ran_gaussian(rng, walk) -
					 (level - 100) / MEMORY;
		}
		median = stats_median(values, 10);
		for (k = 0; k < 10; k++)
			covered += wide[k].ci95.lo <= median &&
				   wide[k].ci95.hi >= median;
	}
	return covered / 2000.0;
}

static void test_coverage(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double still = share_covered(rng, 0, 1);
	double wandering = share_covered(rng, 0.5, 1);

	diag("still %.3f, wandering %.3f", still, wandering);
	ok(still > 0.94, "a machine that stands still");
	ok(wandering > 0.9, "a machine that wanders");
	gsl_rng_free(rng);
}

int main(void)
{
	test_widen();
	test_coverage();
	return done();
}
