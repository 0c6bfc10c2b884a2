/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * objective: what each objective minimises, by trying every ceiling; and one
 * choice for two core types.
 */
#include <config.h>

#include <math.h>

#include "choice.h"
#include "tap.h"

/* A performance core, and one whose INVLPG and refill are dear and cheap. */
static unsigned int w[] = { 64, 2048 };
static double fast_step[][PATTERNS] = { { 130, 130, 700 },
					{ 4000, 4000, 22000 } };
static double slow_step[][PATTERNS] = { { 50, 50, 100 }, { 900, 900, 3000 } };
static const struct cost_model fast = {
	1000, 15, 40, 215, 2, w, fast_step, NULL
};
static const struct cost_model slow = { 2000, 30, 200,	     300,
					2,    w,  slow_step, NULL };

static double key(const struct regret *regret, enum objective objective)
{
	const double keys[] = {
		[OBJECTIVE_MINIMAX] = regret->worst,
		[OBJECTIVE_LATENCY] = regret->mean,
		[OBJECTIVE_THROUGHPUT] = regret->total,
	};

	return keys[objective];
}

static void test_objective(enum objective objective)
{
	struct choice_grid grid = choice_grid(2048);
	const char *name = objective_name[objective];
	double best = INFINITY, best_factor = INFINITY;
	struct choice choice;
	unsigned int pages;
	int factor;

	grid.objective = objective;
	choice = choice_make(&fast, &grid, 2048);
	for (pages = 0; pages <= COST_CLAMP; pages++) {
		struct regret regret = choice_regret(&fast, &grid, pages);

		best = fmin(best, key(&regret, objective));
	}
	for (factor = COST_FACTOR_MIN; factor <= COST_FACTOR_MAX; factor++) {
		struct regret regret =
			choice_regret(&fast, &grid, cost_ceiling(factor, 2048));

		best_factor = fmin(best_factor, key(&regret, objective));
	}
	is_double(key(&choice.best_regret, objective), best, 0,
		  "%s: no ceiling is better than %u pages", name,
		  choice.best_pages);
	is_double(key(&choice.regret, objective), best_factor, 0,
		  "%s: no factor is better than %d", name, choice.factor);
}

/* The total regret by the book. */
static void test_total(void)
{
	const struct choice_grid grid = choice_grid(2048);
	double lost = 0, cheaper = 0;
	unsigned int n;
	int pattern;
	size_t i;

	for (n = 1; n <= COST_CLAMP; n++)
		for (i = 0; i < grid.n_sets; i++)
			for (pattern = 0; pattern < PATTERNS; pattern++) {
				double page = cost_page(&fast, n);
				double full = cost_full(&fast, n, grid.w[i],
							(enum pattern)pattern);

				cheaper += fmin(page, full);
				lost += (n <= 33 ? page : full) -
					fmin(page, full);
			}
	is_double(choice_regret(&fast, &grid, 33).total, lost / cheaper, 1e-9,
		  "total: all that is lost, of all that it must cost");
}

static void test_gain(void)
{
	const struct regret from = { .worst = 0.5, .mean = 0.1, .total = 0.2 };
	const struct regret to = { .worst = 0.2, .mean = 0.1, .total = 0.32 };
	const struct regret unknown = { NAN, NAN, NAN, .worst_n = 0 };

	is_double(choice_gain(&from, &to, OBJECTIVE_MINIMAX), 0.25, 1e-12,
		  "a gain in the worst case");
	is_double(choice_gain(&from, &to, OBJECTIVE_LATENCY), 0, 0,
		  "none in the mean");
	is_double(choice_gain(&from, &to, OBJECTIVE_THROUGHPUT), -1. / 11,
		  1e-12, "a loss in total");
	ok(isnan(choice_gain(&unknown, &to, OBJECTIVE_MINIMAX)),
	   "unknown where a regret is");
}

/* Both types count; the choice is between those for each alone. */
static void test_hybrid(void)
{
	const struct choice_grid grid = choice_grid(2048);
	struct cost_model both = fast;
	struct choice of_fast = choice_make(&fast, &grid, 2048);
	struct choice of_slow = choice_make(&slow, &grid, 2048);
	struct choice of_both;
	unsigned int pages;
	bool worst = true;

	both.next = &slow;
	of_both = choice_make(&both, &grid, 2048);
	for (pages = 0; pages <= COST_CLAMP; pages++) {
		double x = choice_regret(&fast, &grid, pages).worst;
		double y = choice_regret(&slow, &grid, pages).worst;

		worst &= choice_regret(&both, &grid, pages).worst == fmax(x, y);
	}
	ok(worst, "the worst case is that of the worse core type");
	ok(of_slow.best_pages < of_fast.best_pages,
	   "the types want %u and %u pages", of_slow.best_pages,
	   of_fast.best_pages);
	ok(of_both.best_pages >= of_slow.best_pages &&
		   of_both.best_pages <= of_fast.best_pages,
	   "what serves both is between: %u", of_both.best_pages);
	ok(of_both.best_regret.worst <
		   fmax(choice_regret(&fast, &grid, of_slow.best_pages).worst,
			choice_regret(&slow, &grid, of_fast.best_pages).worst),
	   "and better than either for the other");
	is_double(of_both.best_regret.mean,
		  (choice_regret(&fast, &grid, of_both.best_pages).mean +
		   choice_regret(&slow, &grid, of_both.best_pages).mean) /
			  2,
		  1e-12, "the mean is over the cells of both");
}

int main(void)
{
	int objective;

	for (objective = 0; objective < OBJECTIVES; objective++)
		test_objective((enum objective)objective);
	test_total();
	test_gain();
	test_hybrid();
	return done();
}
