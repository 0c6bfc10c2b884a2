/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate: fit the costs block by block, and say how sure they are.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "estimate.h"
#include "series.h"

/* Distinct n that a line needs in a block; blocks that an interval needs. */
#define SIZES_MIN 4
#define BLOCKS_MIN SERIES_MIN

/* Samples further than this many scaled MADs from the median are outliers. */
#define OUTLIER_MADS 3

/*
 * A page-by-page flush empties the TLB if the pass after it takes this share of
 * the time that one after a full flush takes on top of a warm one; the latter
 * must be seen at all, as at least this share of the warm pass.
 */
#define EMPTIED_SHARE 0.75
#define EXCESS_MIN 0.05
#define EXCESS_POINTS 0.75 /* share of the points that must see it */

double estimate_typical(const double *ns, size_t n)
{
	double *work;
	double median, reach, sum = 0;
	size_t i, kept = 0;

	if (n == 0)
		return NAN;
	work = calloc(n, sizeof(*work));
	if (!work)
		return NAN;
	memcpy(work, ns, n * sizeof(*work));
	median = gsl_stats_median(work, 1, n);
	reach = OUTLIER_MADS * gsl_stats_mad(ns, 1, n, work);
	free(work);
	/* A clock that steps may say the same more often than not. */
	if (reach == 0)
		return stats_midmean(ns, n);
	for (i = 0; i < n; i++) {
		if (fabs(ns[i] - median) > reach)
			continue;
		sum += ns[i];
		kept++;
	}
	return sum / (double)kept;
}

/* ns = at_0 + slope * n */
struct line {
	double at_0, slope;
};

static const struct line no_line = { NAN, NAN };

/* The points on one side of the ceiling. */
struct side {
	struct op_point *points; /* sorted by block */
	size_t n_points;
	size_t next; /* the first point of the block that is up next */

	/* what all blocks together suggest, to scale by */
	struct line expected;
	double floor_ns; /* a point is taken to be at least this */
	double n_max;
};

static int by_block_and_n(const void *left, const void *right)
{
	const struct op_point *l = left, *r = right;

	if (l->block != r->block)
		return l->block < r->block ? -1 : 1;
	return (l->n > r->n) - (l->n < r->n);
}

/* Find what the points of all blocks together suggest. 0 or -1 with errno. */
static int side_expect(struct side *side)
{
	double *n, *ns, cov[3], sumsq;
	size_t i, count = side->n_points;

	side->expected = no_line;
	if (count < SIZES_MIN)
		return 0;
	n = calloc(count, 2 * sizeof(*n));
	if (!n)
		return -1;
	ns = n + count;
	for (i = 0; i < count; i++) {
		n[i] = side->points[i].n;
		ns[i] = side->points[i].ns;
	}
	gsl_fit_linear(n, 1, ns, 1, count, &side->expected.at_0,
		       &side->expected.slope, &cov[0], &cov[1], &cov[2],
		       &sumsq);
	side->floor_ns = 0.1 * gsl_stats_mean(ns, 1, count);
	side->n_max = gsl_stats_max(n, 1, count);
	free(n);
	return 0;
}

/* Take the known points of n above, or up to, the ceiling. 0 or -1. */
static int side_open(struct side *side, const struct op_point *points,
		     size_t n_points, unsigned int ceiling, bool above)
{
	size_t i;

	*side = (struct side){ 0 };
	side->points = calloc(n_points + 1, sizeof(*side->points));
	if (!side->points)
		return -1;
	for (i = 0; i < n_points; i++)
		if ((points[i].n > ceiling) == above &&
		    op_point_known(&points[i]))
			side->points[side->n_points++] = points[i];
	qsort(side->points, side->n_points, sizeof(*side->points),
	      by_block_and_n);
	return side_expect(side);
}

/*
 * Robust regression of points[n], all of one block. The noise of an operation
 * grows with the time it takes and falls with the samples behind a point: rows
 * are weighted so that it is alike in all. n is scaled to 0..1 for the
 * condition of the matrix. Returns 0, with no_line where it does not converge,
 * or -1 with ENOMEM.
 */
static int line_fit(const struct side *side, const struct op_point *points,
		    size_t n, const gsl_multifit_robust_type *type,
		    struct line *line)
{
	gsl_multifit_robust_workspace *work;
	gsl_matrix *x = gsl_matrix_alloc(n, 2);
	gsl_matrix *cov = gsl_matrix_alloc(2, 2);
	gsl_vector *y = gsl_vector_alloc(n);
	gsl_vector *c = gsl_vector_alloc(2);
	int ret = -1;
	size_t i;

	*line = no_line;
	work = gsl_multifit_robust_alloc(type, n, 2);
	if (!x || !cov || !y || !c || !work) {
		errno = ENOMEM;
		goto out;
	}
	for (i = 0; i < n; i++) {
		double ns = side->expected.at_0 +
			    side->expected.slope * points[i].n;
		double weight =
			sqrt(points[i].count) / fmax(ns, side->floor_ns);

		gsl_matrix_set(x, i, 0, weight);
		gsl_matrix_set(x, i, 1, weight * points[i].n / side->n_max);
		gsl_vector_set(y, i, weight * points[i].ns);
	}
	if (gsl_multifit_robust(x, y, c, cov, work) == GSL_SUCCESS) {
		line->at_0 = gsl_vector_get(c, 0);
		line->slope = gsl_vector_get(c, 1) / side->n_max;
	}
	ret = 0;
out:
	if (work)
		gsl_multifit_robust_free(work);
	gsl_vector_free(c);
	gsl_vector_free(y);
	gsl_matrix_free(cov);
	gsl_matrix_free(x);
	return ret;
}

static bool is_line(const struct line *line)
{
	return isfinite(line->at_0) && isfinite(line->slope);
}

/*
 * The line of the block, which must come after the one asked for last; no_line
 * where the points do not determine one. 0, or -1 with ENOMEM.
 */
static int side_line(struct side *side, unsigned int block, struct line *line)
{
	const struct op_point *points = side->points + side->next;
	size_t n = 0, sizes = 0;

	*line = no_line;
	while (side->next < side->n_points &&
	       side->points[side->next].block == block) {
		sizes += n == 0 || points[n].n != points[n - 1].n;
		n++;
		side->next++;
	}
	if (sizes < SIZES_MIN)
		return 0;
	/* Bisquare weights forget outliers, but only Huber's must converge. */
	if (line_fit(side, points, n, gsl_multifit_robust_bisquare, line) < 0)
		return -1;
	if (is_line(line))
		return 0;
	return line_fit(side, points, n, gsl_multifit_robust_huber, line);
}

/* The next block that one of the sides has points of; false at the end. */
static bool next_block(const struct side *left, const struct side *right,
		       unsigned int *block)
{
	bool more_left = left->next < left->n_points;
	bool more_right = right->next < right->n_points;

	if (more_left)
		*block = left->points[left->next].block;
	if (more_right &&
	    (!more_left || right->points[right->next].block < *block))
		*block = right->points[right->next].block;
	return more_left || more_right;
}

/* Fit every block. 0 or -1 with errno. */
static int fit_blocks(struct fit *fit, struct side *page, struct side *full)
{
	struct line l, r;
	unsigned int block;

	fit->blocks = calloc(page->n_points + full->n_points + 1,
			     sizeof(*fit->blocks));
	if (!fit->blocks)
		return -1;
	while (next_block(page, full, &block)) {
		if (side_line(page, block, &l) < 0 ||
		    side_line(full, block, &r) < 0)
			return -1;
		fit->blocks[fit->n_blocks++] = (struct block_fit){
			.block = block,
			.a = l.at_0,
			.b = r.slope,
			.c_i = l.slope - r.slope,
			.c_f = r.at_0 - l.at_0,
		};
	}
	return 0;
}

/*
 * Two levels are real if they lie this many standard deviations (of the blocks
 * about their level) and this share of the lower one apart. The halves of a
 * normal sample lie 2.7 apart, those of a steady drift 3.5.
 */
#define REGIME_SPREADS 5
#define REGIME_SHARE 0.05
/* Blocks in each level at least, and in all. */
#define REGIME_BLOCKS 2
#define REGIME_BLOCKS_ALL 8
/* ... and if they leave so many times less variance than a smooth drift. */
#define REGIME_GAIN 2

struct levels {
	double low, high; /* medians */
	double variance;  /* about their means */
};

/* Split sorted x[n] so that the least variance is left within the levels. */
static struct levels levels_split(const double *x, size_t n)
{
	struct levels best = { NAN, NAN, INFINITY };
	size_t k;

	for (k = REGIME_BLOCKS; k + REGIME_BLOCKS <= n; k++) {
		double variance = (gsl_stats_tss(x, 1, k) +
				   gsl_stats_tss(x + k, 1, n - k)) /
				  (double)(n - 2);

		if (!(variance < best.variance))
			continue;
		best = (struct levels){
			.low = gsl_stats_median_from_sorted_data(x, 1, k),
			.high = gsl_stats_median_from_sorted_data(x + k, 1,
								  n - k),
			.variance = variance,
		};
	}
	return best;
}

/* Find two levels, or none. 0 or -1 with ENOMEM. */
static int regimes_find(const struct series *s, struct regimes *out)
{
	struct levels levels;
	double *sorted;
	double apart, mean;

	*out = (struct regimes){ false, NAN, NAN, NAN };
	if (s->n < REGIME_BLOCKS_ALL)
		return 0;
	sorted = calloc(s->n, sizeof(*sorted));
	if (!sorted)
		return -1;
	memcpy(sorted, s->x, s->n * sizeof(*sorted));
	gsl_sort(sorted, 1, s->n);
	levels = levels_split(sorted, s->n);
	free(sorted);

	apart = levels.high - levels.low;
	if (apart < REGIME_SPREADS * sqrt(levels.variance) ||
	    apart <= REGIME_SHARE * fabs(levels.low) ||
	    series_variance(s) < REGIME_GAIN * levels.variance)
		return 0;
	mean = gsl_stats_mean(s->x, 1, s->n);
	*out = (struct regimes){
		.found = true,
		.low = levels.low,
		.high = levels.high,
		.high_share = fmin(fmax((mean - levels.low) / apart, 0), 1),
	};
	return 0;
}

/* The costs over the run from those of its blocks. 0 or -1 with ENOMEM. */
static int combine_blocks(struct fit *fit)
{
	enum { A, B, C_I, C_F, COUNT };
	struct series s[COUNT];
	size_t i;
	int ret = -1;

	if (series_open(s, COUNT, fit->n_blocks) < 0)
		return -1;
	for (i = 0; i < fit->n_blocks; i++) {
		series_add(&s[A], fit->blocks[i].a);
		series_add(&s[B], fit->blocks[i].b);
		series_add(&s[C_I], fit->blocks[i].c_i);
		series_add(&s[C_F], fit->blocks[i].c_f);
	}
	for (i = 0; i < COUNT; i++)
		if (series_detrend(&s[i]) < 0)
			goto out;
	fit->a = series_mean(&s[A]);
	fit->b = series_mean(&s[B]);
	fit->c_i = series_mean(&s[C_I]);
	fit->c_f = series_mean(&s[C_F]);
	fit->drift = series_drift(&s[C_I]);
	ret = regimes_find(&s[C_I], &fit->regimes);
out:
	series_close(s, COUNT);
	return ret;
}

/*
 * GSL's error handler is a global of the process and aborts by default; what
 * GSL reports is dealt with here, so it is off for the time of a fit.
 */
int estimate_fit(const struct op_point *points, size_t n_points,
		 const struct step *step, struct fit *out)
{
	gsl_error_handler_t *handler = gsl_set_error_handler_off();
	struct side page = { 0 }, full = { 0 };
	int ret = -1;

	*out = (struct fit){ .step = *step };
	if (step->kind != STEP_FOUND) {
		errno = EINVAL;
		goto out;
	}
	if (side_open(&page, points, n_points, step->ceiling, false) < 0 ||
	    side_open(&full, points, n_points, step->ceiling, true) < 0 ||
	    fit_blocks(out, &page, &full) < 0)
		goto out;
	if (out->n_blocks < BLOCKS_MIN) {
		errno = EINVAL;
		goto out;
	}
	ret = combine_blocks(out);
out:
	free(page.points);
	free(full.points);
	if (ret < 0)
		estimate_fit_free(out);
	gsl_set_error_handler(handler);
	return ret;
}

void estimate_fit_free(struct fit *fit)
{
	free(fit->blocks);
	fit->blocks = NULL;
	fit->n_blocks = 0;
}

/*
 * The points of one working set and pattern in one block, combined by their
 * pairs; NAN if there is none.
 */
static struct refill_point refill_of_block(const struct refill_point *points,
					   size_t n_points,
					   enum pattern pattern, unsigned int w,
					   unsigned int block)
{
	struct refill_point sum = { .block = block,
				    .pattern = pattern,
				    .w = w };
	double pairs;
	size_t i;

	for (i = 0; i < n_points; i++) {
		const struct refill_point *p = &points[i];

		if (p->block != block || p->pattern != pattern || p->w != w ||
		    p->count == 0)
			continue;
		sum.count += p->count;
		sum.warm_ns += p->count * p->warm_ns;
		sum.page_ns += p->count * p->page_ns;
		sum.full_ns += p->count * p->full_ns;
		sum.step_ns += p->count * p->step_ns;
	}
	pairs = sum.count ? sum.count : NAN;
	sum.warm_ns /= pairs;
	sum.page_ns /= pairs;
	sum.full_ns /= pairs;
	sum.step_ns /= pairs;
	return sum;
}

/* Average over the blocks of the fit. 0 or -1 with ENOMEM. */
static int combine_refill(const struct fit *fit,
			  const struct refill_point *points, size_t n_points,
			  struct refill *out)
{
	enum { WARM, REFILL, STEP, GAIN, COST, COUNT };
	struct series s[COUNT];
	size_t i;
	int ret = -1;

	if (series_open(s, COUNT, fit->n_blocks) < 0)
		return -1;
	for (i = 0; i < fit->n_blocks; i++) {
		const struct block_fit *block = &fit->blocks[i];
		struct refill_point p = refill_of_block(
			points, n_points, out->pattern, out->w, block->block);
		double gain = block->c_f + p.step_ns;

		out->block_step_ns[i] = p.step_ns;
		series_add(&s[WARM], p.warm_ns / out->w);
		series_add(&s[REFILL], (p.full_ns - p.warm_ns) / out->w);
		series_add(&s[STEP], p.step_ns / out->w);
		if (isfinite(gain) && isfinite(block->c_i)) {
			series_add(&s[GAIN], gain);
			series_add(&s[COST], block->c_i);
		}
	}
	for (i = 0; i < COUNT; i++)
		if (series_detrend(&s[i]) < 0)
			goto out;
	out->warm = series_mean(&s[WARM]);
	out->refill = series_mean(&s[REFILL]);
	out->step = series_mean(&s[STEP]);
	out->pages = series_ratio(&s[GAIN], &s[COST]);
	ret = 0;
out:
	series_close(s, COUNT);
	return ret;
}

/* Whether any block of the fit has a value. */
static bool any_step(const struct refill *refill)
{
	size_t i;

	for (i = 0; i < refill->n_blocks; i++)
		if (isfinite(refill->block_step_ns[i]))
			return true;
	return false;
}

int estimate_refill(const struct fit *fit, const struct refill_point *points,
		    size_t n_points, enum pattern pattern, unsigned int w,
		    struct refill *out)
{
	/* off for the time of the averaging, as in estimate_fit */
	gsl_error_handler_t *handler = gsl_set_error_handler_off();
	int ret = -1;

	*out = (struct refill){
		.pattern = pattern,
		.w = w,
		.n_blocks = fit->n_blocks,
		.block_step_ns = calloc(fit->n_blocks + 1, sizeof(double)),
	};
	if (!out->block_step_ns ||
	    combine_refill(fit, points, n_points, out) < 0)
		goto out;
	if (!any_step(out)) {
		errno = EINVAL;
		goto out;
	}
	ret = 0;
out:
	if (ret < 0)
		estimate_refill_free(out);
	gsl_set_error_handler(handler);
	return ret;
}

void estimate_refill_free(struct refill *refill)
{
	free(refill->block_step_ns);
	refill->block_step_ns = NULL;
	refill->n_blocks = 0;
}

bool estimate_page_flush_empties_tlb(const struct refill_point *points,
				     size_t n_points)
{
	struct series s[2], *page = &s[0], *full = &s[1];
	double median_page, median_full;
	size_t i, above = 0;

	if (series_open(s, 2, n_points) < 0)
		return false;
	/* Relative to the warm pass, so that every working set counts alike. */
	for (i = 0; i < n_points; i++) {
		const struct refill_point *p = &points[i];
		double after_page = p->page_ns / p->warm_ns - 1;
		double after_full = p->full_ns / p->warm_ns - 1;

		if (!isfinite(after_page) || !isfinite(after_full))
			continue;
		series_add(page, after_page);
		series_add(full, after_full);
		above += after_full > 0;
	}
	median_page = stats_median(page->x, page->n);
	median_full = stats_median(full->x, full->n);
	series_close(s, 2);
	return (double)above >= EXCESS_POINTS * (double)full->n &&
	       median_full >= EXCESS_MIN &&
	       median_page >= EMPTIED_SHARE * median_full;
}
