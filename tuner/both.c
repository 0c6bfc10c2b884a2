/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_fit.h>

#include "both.h"
#include "repeat.h"

#define MIN_BLOCKS 3
#define MIN_SIZES 4

const char *const both_verdict_name[] = {
	[BOTH_NONE] = "not measured",	[BOTH_AGREES] = "agrees",
	[BOTH_DISAGREES] = "disagrees", [BOTH_NO_EFFECT] = "no effect",
	[BOTH_ALONE] = "alone",
};

/* fitting --------------------------------------------------------------- */

/* Columns for the fits of one block. */
struct columns {
	double *n, *weight, *difference, *page, *full;
	size_t count;
};

static int columns_open(struct columns *columns, size_t size)
{
	double *all = calloc(5 * size + 1, sizeof(*all));

	if (!all)
		return -1;
	*columns = (struct columns){
		.n = all,
		.weight = all + size,
		.difference = all + 2 * size,
		.page = all + 3 * size,
		.full = all + 4 * size,
	};
	return 0;
}

static bool is_known(const struct both_point *point)
{
	return point->n && point->count && isfinite(point->page_ns) &&
	       isfinite(point->full_ns) && point->page_ns > 0 &&
	       point->full_ns > 0;
}

/*
 * The points of the first block, which come one after the other; returns how
 * many those are. What varies is a share of the time.
 */
static size_t columns_fill(struct columns *columns,
			   const struct both_point *points, size_t n_points)
{
	size_t i;

	columns->count = 0;
	for (i = 0; i < n_points && points[i].block == points[0].block; i++) {
		const struct both_point *p = &points[i];
		size_t at = columns->count;

		if (!is_known(p))
			continue;
		columns->n[at] = p->n;
		columns->page[at] = p->page_ns;
		columns->full[at] = p->full_ns;
		columns->difference[at] = p->page_ns - p->full_ns;
		columns->weight[at] =
			1 / (p->page_ns * p->page_ns + p->full_ns * p->full_ns);
		columns->count++;
	}
	return i;
}

/* y = *intercept + *slope * n. */
static void line(const struct columns *columns, const double *y,
		 double *intercept, double *slope)
{
	double cov00, cov01, cov11, chi_squared;

	gsl_fit_wlinear(columns->n, 1, columns->weight, 1, y, 1, columns->count,
			intercept, slope, &cov00, &cov01, &cov11, &chi_squared);
}

static struct block_fit fit_block(const struct columns *columns,
				  unsigned int block)
{
	struct block_fit fit = { .block = block };
	double intercept, slope;

	line(columns, columns->difference, &intercept, &fit.c_i);
	fit.c_f = -intercept;
	line(columns, columns->page, &fit.a, &slope);
	line(columns, columns->full, &intercept, &fit.b);
	return fit;
}

enum cost { COST_A, COST_B, COST_C_I, COST_C_F };

static double cost_of(const struct block_fit *fit, enum cost cost)
{
	switch (cost) {
	case COST_A:
		return fit->a;
	case COST_B:
		return fit->b;
	case COST_C_I:
		return fit->c_i;
	case COST_C_F:
		return fit->c_f;
	}
	return NAN;
}

/* The mean over the blocks, with its interval for another run. */
static struct estimate combine(const struct both *both, enum cost cost,
			       double *x)
{
	struct estimate run = { 0 };
	size_t i;

	for (i = 0; i < both->n_blocks; i++) {
		x[i] = cost_of(&both->blocks[i], cost);
		run.value += x[i] / (double)both->n_blocks;
	}
	run.ci95 = stats_t_interval(x, both->n_blocks);
	return repeat_widen(&run, x, both->n_blocks);
}

/* Fit every block that has points enough. */
static int fit_blocks(const struct both_point *points, size_t n_points,
		      struct both *out, struct columns *columns)
{
	size_t i, used;

	out->blocks = calloc(n_points + 1, sizeof(*out->blocks));
	if (!out->blocks || columns_open(columns, n_points) < 0)
		return -1;
	for (i = 0; i < n_points; i += used) {
		used = columns_fill(columns, points + i, n_points - i);
		if (columns->count >= MIN_SIZES)
			out->blocks[out->n_blocks++] =
				fit_block(columns, points[i].block);
	}
	return 0;
}

int both_fit(const struct both_point *points, size_t n_points, struct both *out)
{
	struct columns columns = { 0 };
	int status = -1;
	double *x;

	*out = (struct both){ 0 };
	x = calloc(n_points + 1, sizeof(*x));
	if (!x || fit_blocks(points, n_points, out, &columns) < 0)
		goto out;
	if (out->n_blocks < MIN_BLOCKS) {
		errno = EINVAL;
		goto out;
	}
	out->a = combine(out, COST_A, x);
	out->b = combine(out, COST_B, x);
	out->c_i = combine(out, COST_C_I, x);
	out->c_f = combine(out, COST_C_F, x);
	out->verdict = both_acts(out) ? BOTH_ALONE : BOTH_NO_EFFECT;
	status = 0;
out:
	free(x);
	free(columns.n);
	if (status < 0)
		both_free(out);
	return status;
}

/* checking -------------------------------------------------------------- */

/*
 * How far apart two intervals are, in half widths of both together: below 1
 * they overlap.
 */
static double apart(const struct estimate *x, const struct estimate *y)
{
	double half = (x->ci95.hi - x->ci95.lo + y->ci95.hi - y->ci95.lo) / 2;
	double middle_x = (x->ci95.hi + x->ci95.lo) / 2;
	double middle_y = (y->ci95.hi + y->ci95.lo) / 2;

	return fabs(middle_x - middle_y) / half;
}

bool both_acts(const struct both *both)
{
	return both->n_blocks && both->c_i.ci95.lo > 0;
}

/* It does not act, although a page was found to cost something without it. */
static bool has_no_effect(const struct both *both, const struct estimate *c_i)
{
	return !both_acts(both) && both->c_i.ci95.hi < c_i->ci95.lo;
}

void both_check(struct both *both, const struct estimate *a,
		const struct estimate *b, const struct estimate *c_i,
		const struct estimate *c_f)
{
	const struct {
		const char *name;
		const struct estimate *with, *without;
	} costs[] = {
		{ "a", &both->a, a },
		{ "b", &both->b, b },
		{ "c_i", &both->c_i, c_i },
		{ "c_f", &both->c_f, c_f },
	};
	double worst = 1;
	size_t i;

	both->worst = NULL;
	if (both->n_blocks == 0) {
		both->verdict = BOTH_NONE;
		return;
	}
	if (has_no_effect(both, c_i)) {
		both->verdict = BOTH_NO_EFFECT;
		return;
	}
	for (i = 0; i < sizeof(costs) / sizeof(*costs); i++) {
		double by = apart(costs[i].with, costs[i].without);

		if (by > worst || (isnan(by) && !both->worst)) {
			worst = isnan(by) ? worst : by;
			both->worst = costs[i].name;
		}
	}
	both->verdict = both->worst ? BOTH_DISAGREES : BOTH_AGREES;
}

void both_free(struct both *both)
{
	int error = errno;

	free(both->blocks);
	*both = (struct both){ 0 };
	errno = error;
}
