/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cost: the two ways to flush, the interpolation of D, the kernel's ceiling.
 */
#include <config.h>

#include <math.h>

#include "cost.h"
#include "tap.h"

static unsigned int sets[] = { 16, 64, 256 };
static double steps[][PATTERNS] = {
	[0] = { [PATTERN_SEQ] = 30,
		[PATTERN_RANDOM] = 40,
		[PATTERN_CHASE] = 160 },
	[1] = { [PATTERN_SEQ] = 90,
		[PATTERN_RANDOM] = NAN,
		[PATTERN_CHASE] = 400 },
	[2] = { [PATTERN_SEQ] = 60,
		[PATTERN_RANDOM] = 500,
		[PATTERN_CHASE] = -8 },
};
static const struct cost_model model = {
	.a = 1000,
	.b = 20,
	.c_i = 40,
	.c_f = 200,
	.n_sets = 3,
	.w = sets,
	.step = steps,
};

static double step_of(unsigned int w, enum pattern pattern)
{
	return cost_step(&model, w, pattern, NULL);
}

static void test_step(void)
{
	size_t i;
	int pattern;

	for (i = 0; i < model.n_sets; i++)
		for (pattern = 0; pattern < PATTERNS; pattern++)
			is_double(step_of(sets[i], pattern), steps[i][pattern],
				  0, "D(%u) as measured, %d", sets[i], pattern);
	for (pattern = 0; pattern < PATTERNS; pattern++)
		is_double(step_of(0, pattern), 0, 0,
			  "no working set, no refill, %d", pattern);

	is_double(step_of(4, PATTERN_CHASE), 40, 1e-9,
		  "a quarter of the first set: a quarter of its D");
	is_double(step_of(1, PATTERN_CHASE), 10, 1e-9, "one page");
	is_double(step_of(40, PATTERN_SEQ), 60, 1e-9, "half way up");
	is_double(step_of(160, PATTERN_SEQ), 75, 1e-9, "half way down");
	is_double(step_of(208, PATTERN_CHASE), 94, 1e-9, "through 0");
	is_double(step_of(257, PATTERN_SEQ), 60, 0, "constant above the last");
	is_double(step_of(1u << 20, PATTERN_SEQ), 60, 0, "... however far");
	is_double(step_of(40, PATTERN_RANDOM), NAN, 0,
		  "unknown below an unknown set");
	is_double(step_of(65, PATTERN_RANDOM), NAN, 0, "... and above it");
}

static void test_extrapolated(void)
{
	const struct cost_model unmeasured = { .a = 1000, .c_f = 200 };
	const unsigned int inside[] = { 0, 1, 16, 17, 255, 256 };
	bool flag = false;
	size_t i;

	for (i = 0; i < sizeof(inside) / sizeof(*inside); i++)
		cost_step(&model, inside[i], PATTERN_SEQ, &flag);
	ok(!flag, "nothing up to the last set is extrapolated");
	cost_step(&model, 257, PATTERN_SEQ, &flag);
	ok(flag, "what is above it is");
	cost_step(&model, 16, PATTERN_SEQ, &flag);
	ok(flag, "and that is not taken back");

	flag = false;
	is_double(cost_step(&unmeasured, 16, PATTERN_SEQ, &flag), NAN, 0,
		  "no set measured: D is unknown");
	ok(flag, "... and extrapolated");
	flag = false;
	is_double(cost_step(&unmeasured, 0, PATTERN_SEQ, &flag), 0, 0,
		  "except of no working set");
	ok(!flag, "... which needs no measurement");
}

static void test_costs(void)
{
	/* T_page = a + n(b + c_i), T_full = a + c_f + nb + D */
	is_double(cost_page(&model, 1), 1060, 1e-9, "one page singly");
	is_double(cost_page(&model, 33), 2980, 1e-9, "33 pages singly");
	is_double(cost_full(&model, 1, 0, PATTERN_SEQ), 1220, 1e-9,
		  "full, nothing to refill");
	is_double(cost_full(&model, 33, 64, PATTERN_CHASE), 2260, 1e-9,
		  "full, and 64 pages to refill");
	is_double(cost_full(&model, 33, 64, PATTERN_RANDOM), NAN, 0,
		  "full, D unknown");
}

/* floor(entries / 2^factor), without a shift. */
static unsigned int divided(unsigned int entries, int factor)
{
	while (factor-- > 0)
		entries /= 2;
	return entries;
}

static void test_ceiling(void)
{
	const unsigned int entries[] = { 1,    32,   64,   511,	 512,
					 1023, 1536, 2048, 4096, 3000000000u };
	size_t i;
	int factor, bad = 0, rising = 0;

	for (i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		unsigned int last = COST_CLAMP;

		if (cost_ceiling(-1, entries[i]) != 0)
			bad++;
		for (factor = 0; factor <= COST_FACTOR_MAX; factor++) {
			unsigned int pages = cost_ceiling(factor, entries[i]);
			unsigned int want = divided(entries[i], factor);

			if (want < 1)
				want = 1;
			if (want > COST_CLAMP)
				want = COST_CLAMP;
			bad += pages != want;
			rising += pages > last;
			last = pages;
		}
	}
	is_int(bad, 0, "ceiling is min(clamp, max(1, E >> f)), or 0 for -1");
	is_int(rising, 0, "a larger factor never raises the ceiling");
	is_int(cost_ceiling(5, 1536), 48, "1536 >> 5");
	is_int(cost_ceiling(6, 1000), 15, "a remainder is dropped");
	is_int(cost_ceiling(16, 2048), 1, "one page is flushed singly always");
	is_int(cost_ceiling(0, 2048), COST_CLAMP, "the clamp bounds it");
	is_int(cost_ceiling(64, 2048), 1, "a shift past the width is defined");
}

int main(void)
{
	test_step();
	test_extrapolated();
	test_costs();
	test_ceiling();
	return done();
}
