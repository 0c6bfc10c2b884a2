/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choice: against an oracle that tries every policy in every cell, on random
 * models; and properties that hold for any costs.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "random.h"
#include "tap.h"

#define MODELS 60
#define MAX_SETS 8

/*
 * The other column of the table in a5102476a24b: the percentage of flushes up
 * to that size. Its first 2.20 % are global flushes.
 */
static const double up_to_percent[] = {
	2.20,  59.12, 72.90, 81.16, 88.58, 90.31, 91.63, 92.77, 93.39,
	93.47, 93.90, 94.10, 94.18, 94.20, 94.23, 94.26, 94.32, 94.89,
	94.91, 94.95, 94.96, 95.14, 95.15, 95.16, 95.28, 95.32, 95.33,
	95.34, 95.35, 95.42, 95.45, 95.46, 95.46, 98.57, 98.60, 98.62,
};

#define LARGEST (sizeof(up_to_percent) / sizeof(*up_to_percent) - 1)

struct random_model {
	struct cost_model model;
	unsigned int w[MAX_SETS];
	double step[MAX_SETS][PATTERNS];
};

static double uniform(uint64_t *state, double from, double to)
{
	*state = random_stream(*state, 0);
	return from + (to - from) * (double)(*state >> 11) * 0x1p-53;
}

/*
 * Costs between those of a fast CPU and of a guest whose every flush exits to
 * the hypervisor; odd: with estimates that are off, negative or missing.
 */
static void random_model(struct random_model *random, uint64_t seed, bool odd)
{
	struct cost_model *model = &random->model;
	uint64_t state = seed;
	unsigned int w = 0;
	size_t i;
	int pattern;

	*model = (struct cost_model){
		.a = uniform(&state, odd ? -3000 : 300, 4000),
		.b = uniform(&state, odd ? -10 : 0, 60),
		.c_i = exp(uniform(&state, 1, 6)),
		.c_f = uniform(&state, odd ? -300 : 50, 2000),
		.n_sets = 1 + seed % MAX_SETS,
		.w = random->w,
		.step = random->step,
	};
	for (i = 0; i < model->n_sets; i++) {
		w += (unsigned int)uniform(&state, 1, 400);
		random->w[i] = w;
		for (pattern = 0; pattern < PATTERNS; pattern++)
			random->step[i][pattern] =
				w * uniform(&state, odd ? -2 : 0, 15);
	}
	if (odd && seed % 3 == 0)
		random->step[0][PATTERN_RANDOM] = NAN;
}

static double policy_cost(const struct cost_model *model, unsigned int n,
			  unsigned int w, enum pattern pattern,
			  unsigned int ceiling)
{
	return n <= ceiling ? cost_page(model, n) :
			      cost_full(model, n, w, pattern);
}

/* Regret by the book: every cell, this policy against the cheaper way. */
static struct regret brute_regret(const struct cost_model *model,
				  const struct choice_grid *grid,
				  unsigned int ceiling)
{
	double sum = 0, count = 0, compile = 0, weights = 0;
	struct regret out = { .worst = 0 };
	unsigned int n;
	int pattern;
	size_t i;

	for (n = 1; n <= COST_CLAMP; n++) {
		double percent =
			n <= LARGEST ? up_to_percent[n] - up_to_percent[n - 1] :
				       0;

		for (i = 0; i < grid->n_sets * PATTERNS; i++) {
			unsigned int w = grid->w[i / PATTERNS];
			double one, all, mine, best, regret;

			pattern = (int)(i % PATTERNS);
			one = policy_cost(model, n, w, pattern, COST_CLAMP);
			all = policy_cost(model, n, w, pattern, 0);
			if (!isfinite(one) || !isfinite(all))
				continue;
			mine = policy_cost(model, n, w, pattern, ceiling);
			best = one < all ? one : all;
			regret = best > CHOICE_FLOOR_NS ?
					 mine / best - 1 :
					 (mine - best) / CHOICE_FLOOR_NS;
			if (regret > out.worst + 1e-12) {
				out.worst = regret;
				out.worst_n = n;
				out.worst_w = w;
				out.worst_pattern = pattern;
			}
			sum += regret;
			count++;
			compile += percent * regret;
			weights += percent;
		}
	}
	out.mean = sum / count;
	out.compile = compile / weights;
	return out;
}

static bool close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

static bool same_regret(const struct regret *a, const struct regret *b)
{
	return close_to(a->worst, b->worst) && close_to(a->mean, b->mean) &&
	       /* the two columns of the table are rounded to 0.01 % each */
	       fabs(a->compile - b->compile) <= 2e-4 * (1 + b->worst) &&
	       a->worst_n == b->worst_n && a->worst_w == b->worst_w &&
	       a->worst_pattern == b->worst_pattern;
}

/* No policy among those given is better than the one chosen. */
static bool unbeaten(const struct regret *chosen, const struct regret *rival)
{
	double margin = 1e-9 * (1 + chosen->worst);

	return chosen->worst < rival->worst - margin ||
	       (chosen->worst <= rival->worst + margin &&
		chosen->mean <= rival->mean + margin);
}

static void test_against_oracle(bool odd)
{
	int wrong_regret = 0, wrong_choice = 0, wrong_factor = 0, seed;
	const unsigned int entries_of[] = { 64, 512, 1023, 1536, 2048, 4096 };

	for (seed = 0; seed < MODELS; seed++) {
		const unsigned int entries = entries_of[seed % 6];
		struct choice_grid grid = choice_grid(entries);
		struct random_model random;
		struct choice choice;
		unsigned int pages;
		int factor;

		random_model(&random, (uint64_t)seed, odd);
		choice = choice_make(&random.model, &grid, entries);
		for (pages = 0; pages <= COST_CLAMP; pages++) {
			struct regret want, got;

			/* every one near the ends, a sample between */
			if (pages > 20 && pages < 508 &&
			    pages != choice.best_pages &&
			    (pages + (unsigned int)seed) % 17)
				continue;
			want = brute_regret(&random.model, &grid, pages);
			got = choice_regret(&random.model, &grid, pages);
			wrong_regret += !same_regret(&got, &want);
			wrong_choice += !unbeaten(&choice.best_regret, &want);
			if (pages == choice.best_pages)
				wrong_choice += !same_regret(
					&choice.best_regret, &want);
		}
		for (factor = COST_FACTOR_MIN; factor <= COST_FACTOR_MAX;
		     factor++) {
			struct regret want;

			pages = cost_ceiling(factor, entries);
			want = brute_regret(&random.model, &grid, pages);
			wrong_factor += !unbeaten(&choice.regret, &want);
			if (factor < choice.factor && pages == choice.pages)
				wrong_factor++;
			if (factor == choice.factor)
				wrong_factor +=
					pages != choice.pages ||
					!same_regret(&choice.regret, &want);
		}
		wrong_choice += choice.best_regret.worst > choice.regret.worst;
	}
	is_int(wrong_regret, 0, "regrets as the oracle's, %s models",
	       odd ? "odd" : "sane");
	is_int(wrong_choice, 0, "no plain ceiling is better than the best one");
	is_int(wrong_factor, 0, "no factor is better than the one chosen");
}

/* Regrets are finite and not negative, whatever the estimates. */
static void test_sane(void)
{
	const double bad[] = { -1e6, -300, -1e-9, 0, 1e-9, 100, 1e6 };
	const size_t kinds = sizeof(bad) / sizeof(*bad);
	struct choice_grid grid = choice_grid(2048);
	int insane = 0;
	size_t i;

	for (i = 0; i < kinds * kinds * kinds; i++) {
		struct random_model random;
		struct choice choice;

		random_model(&random, i, false);
		random.model.a = bad[i % kinds];
		random.model.c_f = bad[i / kinds % kinds];
		random.model.c_i = bad[i / kinds / kinds];
		choice = choice_make(&random.model, &grid, 2048);
		if (!isfinite(choice.regret.worst) ||
		    !isfinite(choice.regret.mean) || choice.regret.mean < 0 ||
		    choice.regret.compile < 0 ||
		    choice.regret.worst + 1e-12 < choice.regret.mean ||
		    choice.pages != cost_ceiling(choice.factor, 2048) ||
		    choice.best_pages > COST_CLAMP)
			insane++;
	}
	is_int(insane, 0, "regrets are finite and >= 0 for costs <= 0 as well");
}

/* With one W and patterns alike, the break-even itself has no regret. */
static void test_no_regret(void)
{
	int regrets = 0, unfit = 0, seed;

	for (seed = 0; seed < MODELS; seed++) {
		struct choice_grid grid = { .n_sets = 1 };
		struct random_model random;
		struct choice choice;
		double even;
		int pattern;

		random_model(&random, (uint64_t)seed, false);
		grid.w[0] = seed % 2 ? random.w[0] : 0;
		for (pattern = 1; pattern < PATTERNS; pattern++)
			random.step[0][pattern] = random.step[0][0];
		choice = choice_make(&random.model, &grid, 2048);
		even = (random.model.c_f +
			cost_step(&random.model, grid.w[0], 0, NULL)) /
		       random.model.c_i;
		even = even > COST_CLAMP ? COST_CLAMP : floor(even);
		regrets += choice.best_regret.worst > 1e-12;
		unfit += choice.best_pages != (unsigned int)even;
	}
	is_int(regrets, 0, "with one W only, the best ceiling has no regret");
	is_int(unfit, 0, "... and is the break-even n*(W), rounded down");
}

static void test_monotone(void)
{
	int worse = 0, lower = 0, seed;

	for (seed = 0; seed < MODELS; seed++) {
		struct choice_grid grid = choice_grid(2048), part = grid;
		struct choice first, dearer, fewer;
		struct random_model random;

		random_model(&random, (uint64_t)seed, false);
		first = choice_make(&random.model, &grid, 2048);
		part.n_sets = 3;
		fewer = choice_make(&random.model, &part, 2048);
		worse += fewer.best_regret.worst > first.best_regret.worst;

		random.model.c_f += 500;
		dearer = choice_make(&random.model, &part, 2048);
		lower += dearer.best_pages < fewer.best_pages;
	}
	is_int(worse, 0, "fewer cells never raise the least worst regret");
	is_int(lower, 0, "a dearer full flush never lowers the best ceiling");
}

static void test_compile(void)
{
	/* Page by page always costs half: the regret is the share of n > C. */
	const struct cost_model model = { .a = 1000, .c_f = 1000 };
	const struct choice_grid grid = { .n_sets = 1 };
	unsigned int pages;

	for (pages = 0; pages <= LARGEST; pages++)
		is_double(choice_regret(&model, &grid, pages).compile,
			  (98.62 - up_to_percent[pages]) / (98.62 - 2.20), 5e-4,
			  "share of the kernel compile above %u", pages);
	ok(choice_regret(&model, &grid, LARGEST - 1).compile > 1e-4,
	   "the largest size listed counts");
	is_double(choice_regret(&model, &grid, 0).worst, 1, 0, "worst regret");
	is_int(choice_regret(&model, &grid, 0).worst_n, 1, "first worst cell");
	is_int(choice_regret(&model, &grid, 7).worst_n, 8, "... above C");
	is_double(choice_regret(&model, &grid, 256).mean, 0.5, 1e-12, "mean");
	is_int(choice_regret(&model, &grid, 512).worst_n, 0, "no worst cell");
	is_double(choice_regret(&model, &grid, 1u << 18).worst, 0, 0,
		  "a ceiling above the clamp is the clamp");
}

static void test_ties(void)
{
	const struct cost_model same = { .a = 1000 };
	const struct cost_model cheap = { .a = 1000, .c_f = 5000 };
	/* c_f / c_i = 1.5: one page singly, two not */
	const struct cost_model one = { .a = 1000, .c_i = 100, .c_f = 150 };
	const struct choice_grid grid = { .n_sets = 1 };

	is_int(choice_make(&same, &grid, 2048).factor, -1,
	       "no difference at all: the smallest factor");
	is_int(choice_make(&same, &grid, 2048).best_pages, 0,
	       "... and the smallest ceiling");
	is_int(choice_make(&cheap, &grid, 4096).factor, 0,
	       "always page by page: 0, not 3, of those that the clamp holds");
	is_int(choice_make(&one, &grid, 48).factor, 5,
	       "one page only: the first shift that leaves one");
	is_int(choice_make(&one, &grid, 48).pages, 1, "... one");
}

static void test_unknown(void)
{
	struct choice_grid grid = choice_grid(2048);
	struct random_model random;
	struct choice choice, without;
	struct regret want;

	random_model(&random, 5, false);
	without = choice_make(&random.model, &grid, 0);
	choice = choice_make(&random.model, &grid, 2048);
	is_int(without.factor, COST_FACTOR_STOCK, "E unknown: no factor");
	is_double(without.regret.worst, NAN, 0,
		  "... and its regret is unknown");
	is_int(without.best_pages, choice.best_pages,
	       "... but there is a best ceiling");

	random.model.n_sets = 0;
	choice = choice_make(&random.model, &grid, 2048);
	want = brute_regret(&random.model, &grid, choice.pages);
	ok(isfinite(choice.regret.worst) && same_regret(&choice.regret, &want),
	   "no refill known: the choice is for no reuse");

	random.model.c_i = NAN;
	choice = choice_make(&random.model, &grid, 2048);
	is_int(choice.factor, COST_FACTOR_STOCK, "c_i unknown: no factor");
	is_int(choice.pages, 0, "... nor pages");
	is_double(choice.regret.mean, NAN, 0, "... and no regret");
	is_double(choice.best_regret.worst, NAN, 0, "... nor best ceiling");
	random.model.c_i = INFINITY;
	is_double(choice_regret(&random.model, &grid, 33).worst, NAN, 0,
		  "an infinite cost is none");
}

static void test_grid(void)
{
	const struct {
		unsigned int entries, n, w[6];
	} want[] = {
		{ 4096, 6, { 0, 16, 64, 256, 1024, 2048 } },
		{ 2048, 5, { 0, 16, 64, 256, 1024 } },
		{ 1536, 6, { 0, 16, 64, 256, 768, 1024 } },
		{ 512, 5, { 0, 16, 64, 256, 1024 } },
		{ 96, 6, { 0, 16, 48, 64, 256, 1024 } },
		{ 20, 6, { 0, 10, 16, 64, 256, 1024 } },
		{ 0, 5, { 0, 16, 64, 256, 1024 } },
	};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct choice_grid grid = choice_grid(want[i].entries);

		is_int(grid.n_sets, want[i].n, "sets for E = %u",
		       want[i].entries);
		ok(!memcmp(grid.w, want[i].w, want[i].n * sizeof(*grid.w)),
		   "... ascending, without doubles");
	}
}

static void test_extrapolated(void)
{
	struct choice_grid grid = choice_grid(4096); /* 6 sets */
	struct random_model random = { .w = { 16, 256, 1024 } };
	const struct cost_model model = { .n_sets = 3,
					  .w = random.w,
					  .step = random.step };

	is_double(choice_extrapolated(&model, &grid, COST_CLAMP), 1 / 6.0,
		  1e-12, "one W of six is beyond what was measured");
	is_double(choice_extrapolated(&model, &grid, 0), 1, 0,
		  "page by page never seen: all of them");
	is_double(choice_extrapolated(&model, &grid, 128), (5 * 0.75 + 1) / 6.0,
		  1e-12, "n above the ceiling, any W");
	is_double(choice_extrapolated(&model, &grid, 1u << 18), 1 / 6.0, 1e-12,
		  "a ceiling above the clamp");
}

int main(void)
{
	test_against_oracle(false);
	test_against_oracle(true);
	test_sane();
	test_no_regret();
	test_monotone();
	test_compile();
	test_ties();
	test_unknown();
	test_grid();
	test_extrapolated();
	return done();
}
