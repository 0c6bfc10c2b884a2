/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "curve.h"

static int by_block(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return (x->w > y->w) - (x->w < y->w);
}

static bool sane(double ns)
{
	return isfinite(ns) && ns > 0;
}

int curve_take(const struct reach_point *points, size_t n_points,
	       struct curve *out)
{
	size_t i;

	out->n = 0;
	out->samples = calloc(n_points + 1, sizeof(*out->samples));
	if (!out->samples)
		return -1;
	for (i = 0; i < n_points; i++) {
		const struct reach_point *point = &points[i];
		double spread = point->spread_ns, dense = point->dense_ns;

		if (!sane(spread) || !sane(dense) || point->w == 0)
			continue;
		/* The errors of both are about proportional to them. */
		out->samples[out->n++] = (struct sample){
			.block = point->block,
			.w = point->w,
			.log_w = log2(point->w),
			.excess = spread - dense,
			.dense = dense,
			.weight = 1 / (spread * spread + dense * dense),
		};
	}
	qsort(out->samples, out->n, sizeof(*out->samples), by_block);
	return 0;
}

static void take_spread(const struct sample *samples, size_t n, double *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		out[i] = samples[i].excess + samples[i].dense;
}

static void take_dense(const struct sample *samples, size_t n, double *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		out[i] = samples[i].dense;
}

struct sample curve_typical(const struct sample *samples, size_t n,
			    double *work)
{
	struct sample out = samples[0];
	size_t i;

	take_dense(samples, n, work);
	out.dense = stats_median(work, n);
	for (i = 0; i < n; i++)
		work[i] = samples[i].excess;
	out.excess = stats_quantile(work, n, 0.25);
	for (i = 0; i < n; i++)
		work[i] = samples[i].weight;
	out.weight = stats_median(work, n);
	return out;
}

/*
 * Access and control apart: what is low in their difference may be an outlier
 * of the control.
 */
struct sample curve_undisturbed(const struct sample *samples, size_t n,
				double *work)
{
	struct sample out = curve_typical(samples, n, work);

	take_dense(samples, n, work);
	out.dense = stats_quantile(work, n, 0.1);
	take_spread(samples, n, work);
	out.excess = stats_quantile(work, n, 0.1) - out.dense;
	return out;
}

int curve_pool(const struct curve *all, curve_pool_fn *common,
	       struct curve *out)
{
	double *work = calloc(all->n + 1, sizeof(*work));
	size_t from, to, i;

	out->n = 0;
	out->samples = calloc(all->n + 1, sizeof(*out->samples));
	if (!work || !out->samples) {
		free(work);
		curve_free(out);
		return -1;
	}
	for (i = 0; i < all->n; i++) {
		out->samples[i] = all->samples[i];
		out->samples[i].block = 0;
	}
	qsort(out->samples, all->n, sizeof(*out->samples), by_block);
	for (from = 0; from < all->n; from = to) {
		const struct sample *samples = &out->samples[from];

		for (to = from + 1;
		     to < all->n && out->samples[to].w == samples->w; to++)
			;
		out->samples[out->n++] = common(samples, to - from, work);
	}
	free(work);
	return 0;
}

void curve_free(struct curve *curve)
{
	free(curve->samples);
	*curve = (struct curve){ 0 };
}

struct curve curve_block(const struct curve *all, size_t from)
{
	struct curve out = { 1, all->samples + from };

	while (from + out.n < all->n &&
	       out.samples[out.n].block == out.samples[0].block)
		out.n++;
	return out;
}

struct curve curve_window(const struct curve *curve, double from, double to)
{
	struct curve out = { 0, curve->samples };
	size_t i;

	for (i = 0; i < curve->n && curve->samples[i].w <= to; i++) {
		if (curve->samples[i].w < from)
			out.samples++;
		else
			out.n++;
	}
	return out;
}
