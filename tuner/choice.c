/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>

#include "choice.h"

/*
 * Flushes of user pages by size in a kernel compile, in percent: element i is
 * for i + 1 pages. From the message of Linux commit a5102476a24b ("x86/mm: Set
 * TLB flush tunable to sane value (33)", Dave Hansen, v3.17), measured on an
 * i5-3320M. Left out are its 2.20 % of global flushes and the 1.38 % that it
 * does not list by size; the rest is normalised here.
 */
static const double compile_percent[] = {
	56.92, 13.78, 8.26, 7.41, 1.73, 1.32, 1.14, 0.62, 0.08,
	0.43,  0.20,  0.08, 0.03, 0.02, 0.04, 0.06, 0.57, 0.02,
	0.03,  0.02,  0.18, 0.01, 0.01, 0.12, 0.05, 0.01, 0.01,
	0.01,  0.08,  0.03, 0.01, 0.01, 3.11, 0.02, 0.02,
};

#define COMPILE_SIZES (sizeof(compile_percent) / sizeof(*compile_percent))

/* The regrets of a set of cells. */
struct tally {
	double worst;
	unsigned int n, w; /* of the first cell with the worst */
	enum pattern pattern;
	double sum;
	double compile; /* sum weighted with compile_percent */
};

/*
 * The two halves of a policy, as tallies that share the boundary between them:
 * page[c] over the flushes of 1 .. c pages, each page by page, and full[c] over
 * those of c + 1 .. COST_CLAMP, each full. So any ceiling is two look-ups.
 */
struct sweep {
	struct tally page[COST_CLAMP + 1], full[COST_CLAMP + 1];
	size_t cells;	/* known ones per n */
	double percent; /* sum of compile_percent */
};

/* One W and pattern of the grid, with its D. */
struct refill_cell {
	unsigned int w;
	enum pattern pattern;
	double step;
};

/* Cells after those already in the tally. */
static void add(struct tally *tally, const struct tally *more)
{
	if (more->worst > tally->worst) {
		tally->worst = more->worst;
		tally->n = more->n;
		tally->w = more->w;
		tally->pattern = more->pattern;
	}
	tally->sum += more->sum;
	tally->compile += more->compile;
}

static void add_cell(struct tally *tally, unsigned int n,
		     const struct refill_cell *cell, double regret)
{
	struct tally one = {
		.worst = regret,
		.n = n,
		.w = cell->w,
		.pattern = cell->pattern,
		.sum = regret,
		.compile = n <= COMPILE_SIZES ?
				   regret * compile_percent[n - 1] :
				   0,
	};

	add(tally, &one);
}

/* The cells of the grid with a known D. Returns how many. */
static size_t known_cells(const struct cost_model *model,
			  const struct choice_grid *grid,
			  struct refill_cell *cells)
{
	size_t n = 0, i;
	int pattern;

	if (!isfinite(cost_page(model, 1)) ||
	    !isfinite(cost_full(model, 1, 0, PATTERN_SEQ)))
		return 0;
	for (i = 0; i < grid->n_sets; i++) {
		for (pattern = 0; pattern < PATTERNS; pattern++) {
			double step =
				cost_step(model, grid->w[i], pattern, NULL);

			if (!isfinite(step))
				continue;
			cells[n++] = (struct refill_cell){ grid->w[i], pattern,
							   step };
		}
	}
	return n;
}

static void sweep_make(struct sweep *sweep, const struct cost_model *model,
		       const struct choice_grid *grid)
{
	struct refill_cell cells[sizeof(grid->w) / sizeof(*grid->w) * PATTERNS];
	unsigned int n;
	size_t i;

	sweep->cells = known_cells(model, grid, cells);
	sweep->percent = 0;
	for (i = 0; i < COMPILE_SIZES; i++)
		sweep->percent += compile_percent[i];

	sweep->page[0] = (struct tally){ 0 };
	sweep->full[COST_CLAMP] = (struct tally){ 0 };
	for (n = 1; n <= COST_CLAMP; n++) {
		double page = cost_page(model, n);
		double full_empty = cost_full(model, n, 0, PATTERN_SEQ);
		struct tally *paged = &sweep->page[n];
		struct tally *flushed = &sweep->full[n - 1];

		*paged = sweep->page[n - 1];
		*flushed = (struct tally){ 0 };
		for (i = 0; i < sweep->cells; i++) {
			double full = full_empty + cells[i].step;
			double regret = fabs(page - full) /
					fmax(fmin(page, full), CHOICE_FLOOR_NS);

			/* Only the dearer of the two ways can be regretted. */
			add_cell(page > full ? paged : flushed, n, &cells[i],
				 regret);
		}
	}
	for (n = COST_CLAMP; n-- > 0;)
		add(&sweep->full[n], &sweep->full[n + 1]);
}

static struct regret unknown_regret(void)
{
	return (struct regret){ .worst = NAN, .mean = NAN, .compile = NAN };
}

static struct regret sweep_regret(const struct sweep *sweep,
				  unsigned int ceiling)
{
	struct tally all = sweep->page[ceiling];

	if (sweep->cells == 0)
		return unknown_regret();
	add(&all, &sweep->full[ceiling]);
	return (struct regret){
		.worst = all.worst,
		.mean = all.sum / (double)(sweep->cells * COST_CLAMP),
		.compile =
			all.compile / ((double)sweep->cells * sweep->percent),
		.worst_n = all.n,
		.worst_w = all.w,
		.worst_pattern = all.pattern,
	};
}

/* The objective: less regret in the worst case, and then on average. */
static bool better(const struct regret *regret, const struct regret *than)
{
	if (isnan(than->worst))
		return !isnan(regret->worst);
	return regret->worst < than->worst ||
	       (regret->worst == than->worst && regret->mean < than->mean);
}

struct choice_grid choice_grid(unsigned int entries)
{
	const unsigned int fixed[] = { 0, 16, 64, 256, 1024 };
	unsigned int half = entries / 2;
	struct choice_grid grid = { 0 };
	size_t i;

	for (i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		if (half < fixed[i] &&
		    (grid.n_sets == 0 || half > grid.w[grid.n_sets - 1]))
			grid.w[grid.n_sets++] = half;
		grid.w[grid.n_sets++] = fixed[i];
	}
	if (half > grid.w[grid.n_sets - 1])
		grid.w[grid.n_sets++] = half;
	return grid;
}

struct regret choice_regret(const struct cost_model *model,
			    const struct choice_grid *grid,
			    unsigned int ceiling)
{
	struct sweep sweep;

	sweep_make(&sweep, model, grid);
	return sweep_regret(&sweep,
			    ceiling < COST_CLAMP ? ceiling : COST_CLAMP);
}

struct choice choice_make(const struct cost_model *model,
			  const struct choice_grid *grid, unsigned int entries)
{
	struct choice choice = {
		.factor = COST_FACTOR_STOCK,
		.regret = unknown_regret(),
		.best_regret = unknown_regret(),
	};
	struct sweep sweep;
	unsigned int pages;
	int factor;

	sweep_make(&sweep, model, grid);
	for (pages = 0; pages <= COST_CLAMP; pages++) {
		struct regret regret = sweep_regret(&sweep, pages);

		if (better(&regret, &choice.best_regret)) {
			choice.best_pages = pages;
			choice.best_regret = regret;
		}
	}
	if (entries == 0)
		return choice;
	for (factor = COST_FACTOR_MIN; factor <= COST_FACTOR_MAX; factor++) {
		struct regret regret;

		pages = cost_ceiling(factor, entries);
		regret = sweep_regret(&sweep, pages);
		if (better(&regret, &choice.regret)) {
			choice.factor = factor;
			choice.pages = pages;
			choice.regret = regret;
		}
	}
	return choice;
}

double choice_extrapolated(const struct cost_model *model,
			   const struct choice_grid *grid,
			   unsigned int ceiling_in_force)
{
	unsigned int n, beyond = 0;
	size_t total = grid->n_sets * COST_CLAMP, count = 0, i;

	for (n = 1; n <= COST_CLAMP; n++)
		beyond += n > ceiling_in_force;
	for (i = 0; i < grid->n_sets; i++) {
		bool above = false;

		cost_step(model, grid->w[i], PATTERN_SEQ, &above);
		count += above ? COST_CLAMP : beyond;
	}
	return total ? (double)count / (double)total : NAN;
}
