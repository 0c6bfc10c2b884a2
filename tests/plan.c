/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes and working sets: enough on both sides of any ceiling, inside one page
 * table, each once.
 */
#include <config.h>

#include <math.h>

#include "plan.h"
#include "tap.h"

static bool ascending(const unsigned int *x, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (x[i] <= x[i - 1])
			return false;
	return true;
}

static void test_every_ceiling(void)
{
	unsigned int ceiling, bad = 0;

	for (ceiling = 1; ceiling < PLAN_LARGEST; ceiling++) {
		size_t below = 0, near_below = 0, near_above = 0, i;
		struct plan plan;

		plan_open(&plan, ceiling, 2048);
		for (i = 0; i < plan.n_sizes; i++) {
			below += plan.n[i] <= ceiling;
			near_below += plan.n[i] <= ceiling &&
				      plan.n[i] + PLAN_NEAR > ceiling;
			near_above += plan.n[i] > ceiling &&
				      plan.n[i] <= ceiling + PLAN_NEAR;
		}
		if (!ascending(plan.n, plan.n_sizes) || plan.n[0] != 1 ||
		    plan.n[plan.n_sizes - 1] != PLAN_LARGEST ||
		    near_below < fmin(ceiling, PLAN_NEAR) ||
		    near_above < fmin(PLAN_LARGEST - ceiling, PLAN_NEAR) ||
		    below < fmin(ceiling, 12)) {
			diag("ceiling %u", ceiling);
			bad++;
		}
		plan_close(&plan);
	}
	is_int(bad, 0, "sizes for each ceiling from 1 to 511");
}

static void test_sets(void)
{
	struct plan plan;

	plan_open(&plan, 33, 2048);
	ok(ascending(plan.w, plan.n_sets) && plan.w[0] == 16 &&
		   plan.w[plan.n_sets - 1] == 4096,
	   "working sets from 16 pages to twice the TLB");
	is_int(plan.n_sets, 6, "E/2 = 1024 is not measured twice");
	plan_close(&plan);
	plan_open(&plan, 33, 2074);
	is_int(plan.n_sets, 6, "nor is one that is nearly 1024");
	plan_close(&plan);
	plan_open(&plan, 33, NAN);
	ok(ascending(plan.w, plan.n_sets) && plan.n_sets == 5,
	   "and some where E is unknown");
	plan_close(&plan);
	plan_open(&plan, 33, 0.4);
	ok(plan.w[0] >= 1, "never a set of no pages");
	plan_close(&plan);
}

static bool contains(const unsigned int *x, size_t n, unsigned int value)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (x[i] == value)
			return true;
	return false;
}

/* Following any gap as the search does ends with neighbours, soon. */
static void test_search(void)
{
	unsigned int ceiling, slow = 0, wrong = 0;

	for (ceiling = 1; ceiling < PLAN_LARGEST; ceiling++) {
		unsigned int n[PLAN_SIZES], below, above;
		size_t count = plan_log_sizes(n), steps = 0, i;

		do {
			below = 0;
			above = PLAN_LARGEST + 1;
			for (i = 0; i < count; i++)
				if (n[i] <= ceiling)
					below = n[i];
			for (i = count; i-- > 0;)
				if (n[i] > ceiling)
					above = n[i];
			count = plan_gap_sizes(below, above, n);
			wrong += count > PLAN_SIZES || !ascending(n, count) ||
				 !contains(n, count, below) ||
				 !contains(n, count, above);
		} while (above - below > 1 && ++steps < 10);
		slow += steps > 3;
	}
	is_int(slow, 0, "every ceiling is found in three more steps");
	is_int(wrong, 0, "a gap keeps its ends");
}

int main(void)
{
	test_every_ceiling();
	test_sets();
	test_search();
	return done();
}
