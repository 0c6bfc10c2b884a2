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

const char *const objective_name[] = {
	[OBJECTIVE_MINIMAX] = "minimax",
	[OBJECTIVE_LATENCY] = "latency",
	[OBJECTIVE_THROUGHPUT] = "throughput",
};

#define COMPILE_SIZES (sizeof(compile_percent) / sizeof(*compile_percent))

/* The regrets of a set of cells. */
struct tally {
	double worst;
	unsigned int n, w; /* of the first cell with the worst */
	enum pattern pattern;
	double sum;
	double lost_ns; /* not relative */
	double compile; /* sum weighted with compile_percent */
};

/*
 * The two halves of a policy, as tallies that share the boundary between them:
 * page[c] over the flushes of 1 .. c pages, each page by page, and full[c] over
 * those of c + 1 .. COST_CLAMP, each full. So any ceiling is two look-ups.
 */
struct sweep {
	struct tally page[COST_CLAMP + 1], full[COST_CLAMP + 1];
	size_t cells;	/* known ones per n, of all models */
	double best_ns; /* sum of the cheaper way's costs */
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
	tally->lost_ns += more->lost_ns;
	tally->compile += more->compile;
}

/*
 * The same, where more may hold smaller sizes: of equal worst cases the one of
 * the smallest n is kept.
 */
static void accumulate(struct tally *tally, const struct tally *more,
		       bool larger)
{
	struct tally all = larger ? *tally : *more;

	add(&all, larger ? more : tally);
	*tally = all;
}

static void add_cell(struct tally *tally, unsigned int n,
		     const struct refill_cell *cell, double regret,
		     double lost_ns)
{
	struct tally one = {
		.worst = regret,
		.n = n,
		.w = cell->w,
		.pattern = cell->pattern,
		.sum = regret,
		.lost_ns = lost_ns,
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

/* Add flushes of n pages on one model: to the way that is regretted. */
static void sweep_size(struct sweep *sweep, const struct cost_model *model,
		       unsigned int n, const struct refill_cell *cells,
		       size_t n_cells)
{
	double page = cost_page(model, n);
	double full_empty = cost_full(model, n, 0, PATTERN_SEQ);
	size_t i;

	for (i = 0; i < n_cells; i++) {
		double full = full_empty + cells[i].step;
		double lost_ns = fabs(page - full);
		double best_ns = fmax(fmin(page, full), CHOICE_FLOOR_NS);

		/* Only the dearer of the two ways can be regretted. */
		add_cell(page > full ? &sweep->page[n] : &sweep->full[n - 1], n,
			 &cells[i], lost_ns / best_ns, lost_ns);
		sweep->best_ns += best_ns;
	}
}

/* The cells of one model after those of others. */
static void sweep_model(struct sweep *sweep, const struct cost_model *model,
			const struct choice_grid *grid)
{
	struct refill_cell cells[sizeof(grid->w) / sizeof(*grid->w) * PATTERNS];
	size_t n_cells = known_cells(model, grid, cells);
	unsigned int n;

	for (n = 1; n <= COST_CLAMP; n++)
		sweep_size(sweep, model, n, cells, n_cells);
	sweep->cells += n_cells;
}

static void sweep_make(struct sweep *sweep, const struct cost_model *model,
		       const struct choice_grid *grid)
{
	unsigned int n;
	size_t i;

	*sweep = (struct sweep){ 0 };
	for (i = 0; i < COMPILE_SIZES; i++)
		sweep->percent += compile_percent[i];
	for (; model; model = model->next)
		sweep_model(sweep, model, grid);
	for (n = 1; n <= COST_CLAMP; n++)
		accumulate(&sweep->page[n], &sweep->page[n - 1], false);
	for (n = COST_CLAMP; n-- > 0;)
		accumulate(&sweep->full[n], &sweep->full[n + 1], true);
}

static struct regret unknown_regret(void)
{
	return (struct regret){
		.worst = NAN, .mean = NAN, .total = NAN, .compile = NAN
	};
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
		.total = all.lost_ns / sweep->best_ns,
		.compile =
			all.compile / ((double)sweep->cells * sweep->percent),
		.worst_n = all.n,
		.worst_w = all.w,
		.worst_pattern = all.pattern,
	};
}

/* What the objective minimises, and what decides between equals. */
static double first(const struct regret *regret, enum objective objective)
{
	switch (objective) {
	case OBJECTIVE_LATENCY:
		return regret->mean;
	case OBJECTIVE_THROUGHPUT:
		return regret->total;
	default:
		return regret->worst;
	}
}

static double second(const struct regret *regret, enum objective objective)
{
	return objective == OBJECTIVE_MINIMAX ? regret->mean : regret->worst;
}

static bool better(const struct regret *regret, const struct regret *than,
		   enum objective objective)
{
	double x = first(regret, objective), y = first(than, objective);

	if (isnan(y))
		return !isnan(x);
	return x < y ||
	       (x == y && second(regret, objective) < second(than, objective));
}

double choice_gain(const struct regret *from, const struct regret *to,
		   enum objective objective)
{
	return (1 + first(from, objective)) / (1 + first(to, objective)) - 1;
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

		if (better(&regret, &choice.best_regret, grid->objective)) {
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
		if (better(&regret, &choice.regret, grid->objective)) {
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
