/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_fit.h>

#include "breakdown.h"

#define POINTS_MIN 4 /* of a line */
#define BLOCKS_MIN 3 /* of an interval */

const char *const breakdown_name[BREAKDOWN_PARTS] = {
	[BREAKDOWN_FIXED] = "fixed",	     [BREAKDOWN_PAGES] = "pages",
	[BREAKDOWN_LOCAL] = "local flush",   [BREAKDOWN_IPI] = "IPI wait",
	[BREAKDOWN_REMOTE] = "remote flush", [BREAKDOWN_REFILL] = "refill",
};

/* What the parts of each block come to; the whole is behind them. */
struct values {
	double part[BREAKDOWN_PARTS];
	double whole;
};

struct line {
	double at_0, slope; /* NAN: too few points */
};

static struct line fit(const double *x, const double *y, size_t n)
{
	struct line line = { NAN, NAN };
	double cov00, cov01, cov11, sumsq;

	if (n >= POINTS_MIN)
		gsl_fit_linear(x, 1, y, 1, n, &line.at_0, &line.slope, &cov00,
			       &cov01, &cov11, &sumsq);
	return line;
}

static bool is_full(const struct step *step, unsigned int n)
{
	return step->kind == STEP_FOUND && n > step->below;
}

/* The local flush of n pages, by the costs of that block; 0 if unknown. */
static double flush(const struct step *step, const struct block_fit *cost,
		    unsigned int n)
{
	double ns;

	if (!cost)
		return 0;
	ns = is_full(step, n) ? cost->c_f : n * cost->c_i;
	return isfinite(ns) ? ns : 0;
}

/* The line through the times alone, less the flush. */
static struct line kernel_work(const struct breakdown_input *in,
			       const struct breakdown_block *block,
			       const struct step *step,
			       const struct block_fit *cost, double *x,
			       double *y)
{
	size_t i, n = 0;

	for (i = 0; i < in->sizes; i++) {
		if (!isfinite(block->point[i].alone))
			continue;
		x[n] = in->size[i];
		y[n++] = block->point[i].alone - flush(step, cost, in->size[i]);
	}
	return fit(x, y, n);
}

/* What the flush on the other CPUs adds for n pages. */
static double remote_flush(const struct breakdown_input *in,
			   const struct breakdown_block *block,
			   const struct step *step, double *x, double *y)
{
	size_t i, singly = 0, full = 0;
	double sum = 0;
	struct line line;

	for (i = 0; i < in->sizes; i++) {
		double more = block->point[i].busy - block->point[i].alone;

		if (!isfinite(more))
			continue;
		if (is_full(step, in->size[i])) {
			full++;
			sum += more;
		} else {
			x[singly] = in->size[i];
			y[singly++] = more;
		}
	}
	line = fit(x, y, singly);
	if (!is_full(step, in->pages))
		return line.slope * in->pages;
	return full ? sum / (double)full - line.at_0 : NAN;
}

static int derive_block(const struct breakdown_input *in,
			const struct breakdown_block *block,
			const struct step *step, const struct block_fit *cost,
			struct values *out)
{
	double *x = calloc(2 * in->sizes, sizeof(*x)), *y;
	struct line line;

	if (!x)
		return -1;
	y = x + in->sizes;
	line = kernel_work(in, block, step, cost, x, y);
	*out = (struct values){
		.part = {
			[BREAKDOWN_FIXED] = line.at_0,
			[BREAKDOWN_PAGES] = line.slope * in->pages,
			[BREAKDOWN_LOCAL] =
				!cost			    ? NAN :
				is_full(step, in->pages) ? cost->c_f :
							   cost->c_i * in->pages,
			[BREAKDOWN_IPI] = block->ipi,
			[BREAKDOWN_REMOTE] =
				remote_flush(in, block, step, x, y),
			[BREAKDOWN_REFILL] = block->refill,
		},
		.whole = block->whole,
	};
	free(x);
	return 0;
}

/* Mean of one column of values[n] with Student's interval. */
static struct estimate mean(const struct values *values, size_t n,
			    double (*column)(const struct values *values,
					     const void *which),
			    const void *which)
{
	struct estimate estimate = stats_unknown();
	double *x = calloc(n + 1, sizeof(*x));
	double sum = 0;
	size_t i;

	for (i = 0; x && i < n; i++) {
		x[i] = column(&values[i], which);
		sum += x[i];
	}
	if (x && n >= BLOCKS_MIN) {
		estimate.value = sum / (double)n;
		estimate.ci95 = stats_t_interval(x, n);
	}
	free(x);
	return estimate;
}

static double part_of(const struct values *values, const void *which)
{
	return values->part[*(const int *)which];
}

static double whole_of(const struct values *values, const void *which)
{
	(void)which;
	return values->whole;
}

/* which: whether each part counts. */
static double sum_of(const struct values *values, const void *which)
{
	const bool *known = which;
	double sum = 0;
	int i;

	for (i = 0; i < BREAKDOWN_PARTS; i++)
		if (known[i])
			sum += values->part[i];
	return sum;
}

static double rest_of(const struct values *values, const void *which)
{
	return values->whole - sum_of(values, which);
}

/* A part that fewer than half of the blocks with a whole have is none. */
static void choose_parts(const struct values *values, size_t n, bool *known)
{
	size_t i, finite, whole;
	int part;

	for (part = 0; part < BREAKDOWN_PARTS; part++) {
		for (i = 0, finite = 0, whole = 0; i < n; i++) {
			if (!isfinite(values[i].whole))
				continue;
			whole++;
			finite += isfinite(values[i].part[part]) != 0;
		}
		known[part] = finite >= BLOCKS_MIN && 2 * finite >= whole;
	}
}

/* Move the blocks that have all to the front; returns how many there are. */
static size_t keep_complete(struct values *values, size_t n, const bool *known)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (isfinite(rest_of(&values[i], known)))
			values[kept++] = values[i];
	return kept;
}

static const char *reason(const struct breakdown_input *in,
			  const struct step *step, int part)
{
	if (part == BREAKDOWN_LOCAL && step->kind != STEP_FOUND)
		return "mprotect shows no step: its flush is part of the "
		       "others";
	if (part == BREAKDOWN_LOCAL)
		return "fewer than four sizes on one side of the ceiling, "
		       "which is part of the others";
	if ((part == BREAKDOWN_IPI || part == BREAKDOWN_REMOTE) && !in->threads)
		return "no other thread (-t)";
	if (part == BREAKDOWN_IPI && in->no_ipi)
		return in->no_ipi;
	return "too few blocks in which every thread ran";
}

static void summarise(const struct breakdown_input *in, struct values *values,
		      struct breakdown *out)
{
	bool known[BREAKDOWN_PARTS];
	size_t n;
	int part;

	choose_parts(values, in->blocks, known);
	n = keep_complete(values, in->blocks, known);
	out->blocks = n;
	for (part = 0; part < BREAKDOWN_PARTS; part++) {
		out->part[part] = known[part] ?
					  mean(values, n, part_of, &part) :
					  stats_unknown();
		if (!isfinite(out->part[part].value))
			out->why[part] = reason(in, &out->step, part);
	}
	out->whole = mean(values, n, whole_of, NULL);
	out->sum = mean(values, n, sum_of, known);
	out->unexplained = mean(values, n, rest_of, known);
}

/* The times of mprotect, as estimate.h has them. */
static struct op_point *flush_points(const struct breakdown_input *in)
{
	struct op_point *points =
		calloc(in->blocks * in->sizes + 1, sizeof(*points));
	struct op_point *point = points;
	size_t block, i;

	for (block = 0; points && block < in->blocks; block++)
		for (i = 0; i < in->sizes; i++, point++)
			*point = (struct op_point){
				.block = (unsigned int)block,
				.n = in->size[i],
				.count = 1,
				.ns = in->block[block].point[i].mprotect,
			};
	return points;
}

static const struct block_fit *cost_of(const struct fit *fit, size_t block)
{
	size_t i;

	for (i = 0; i < fit->n_blocks; i++)
		if (fit->blocks[i].block == block)
			return &fit->blocks[i];
	return NULL;
}

int breakdown_derive(const struct breakdown_input *in, struct breakdown *out)
{
	struct op_point *points = flush_points(in);
	struct values *values = calloc(in->blocks + 1, sizeof(*values));
	size_t n_points = in->blocks * in->sizes, i;
	struct fit fit = { 0 };
	int status = 0;

	*out = (struct breakdown){ .step.kind = STEP_NONE };
	if (!points || !values)
		status = -1;
	else if (estimate_step(points, n_points, NULL, &out->step) < 0 ||
		 (out->step.kind == STEP_FOUND &&
		  estimate_fit(points, n_points, &out->step, &fit) < 0))
		status = errno == EINVAL ? 0 : -1;
	for (i = 0; i < in->blocks && status == 0; i++)
		status = derive_block(in, &in->block[i], &out->step,
				      cost_of(&fit, i), &values[i]);
	if (status == 0)
		summarise(in, values, out);
	estimate_fit_free(&fit);
	free(points);
	free(values);
	return status;
}

bool breakdown_explained(const struct breakdown *breakdown)
{
	const struct interval *rest = &breakdown->unexplained.ci95;

	return rest->lo <= 0 && rest->hi >= 0;
}
