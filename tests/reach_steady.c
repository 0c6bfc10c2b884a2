/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reach_steady: five runs on a busy machine find one knee.
 *
 * What moves it from run to run is simulated as it was seen on a busy guest:
 * others hold entries, more in one block than in the next; a walk takes a third
 * less in some blocks, by where the pages are; points are missing, since there
 * was no time; and now and then the scheduler comes in between.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "simcurve.h"
#include "tap.h"

#define ENTRIES 2048
#define L1_ENTRIES 96
#define RUNS 5
#define FIVES 40

/* As Golden Cove. */
static const struct geometry geometry = { "", 16, 6, 128, 16 };

/* The knees of some runs. */
struct knees {
	double l1[RUNS], last[RUNS];
};

static struct machine busy_machine(void)
{
	return (struct machine){
		.ghz = 2.6,
		.hit_next = 4.5,
		.walk = 34,
		.growth = 0.15,
		.growth_power = 1,
		.caches = { 5, 10, 40 },
		.lines = { 768, 32768 },
		.noise = 0.02,
		.outliers = 0.03,
		.blocks = 7,
		.slow_block = 7,
		.cheap = 0.2,
		.taken = 0.02,
		.missed = 0.4,
	};
}

static void find_knees(const struct misses *misses, uint64_t seed,
		       struct knees *knees)
{
	struct machine machine = busy_machine();
	int i;

	for (i = 0; i < RUNS; i++) {
		struct reach_point *points;
		struct reach found;
		size_t n;

		points = machine_measure(misses, &machine, ENTRIES, seed + i,
					 &n);
		if (reach_find(points, n, &found) < 0)
			abort();
		knees->l1[i] = found.l1_knee.value;
		knees->last[i] = found.last_knee.value;
		free(points);
	}
}

/* The step of the grid at w. */
static double step_at(const struct misses *misses, double w)
{
	size_t i = 1;

	while (i + 1 < misses->n && misses->w[i] < w)
		i++;
	return misses->w[i] - misses->w[i - 1];
}

/* Are all of them known, and within one step? */
static bool agree(const struct misses *misses, const double *knee)
{
	double least = knee[0], most = knee[0];
	int i;

	for (i = 0; i < RUNS; i++) {
		if (isnan(knee[i]))
			return false;
		least = fmin(least, knee[i]);
		most = fmax(most, knee[i]);
	}
	return most - least <= step_at(misses, (least + most) / 2);
}

static void test_placement(enum placement placement, const char *name)
{
	struct misses misses =
		misses_simulate(&geometry, TREE_LRU, placement, 8 * ENTRIES, 1);
	int l1 = 0, last = 0, i;

	for (i = 0; i < FIVES; i++) {
		struct knees knees;

		find_knees(&misses, 1000 + (uint64_t)i * RUNS, &knees);
		l1 += agree(&misses, knees.l1);
		last += agree(&misses, knees.last);
	}
	ok(last >= 0.95 * FIVES,
	   "%s: the last knee of five runs is within a step: %d of %d", name,
	   last, FIVES);
	ok(l1 >= 0.95 * FIVES, "... and that of the L1: %d", l1);
	misses_free(&misses);
}

int main(void)
{
	test_placement(EVEN, "sets fill evenly");
	test_placement(HASHED, "sets fill at random");
	return done();
}
