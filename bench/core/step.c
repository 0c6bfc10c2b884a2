/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step: find the ceiling in force as the change point of T(n) (estimate.h).
 *
 * For each candidate C one straight line is fitted up to C and another above
 * it, by least squares through one value per n, weighted by what is expected of
 * the noise. The best candidate is a step if it explains T(n) far better than
 * one smooth curve does, and if a kernel could do what it says.
 *
 * Whether there is a step is decided from the medians over the blocks. Where it
 * is, from the blocks, each with lines of its own, if each holds all n: so what
 * differs from block to block, or drifts, is no noise.
 *
 * Where c_i*C - c_f is about 0 there is no jump, only a bend, and C cannot be
 * told from its neighbour: both lines pass through the point between them. It
 * makes no difference to any cost.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_multifit.h>

#include "estimate.h"

/* Distinct n that are needed to tell a step from a curve. */
#define SIZES_MIN 8

/*
 * What a point's standard error is taken to be, as a share of its time: that of
 * a single operation on a quiet machine (2 to 3 % were measured on two), less
 * with more samples, down to what is no noise but no straight line either. The
 * residuals of the fit raise it if they are larger.
 */
#define NOISE_ONE 0.03
#define NOISE_FLOOR 0.003

/*
 * Squared standard errors that the best of all candidates must explain beyond
 * the curve. The parameters of a step and some 50 candidates reach this by
 * chance less than once in a few hundred times. (Beyond a straight line only,
 * where the re-access has shown already that there is a step.)
 */
#define GAIN_MIN 20

/* ... and that one parameter more must explain, in all and in each block. */
#define GAIN_PARAMETER 10
#define GAIN_PARAMETER_ROW 0.5

/*
 * A step at the first or last n measured rests on one point (or two, through
 * which any line passes), which may be odd for reasons of its own: the share of
 * T by which it must be off the line of the others. (The first page was seen to
 * take 5 % less than further ones.) At the last ones n*c_i is missing, most of
 * T.
 */
#define FIRST_MIN 0.05
#define LAST_MIN 0.2

/*
 * INVLPG was measured to take 75 to 85 % of what a page adds to T(n) up to the
 * ceiling. A bend by less than this is no step.
 */
#define SHARE_MIN 0.33

/*
 * Changing a PTE was measured to take 1 to 2 % of what an operation takes
 * without any page (a), INVLPG 4 to 10 %. A steeper T(n) than this has INVLPG.
 */
#define SLOPE_WITHOUT_INVLPG 0.03

/*
 * After a flush a working set counts as cold if the pass over it takes so much
 * longer than a warm one, as warm if less, either by a margin of so many
 * standard errors of the difference. (Full flushes were seen to add 100 to
 * 300 %, INVLPG that spares the TLB a few %.)
 */
#define COLD_MIN 0.25
#define COLD_MARGIN 3

/* What is known of one n. Only doubles: GSL takes them with a stride. */
struct size {
	double n;
	double ns;
	double weight; /* 1 / variance of ns */
};

#define STRIDE (sizeof(struct size) / sizeof(double))

/* ns = at_0 + slope * n, and what it leaves. */
struct line {
	double at_0, slope;
	double slope_variance;
	double chi2;
	unsigned int parameters;
};

static double line_at(const struct line *line, double n)
{
	return line->at_0 + line->slope * n;
}

/* A single point has no slope. */
static struct line line_fit(const struct size *sizes, size_t n)
{
	struct line line = { .at_0 = sizes[0].ns, .parameters = 1 };
	double cov[3];

	if (n == 1)
		return line;
	line.parameters = 2;
	gsl_fit_wlinear(&sizes->n, STRIDE, &sizes->weight, STRIDE, &sizes->ns,
			STRIDE, n, &line.at_0, &line.slope, &cov[0], &cov[1],
			&cov[2], &line.chi2);
	line.slope_variance = cov[2];
	return line;
}

/*
 * chi-squared of one smooth curve, 1 + n + n ln n + 1/n: bent at either end, as
 * T(n) was seen to be. NAN with ENOMEM.
 */
static double curve_chi2(const struct size *sizes, size_t n)
{
	const size_t terms = 4;
	gsl_multifit_linear_workspace *work;
	gsl_matrix *x = gsl_matrix_alloc(n, terms);
	gsl_matrix *cov = gsl_matrix_alloc(terms, terms);
	gsl_vector *c = gsl_vector_alloc(terms);
	double chi2 = NAN;
	size_t i;

	work = gsl_multifit_linear_alloc(n, terms);
	if (!x || !cov || !c || !work) {
		errno = ENOMEM;
		goto out;
	}
	gsl_vector_const_view weight = gsl_vector_const_view_array_with_stride(
		&sizes->weight, STRIDE, n);
	gsl_vector_const_view ns =
		gsl_vector_const_view_array_with_stride(&sizes->ns, STRIDE, n);
	for (i = 0; i < n; i++) {
		gsl_matrix_set(x, i, 0, 1);
		gsl_matrix_set(x, i, 1, sizes[i].n);
		gsl_matrix_set(x, i, 2, sizes[i].n * log(sizes[i].n));
		gsl_matrix_set(x, i, 3, 1 / sizes[i].n);
	}
	gsl_multifit_wlinear(x, &weight.vector, &ns.vector, c, cov, &chi2,
			     work);
out:
	gsl_multifit_linear_free(work);
	gsl_vector_free(c);
	gsl_matrix_free(cov);
	gsl_matrix_free(x);
	return chi2;
}

/* A step between sizes[i] and sizes[i + 1]. */
struct candidate {
	size_t i;
	struct line page, full;
	double chi2;
	unsigned int parameters;
	double height_ns; /* c_i*C - c_f */
};

static struct candidate candidate_fit(const struct size *sizes, size_t n,
				      size_t i)
{
	struct candidate fit = {
		.i = i,
		.page = line_fit(sizes, i + 1),
		.full = line_fit(sizes + i + 1, n - i - 1),
	};
	/* where both lines are known */
	double at = sizes[fit.full.parameters > 1 ? i : i + 1].n;

	fit.chi2 = fit.page.chi2 + fit.full.chi2;
	fit.parameters = fit.page.parameters + fit.full.parameters;
	fit.height_ns = line_at(&fit.page, at) - line_at(&fit.full, at);
	return fit;
}

/*
 * Whether a kernel could do this: jump if it is at an end, bend down by c_i, as
 * far as the slopes are known, if it is not. sure: it has a ceiling.
 */
static bool plausible(const struct candidate *fit, const struct size *sizes,
		      size_t n, bool sure)
{
	const struct line *page = &fit->page, *full = &fit->full;
	double first = line_at(full, sizes[0].n) / sizes[0].ns - 1;
	double error = sqrt(page->slope_variance + full->slope_variance);

	if (fit->i < 2 && fabs(first) < FIRST_MIN && !sure)
		return false;
	if (fit->i == 0)
		return true;
	if (fit->i + 3 >= n)
		return fit->height_ns >= LAST_MIN * sizes[fit->i].ns;
	return page->slope - full->slope + 2 * error >= SHARE_MIN * page->slope;
}

/*
 * One value for each n: in each block, if all hold all n, or in one row for all
 * of them together.
 */
struct table {
	size_t n; /* distinct n, ascending */
	size_t rows;
	struct size *sizes; /* [rows][n] */
	double *variance;   /* [rows] in units of what was expected, >= 1 */
};

static const struct size *table_row(const struct table *table, size_t row)
{
	return table->sizes + row * table->n;
}

static void table_close(struct table *table)
{
	free(table->sizes);
	free(table->variance);
}

/* 0, or -1 with ENOMEM; to be closed in either case. */
static int table_open(struct table *table, size_t rows, size_t n)
{
	*table = (struct table){
		.n = n,
		.rows = rows,
		.sizes = calloc(rows * n + 1, sizeof(*table->sizes)),
		.variance = calloc(rows + 1, sizeof(*table->variance)),
	};
	return table->sizes && table->variance ? 0 : -1;
}

/* The variance about the best candidate of each row. */
static void table_vary(struct table *table)
{
	size_t row, i;

	for (row = 0; row < table->rows; row++) {
		double least = INFINITY;

		for (i = 0; i + 1 < table->n; i++) {
			struct candidate fit = candidate_fit(
				table_row(table, row), table->n, i);

			least = fmin(
				least,
				fit.chi2 / (double)(table->n - fit.parameters));
		}
		table->variance[row] = fmax(least, 1);
	}
}

/* What candidate i leaves unexplained, with a charge for its parameters. */
static double table_cost(const struct table *table, size_t i)
{
	const double charge =
		GAIN_PARAMETER_ROW + GAIN_PARAMETER / (double)table->rows;
	double cost = 0;
	size_t row;

	for (row = 0; row < table->rows; row++) {
		struct candidate fit =
			candidate_fit(table_row(table, row), table->n, i);

		cost += fit.chi2 / table->variance[row] +
			charge * fit.parameters;
	}
	return cost;
}

/* The best candidate that the medians find plausible; medians->n: none is. */
static size_t best_candidate(const struct table *table,
			     const struct table *medians, bool sure)
{
	const struct size *sizes = medians->sizes;
	double best_cost = INFINITY;
	size_t i, best = medians->n;

	for (i = 0; i + 1 < table->n; i++) {
		struct candidate fit = candidate_fit(sizes, medians->n, i);
		double cost;

		if (!plausible(&fit, sizes, medians->n, sure))
			continue;
		cost = table_cost(table, i);
		if (cost < best_cost) {
			best = i;
			best_cost = cost;
		}
	}
	return best;
}

/*
 * A candidate that is not plausible explains the medians so much better than
 * the best plausible one that something else than a ceiling bends T(n), or
 * INVLPG is cheap against what both ways pay. Then no ceiling is claimed.
 */
static bool outdone(const struct table *medians, size_t best)
{
	double cost = table_cost(medians, best);
	size_t i;

	for (i = 0; i + 1 < medians->n; i++)
		if (table_cost(medians, i) < cost - GAIN_MIN)
			return true;
	return false;
}

/* Fill *out if there is a step. 0, or -1 with ENOMEM. */
static int find_step(const struct table *medians, const struct table *blocks,
		     bool sure, struct step *out)
{
	const struct size *sizes = medians->sizes;
	const size_t n = medians->n;
	struct candidate fit;
	double without, gain;
	size_t best;

	without = sure ? line_fit(sizes, n).chi2 : curve_chi2(sizes, n);
	if (isnan(without))
		return -1;
	best = best_candidate(medians, medians, sure);
	if (best == n)
		return 0;
	fit = candidate_fit(sizes, n, best);
	gain = (without - fit.chi2) / medians->variance[0];
	if (gain < GAIN_MIN || outdone(medians, best))
		return 0;
	if (blocks->rows) {
		size_t within = best_candidate(blocks, medians, sure);

		/* None where a foreign file has absurd times in it. */
		if (within < n)
			best = within;
		fit = candidate_fit(sizes, n, best);
	}
	*out = (struct step){
		.kind = STEP_FOUND,
		.ceiling = (unsigned int)sizes[best].n,
		.below = (unsigned int)sizes[best].n,
		.above = (unsigned int)sizes[best + 1].n,
		.height_ns = fit.height_ns,
		.confidence = sqrt(gain),
	};
	return 0;
}

enum warmth { WARMTH_UNKNOWN, WARMTH_WARM, WARMTH_COLD };

static enum warmth warmth_of(const struct reaccess *reaccess, double after_ns)
{
	double share = after_ns / reaccess->warm_ns - 1;
	double margin =
		COLD_MARGIN * sqrt(2) * reaccess->noise_ns / reaccess->warm_ns;

	/* NAN is neither. */
	if (share - margin > COLD_MIN)
		return WARMTH_COLD;
	if (share + margin < COLD_MIN)
		return WARMTH_WARM;
	return WARMTH_UNKNOWN;
}

/* What a kernel without a step does. */
static enum step_kind kind_without_step(enum warmth small, enum warmth large,
					const struct line *all)
{
	if (small == WARMTH_WARM && large == WARMTH_WARM)
		return STEP_ALL_PAGE;
	if (small == WARMTH_COLD && large == WARMTH_COLD &&
	    all->slope <= SLOPE_WITHOUT_INVLPG * all->at_0)
		return STEP_ALL_FULL;
	return STEP_NONE;
}

static int by_n(const void *left, const void *right)
{
	const struct op_point *l = left, *r = right;

	return (l->n > r->n) - (l->n < r->n);
}

static int by_block_and_n(const void *left, const void *right)
{
	const struct op_point *l = left, *r = right;

	if (l->block != r->block)
		return l->block < r->block ? -1 : 1;
	return by_n(left, right);
}

/* A value at n; of rows like it what is no noise is in all of them. */
static struct size size_of(unsigned int n, double ns, double samples,
			   size_t rows)
{
	double variance = NOISE_ONE * NOISE_ONE / samples +
			  NOISE_FLOOR * NOISE_FLOOR * (double)rows;

	return (struct size){ .n = n,
			      .ns = ns,
			      .weight = 1 / (ns * ns * variance) };
}

/* The medians over the blocks, of points[n] sorted by n. 0 or -1. */
static int table_of_medians(struct table *table, const struct op_point *points,
			    size_t n)
{
	double *work = calloc(n + 1, sizeof(*work));
	size_t i, from;

	if (table_open(table, 1, n) < 0 || !work) {
		free(work);
		return -1;
	}
	table->n = 0;
	for (from = 0; from < n; from = i) {
		double samples = 0;

		for (i = from; i < n && points[i].n == points[from].n; i++) {
			work[i - from] = points[i].ns;
			samples += points[i].count;
		}
		table->sizes[table->n++] = size_of(points[from].n,
						   stats_median(work, i - from),
						   samples, 1);
	}
	free(work);
	return 0;
}

/*
 * One row for each block, of points[n] sorted by block and n, or no row if some
 * block lacks an n of the medians or has it twice. 0 or -1.
 */
static int table_of_blocks(struct table *table, const struct op_point *points,
			   size_t n, const struct table *medians)
{
	size_t i, rows = n / medians->n;

	if (table_open(table, rows, medians->n) < 0)
		return -1;
	for (i = 0; i < rows * medians->n; i++) {
		const struct op_point *p = &points[i];

		if (p->n != medians->sizes[i % medians->n].n ||
		    p->block != points[i - i % medians->n].block)
			break;
		table->sizes[i] = size_of(p->n, p->ns, p->count, rows);
	}
	if (i < n)
		table->rows = 0;
	return 0;
}

int estimate_step(const struct op_point *points, size_t n_points,
		  const struct reaccess *reaccess, struct step *out)
{
	enum warmth small = WARMTH_UNKNOWN, large = WARMTH_UNKNOWN;
	/* off for the time of the fits, as in estimate_fit */
	gsl_error_handler_t *handler = gsl_set_error_handler_off();
	struct op_point *known = calloc(n_points + 1, sizeof(*known));
	struct table medians = { 0 }, blocks = { 0 };
	struct line all;
	size_t i, n = 0;
	int ret = -1;

	*out = (struct step){ .kind = STEP_NONE };
	if (!known)
		goto out;
	for (i = 0; i < n_points; i++)
		if (op_point_known(&points[i]))
			known[n++] = points[i];
	qsort(known, n, sizeof(*known), by_n);
	if (table_of_medians(&medians, known, n) < 0)
		goto out;
	if (medians.n < SIZES_MIN) {
		errno = EINVAL;
		goto out;
	}
	qsort(known, n, sizeof(*known), by_block_and_n);
	if (table_of_blocks(&blocks, known, n, &medians) < 0)
		goto out;
	table_vary(&medians);
	table_vary(&blocks);

	if (reaccess) {
		small = warmth_of(reaccess, reaccess->small_ns);
		large = warmth_of(reaccess, reaccess->large_ns);
	}
	ret = find_step(&medians, &blocks,
			small == WARMTH_WARM && large == WARMTH_COLD, out);
	if (ret == 0 && out->kind != STEP_FOUND) {
		all = line_fit(medians.sizes, medians.n);
		out->kind = kind_without_step(small, large, &all);
	}
out:
	table_close(&medians);
	table_close(&blocks);
	free(known);
	gsl_set_error_handler(handler);
	return ret;
}
