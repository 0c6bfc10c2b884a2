/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reach: find the sizes of simulated TLBs again.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "random.h"
#include "simcurve.h"
#include "tap.h"

/* Sizes as of CPUID; how they divide into sets is public for most of them. */
static const struct geometry geometries[] = {
	{ "Nehalem", 16, 4, 128, 4 },	    { "Haswell", 16, 4, 128, 8 },
	{ "Broadwell", 16, 4, 256, 6 },	    { "Skylake", 16, 4, 128, 12 },
	{ "Ice Lake", 16, 4, 128, 16 },	    { "Golden Cove", 16, 6, 128, 16 },
	{ "Panther Lake", 16, 8, 256, 12 }, { "Zen 2", 1, 64, 256, 8 },
	{ "Zen 4", 1, 72, 256, 12 },	    { "Zen 5", 1, 96, 512, 8 },
	{ "Goldmont Plus", 1, 32, 128, 4 }, { "Gracemont", 1, 48, 512, 4 },
	{ "Crestmont", 1, 48, 512, 6 },	    { "Skymont", 1, 48, 1024, 4 },
	{ "K10", 1, 48, 128, 4 },
};

#define GEOMETRIES (sizeof(geometries) / sizeof(*geometries))

/* Grid up to which the sizes are looked for, in E of the last level. */
#define MAX_LOAD 5

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

static double share(int part, int whole)
{
	return whole ? (double)part / whole : NAN;
}

static bool within(double got, double want, double factor)
{
	return got <= want * factor && got >= want / factor;
}

static bool covers(const struct estimate *estimate, double value)
{
	return estimate->ci95.lo <= value && value <= estimate->ci95.hi;
}

/* How often what was found is right. */
struct score {
	int n;
	int last_close, last_covered, last_wild; /* 12 %; interval; 60 % */
	int l1_close, l1_covered;		 /* 20 %; interval */
	int hit_close, walk_close;		 /* 20 % */
	int knee_close;				 /* of the last level, 12 % */
	int narrow; /* interval of E within a factor of 2 */
};

static void score_one(struct score *score, const struct reach *found,
		      const struct misses *misses,
		      const struct geometry *geometry,
		      const struct machine *machine)
{
	double l1 = geometry->l1_sets * geometry->l1_ways;
	double last = geometry->last_sets * geometry->last_ways;

	score->n++;
	score->last_close += within(found->last.value, last, 1.12);
	score->last_covered += covers(&found->last, last);
	score->last_wild += !isnan(found->last.value) &&
			    !within(found->last.value, last, 1.6);
	score->l1_close += within(found->l1.value, l1, 1.2);
	score->l1_covered += covers(&found->l1, l1);
	score->hit_close += within(found->hit_last.value,
				   machine->hit_next / machine->ghz, 1.2);
	score->walk_close +=
		within(found->walk.value,
		       machine_walk_cycles(machine, 2) / machine->ghz, 1.2);
	score->knee_close += within(found->last_knee.value,
				    misses_half(misses, misses->last), 1.12);
	score->narrow += found->last.ci95.hi < 2 * found->last.ci95.lo;
}

/* Leave what is measured once the knee is seen, in six blocks of seven. */
static void leave_near(struct reach_point *points, size_t *n, unsigned int max,
		       double knee)
{
	size_t near, kept = 0, i, k;
	unsigned int *grid = reach_grid_near(max, knee, &near);

	if (!grid)
		abort();
	for (i = 0; i < *n; i++) {
		bool keep = points[i].block % 7 == 0;

		for (k = 0; k < near && !keep; k++)
			keep = grid[k] == points[i].w;
		if (keep)
			points[kept++] = points[i];
	}
	*n = kept;
	free(grid);
}

/* Measure one TLB on several machines, with the whole grid or most of it. */
static void score_curve(struct score *score, const struct geometry *geometry,
			enum replacement replacement, enum placement placement,
			bool whole)
{
	double last = geometry->last_sets * geometry->last_ways;
	unsigned int max = MAX_LOAD * (unsigned int)last;
	uint64_t seed = (uint64_t)(geometry - geometries) * 16 +
			replacement * 4 + placement;
	struct misses misses =
		misses_simulate(geometry, replacement, placement, max, seed);
	int i;

	for (i = 0; i < 5; i++) {
		struct machine machine = machine_random(seed * 4 + i);
		struct reach found;
		struct reach_point *points;
		size_t n;

		points = machine_measure(&misses, &machine, last, seed + i, &n);
		if (!whole)
			leave_near(points, &n, max,
				   misses_half(&misses, misses.last));
		if (reach_find(points, n, &found) < 0)
			abort();
		score_one(score, &found, &misses, geometry, &machine);
		free(points);
	}
	misses_free(&misses);
}

static void test_sizes(void)
{
	struct score lru = { 0 }, even = { 0 }, other = { 0 };
	int placement;
	size_t i;

	for (i = 0; i < GEOMETRIES; i++) {
		const struct geometry *geometry = &geometries[i];
		bool tree = possible(TREE_LRU, geometry->last_ways) != LRU;

		for (placement = 0; placement < PLACEMENTS; placement++)
			score_curve(&lru, geometry,
				    tree && i % 2 ? TREE_LRU : LRU, placement,
				    true);
		if (i % 3 == 0) {
			score_curve(&even, geometry, RANDOM_WAY, EVEN, true);
			score_curve(&other, geometry, RANDOM_WAY, HASHED, true);
			score_curve(&other, geometry, NOT_RECENT, SCATTERED,
				    true);
		}
	}

	ok(share(lru.last_close, lru.n) >= 0.95,
	   "E within 12 %% in 95 %% of cases, (pseudo-)LRU: %d of %d",
	   lru.last_close, lru.n);
	ok(share(lru.l1_close, lru.n) >= 0.95,
	   "the L1 within 20 %% in 95 %%: %d", lru.l1_close);
	ok(share(lru.last_covered, lru.n) >= 0.93,
	   "its interval covers E in 93 %%: %d", lru.last_covered);
	ok(share(lru.l1_covered, lru.n) >= 0.93, "that of the L1 in 93 %%: %d",
	   lru.l1_covered);
	ok(share(lru.narrow, lru.n) >= 0.85,
	   "an interval is less than a factor of 2 wide in 85 %%: %d",
	   lru.narrow);
	ok(share(lru.hit_close, lru.n) >= 0.95,
	   "cost of a hit in the last level within 20 %% in 95 %%: %d",
	   lru.hit_close);
	ok(share(lru.knee_close + even.knee_close + other.knee_close,
		 lru.n + even.n + other.n) >= 0.85,
	   "the last knee within 12 %% in 85 %%, whatever the kind: %d of %d",
	   lru.knee_close + even.knee_close + other.knee_close,
	   lru.n + even.n + other.n);
	ok(share(lru.walk_close, lru.n) >= 0.95,
	   "cost of a walk at 2 E within 20 %% in 95 %%: %d", lru.walk_close);
	ok(share(even.last_close, even.n) >= 0.8,
	   "E within 12 %%, random replacement in even sets: %d of %d",
	   even.last_close, even.n);
	ok(share(other.last_covered, other.n) >= 0.85,
	   "covered at least, other replacement in random sets: %d of %d",
	   other.last_covered, other.n);
	is_int(other.last_wild, 0, "... and not off by more than 60 %%");
	diag("with other replacement in random sets %d of %d within 12 %%",
	     other.last_close, other.n);
}

/* What later blocks leave out costs neither E nor its interval. */
static void test_near(void)
{
	struct score score = { 0 };
	size_t i;

	for (i = 0; i < GEOMETRIES; i++)
		score_curve(&score, &geometries[i], LRU,
			    (enum placement)(i % PLACEMENTS), false);
	ok(share(score.last_close, score.n) >= 0.93,
	   "most blocks near the knee only: E within 12 %% in 93 %%: %d of %d",
	   score.last_close, score.n);
	ok(share(score.last_covered, score.n) >= 0.93, "... and covered: %d",
	   score.last_covered);
	ok(share(score.walk_close, score.n) >= 0.95,
	   "... and the walk within 20 %%: %d", score.walk_close);
}

/*
 * A sibling thread that comes and goes: while it is there, in three blocks of
 * four, the last level seems to have a quarter less. Returns how many of n
 * machines still show E.
 */
static int find_beside_sibling(const struct geometry *whole, int n)
{
	struct geometry part = *whole;
	unsigned int last = whole->last_sets * whole->last_ways;
	struct misses undisturbed, disturbed;
	int close = 0, i;

	part.last_ways = whole->last_ways * 3 / 4;
	undisturbed = misses_simulate(whole, LRU, EVEN, MAX_LOAD * last, 1);
	disturbed = misses_simulate(&part, LRU, EVEN, MAX_LOAD * last, 1);
	for (i = 0; i < n; i++) {
		struct machine machine = machine_random(800 + i);
		struct reach_point *points, *others;
		struct reach found;
		size_t n_points, j;

		machine.blocks = 16;
		points = machine_measure(&undisturbed, &machine, last, i,
					 &n_points);
		others = machine_measure(&disturbed, &machine, last, i,
					 &n_points);
		for (j = 0; j < n_points; j++)
			if (points[j].block % 4)
				points[j] = others[j];
		if (reach_find(points, n_points, &found) < 0)
			abort();
		close += within(found.last_knee.value,
				misses_half(&undisturbed, undisturbed.last),
				1.12);
		free(others);
		free(points);
	}
	misses_free(&undisturbed);
	misses_free(&disturbed);
	return close;
}

static void test_sibling(void)
{
	const struct geometry *geometry = &geometries[5]; /* Golden Cove */
	int n = 20, close = find_beside_sibling(geometry, n);

	ok(share(close, n) >= 0.9,
	   "a sibling takes entries in most blocks, but E is found: %d of %d",
	   close, n);
}

/* A single level, as Zhaoxin KX-7000 has, and an older one. */
static void test_one_level(void)
{
	const struct geometry one[] = {
		{ "96 entries", 16, 6, 0, 0 },
		{ "512 entries", 128, 4, 0, 0 },
	};
	int close = 0, no_l1 = 0, n = 0, i;
	size_t g;

	for (g = 0; g < sizeof(one) / sizeof(*one); g++) {
		double entries = one[g].l1_sets * one[g].l1_ways;
		struct misses misses =
			misses_simulate(&one[g], LRU, EVEN, 16384, g);

		for (i = 0; i < 10; i++, n++) {
			struct machine machine = machine_random(900 + i);
			struct reach_point *points;
			struct reach found;
			size_t n_points;

			machine.hit_next = machine.walk;
			machine.growth /= 3; /* over seven doublings */
			machine.growth_power = 1;
			points = machine_measure(&misses, &machine, entries, i,
						 &n_points);
			reach_find(points, n_points, &found);
			close += within(found.last.value, entries, 1.2);
			no_l1 += isnan(found.l1.value);
			free(points);
		}
		misses_free(&misses);
	}
	ok(share(close, n) >= 0.9, "one level only is the last one: %d of %d",
	   close, n);
	ok(share(no_l1, n) >= 0.9, "... and there is no L1: %d", no_l1);
}

/* What was measured ends before the last level is full. */
static void test_out_of_reach(void)
{
	const struct {
		struct geometry tlb;
		unsigned int max;
	} cases[] = {
		{ { "Zen 5", 1, 96, 512, 8 }, 3000 },
		/* so far beyond the L1 that it could pass for the only level */
		{ { "Skymont", 1, 48, 1024, 4 }, 4700 },
		{ { "smaller", 1, 32, 1024, 4 }, 3300 },
	};
	size_t i;
	int seed;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct geometry *tlb = &cases[i].tlb;
		struct misses misses =
			misses_simulate(tlb, LRU, HASHED, cases[i].max, 1);
		int claimed = 0, l1_close = 0, n = 20;

		for (seed = 0; seed < n; seed++) {
			struct machine machine = machine_random(500 + seed);
			struct reach_point *points;
			struct reach found;
			size_t n_points;

			points = machine_measure(&misses, &machine, 4096, seed,
						 &n_points);
			reach_find(points, n_points, &found);
			claimed += !isnan(found.last.value);
			l1_close += within(found.l1.value, tlb->l1_ways, 1.2);
			free(points);
		}
		misses_free(&misses);
		is_int(claimed, 0, "a last level beyond the grid is unknown");
		ok(share(l1_close, n) >= 0.9,
		   "... but the L1 is found: %d of %d", l1_close, n);
	}
}

/* A step where w passes 64 pages, of so much of the control. */
static struct reach find_step(double height)
{
	struct machine machine = machine_random(11);
	struct reach_point *points;
	struct misses misses;
	struct reach found;
	size_t n, i;

	machine.noise = 0.002;
	machine.outliers = 0;
	machine.shift = 0;
	machine.hit_next = height * machine.caches[0];
	misses.w = reach_grid(16384, &misses.n);
	misses.l1 = allocate(misses.n, sizeof(*misses.l1));
	misses.last = allocate(misses.n, sizeof(*misses.last));
	for (i = 0; i < misses.n; i++)
		misses.l1[i] = misses.w[i] > 64;
	points = machine_measure(&misses, &machine, 2048, 1, &n);
	reach_find(points, n, &found);
	free(points);
	misses_free(&misses);
	return found;
}

static void test_step(void)
{
	struct reach high = find_step(0.5), low = find_step(0.05);

	is_double(high.last.value, 68, 3, "a step: E is between two points");
	ok(covers(&high.last, 64) && covers(&high.last, 71.9),
	   "... and may be anything there");
	is_double(low.last.value, NAN, 0, "a step of 5 %% is not a knee");
	is_double(low.l1.value, NAN, 0, "... nor is it an L1");
}

/* An emulator: no TLB shows, only caches, noise, and maybe a slow rise. */
static void test_no_knee(void)
{
	int claimed = 0, n = 60, i;
	size_t j;

	for (i = 0; i < n; i++) {
		struct machine machine = machine_random(700 + i);
		uint64_t state = i;
		double slope = i % 3 * draw_uniform(&state, 0, 2);
		double power = draw_uniform(&state, 0.5, 2);
		struct reach_point *points;
		struct misses misses;
		struct reach found;
		size_t n_points;

		misses.w = reach_grid(16384, &misses.n);
		misses.l1 = allocate(misses.n, sizeof(*misses.l1));
		misses.last = allocate(misses.n, sizeof(*misses.last));
		for (j = 0; j < misses.n; j++)
			misses.l1[j] =
				slope *
				pow(log2(misses.w[j] / 16.0) / 10, power);
		points = machine_measure(&misses, &machine, 2048, i, &n_points);
		if (reach_find(points, n_points, &found) < 0 ||
		    !isnan(found.last.value) || !isnan(found.l1.value) ||
		    !isnan(found.walk.value) || !isnan(found.hit_last.value))
			claimed++;
		free(points);
		misses_free(&misses);
	}
	ok(claimed <= 1, "no knee is found where there is none: %d of %d",
	   claimed, n);
}

/*
 * Recorded in a guest on an Intel CPU of family 6, model 0xa7 by its own word,
 * with an L1 dTLB of 96 and a last level of 2048 entries by the data: medians
 * of w, ns per access spread and dense.
 */
static const double recorded[][3] = {
	{ 16, 2.43, 2.43 },    { 32, 1.83, 1.83 },     { 61, 1.54, 1.53 },
	{ 77, 1.48, 1.47 },    { 86, 1.65, 1.45 },     { 96, 1.63, 1.43 },
	{ 108, 2.33, 1.40 },   { 121, 2.89, 1.38 },    { 136, 3.07, 1.36 },
	{ 152, 3.10, 1.35 },   { 191, 3.06, 1.32 },    { 300, 3.02, 1.28 },
	{ 529, 2.99, 1.26 },   { 664, 2.98, 1.25 },    { 744, 3.11, 1.34 },
	{ 833, 5.62, 3.92 },   { 1045, 5.64, 3.92 },   { 1171, 5.65, 3.92 },
	{ 1311, 5.71, 3.92 },  { 1469, 5.97, 3.91 },   { 1645, 7.25, 3.92 },
	{ 1843, 8.93, 3.92 },  { 2064, 12.03, 3.93 },  { 2312, 14.15, 3.93 },
	{ 2589, 14.54, 3.93 }, { 2900, 15.34, 4.01 },  { 3248, 15.53, 4.02 },
	{ 3638, 15.88, 4.02 }, { 4563, 16.19, 4.02 },  { 6411, 16.33, 4.00 },
	{ 8042, 16.74, 4.67 }, { 10088, 17.08, 4.92 }, { 11299, 17.30, 5.05 },
};

#define RECORDED (sizeof(recorded) / sizeof(*recorded))

/* The recorded curve in blocks of its own, with some noise. */
static struct reach_point *replay(unsigned int blocks, double noise, size_t *n)
{
	struct reach_point *points =
		allocate(blocks * RECORDED, sizeof(*points));
	uint64_t state = 3;
	unsigned int block;
	size_t i;

	*n = 0;
	for (block = 0; block < blocks; block++)
		for (i = 0; i < RECORDED; i++)
			points[(*n)++] = (struct reach_point){
				.block = block,
				.w = (unsigned int)recorded[i][0],
				.spread_ns = recorded[i][1] *
					     (1 + noise * draw_normal(&state)),
				.dense_ns = recorded[i][2] *
					    (1 + noise * draw_normal(&state)),
			};
	return points;
}

static void test_recorded(void)
{
	struct reach_point *points;
	struct reach found;
	size_t n;

	points = replay(10, 0.02, &n);
	is_int(reach_find(points, n, &found), 0, "a recorded curve");
	ok(within(found.last.value, 2048, 1.12) && covers(&found.last, 2048),
	   "E: %.0f", found.last.value);
	ok(within(found.l1.value, 96, 1.2) && covers(&found.l1, 96), "L1: %.0f",
	   found.l1.value);
	is_double(found.hit_last.value, 1.72, 0.2, "hit in the last level");
	is_double(found.walk.value, 12.1, 1, "walk");
	free(points);

	points = replay(1, 0, &n);
	is_int(reach_find(points, n, &found), 0, "one block");
	ok(within(found.last.value, 2048, 1.12), "... is enough for a value");
	ok(isnan(found.last.ci95.lo) && isnan(found.l1.ci95.hi),
	   "... but not for an interval");
	free(points);
}

/* What must not matter: the unit, the order, the names of the blocks, junk. */
static void test_invariance(void)
{
	struct reach_point *points, *changed;
	struct reach found, again;
	uint32_t *order;
	size_t n, i;

	points = replay(6, 0.02, &n);
	changed = allocate(n + 3, sizeof(*changed));
	order = allocate(n, sizeof(*order));
	for (i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	random_shuffle(order, n, 9);
	reach_find(points, n, &found);
	for (i = 0; i < n; i++) {
		changed[i] = points[order[i]];
		changed[i].block = 1500000001u * changed[i].block;
		changed[i].spread_ns *= 8;
		changed[i].dense_ns *= 8;
	}
	changed[n] = (struct reach_point){ 1, 100, NAN, 1 };
	changed[n + 1] = (struct reach_point){ 1, 100, 1, -1 };
	changed[n + 2] = (struct reach_point){ 1, 0, 1, 1 };
	reach_find(changed, n + 3, &again);
	is_double(again.last.value, found.last.value, 1e-6, "E is the same");
	is_double(again.l1.value, found.l1.value, 1e-6, "L1 is the same");
	is_double(again.last.ci95.lo, found.last.ci95.lo, 1e-6,
		  "its interval is the same");
	is_double(again.walk.value, 8 * found.walk.value, 1e-6,
		  "the walk scales");
	free(order);
	free(changed);
	free(points);
}

static void test_refusal(void)
{
	struct reach_point *points;
	struct reach found;
	size_t n;

	points = replay(1, 0, &n);
	errno = 0;
	is_int(reach_find(points, 7, &found), -1, "seven w are refused");
	is_int(errno, EINVAL, "... as invalid");
	is_double(found.last.value, NAN, 0, "... and nothing is known");
	is_int(reach_find(points, 8, &found), 0, "eight are not");
	is_int(reach_find(NULL, 0, &found), -1, "nor is nothing at all");
	free(points);
}

static double sum_of(const unsigned int *w, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += w[i];
	return sum;
}

static void test_grid_near(void)
{
	size_t n, n_near, n_none, i, k = 0, bad = 0;
	unsigned int *grid = reach_grid(16384, &n);
	unsigned int *near = reach_grid_near(16384, 2200, &n_near);
	unsigned int *none = reach_grid_near(16384, NAN, &n_none);

	if (!grid || !near || !none)
		abort();
	for (i = 0; i < n; i++) {
		bool there = k < n_near && near[k] == grid[i];

		bad += !there &&
		       (grid[i] < 128 || (grid[i] > 1200 && grid[i] < 3200));
		bad += there && grid[i] > 5 * 2200;
		k += there;
	}
	is_int(k, n_near, "sets near a knee are of the grid");
	is_int(bad, 0, "... all about the knee and the L1, and none far above");
	ok(sum_of(near, n_near) < sum_of(grid, n) / 2, "... and half the work");
	is_int(n_none, n, "all of them while there is no knee");
	free(none);
	free(near);
	free(grid);
}

static void test_grid(void)
{
	const unsigned int sizes[] = { 32, 48, 64, 72, 96, 128 };
	size_t n, i, found = 0, j, bad = 0;
	unsigned int *grid = reach_grid(16384, &n);

	if (!grid)
		abort();
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (j = 0; j < n; j++)
			found += grid[j] == sizes[i];
	for (i = 1; i < n; i++) {
		bad += grid[i] <= grid[i - 1];
		bad += grid[i] > 128 && grid[i] > 1.07 * grid[i - 1];
	}
	is_int(found, sizeof(sizes) / sizeof(*sizes), "sizes of L1s are in it");
	is_int(bad, 0, "ascending, 7 %% apart at most above 128");
	is_int(grid[0], 16, "from 16");
	ok(grid[n - 1] <= 16384 && grid[n - 1] > 15000, "to the maximum");
	free(grid);

	grid = reach_grid(15, &n);
	ok(grid && n == 0, "a maximum below the first: none");
	free(grid);
	grid = reach_grid(16, &n);
	ok(grid && n == 1, "one");
	free(grid);
}

int main(void)
{
	test_grid();
	test_grid_near();
	test_refusal();
	test_recorded();
	test_invariance();
	test_no_knee();
	test_one_level();
	test_out_of_reach();
	test_step();
	test_sizes();
	test_near();
	test_sibling();
	return done();
}
