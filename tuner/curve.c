/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "curve.h"

#define PEAK 1.15 /* a point so much above its neighbours is an outlier */

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

/* b, or where it is far above or below both its neighbours, the nearer one. */
static double without_peak(double a, double b, double c)
{
	if (b > PEAK * fmax(a, c))
		return fmax(a, c);
	if (b * PEAK < fmin(a, c))
		return fmin(a, c);
	return b;
}

/*
 * Access and control of one block, in[n], without peaks, as where the scheduler
 * came in between: both rise with w, and a rise has none.
 */
static void take_block(const struct sample *in, size_t n, struct sample *out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct sample *a = &in[i > 0 ? i - 1 : i];
		const struct sample *b = &in[i];
		const struct sample *c = &in[i + 1 < n ? i + 1 : i];
		double dense = without_peak(a->dense, b->dense, c->dense);
		double spread = without_peak(a->excess + a->dense,
					     b->excess + b->dense,
					     c->excess + c->dense);

		out[i] = *b;
		out[i].excess = spread - dense;
		out[i].dense = dense;
		/* The errors of both are about proportional to them. */
		out[i].weight = 1 / (spread * spread + dense * dense);
	}
}

int curve_take(const struct reach_point *points, size_t n_points,
	       struct curve *out)
{
	struct sample *raw = calloc(n_points + 1, sizeof(*raw));
	struct curve all = { 0, raw };
	size_t i;

	out->samples = calloc(n_points + 1, sizeof(*out->samples));
	out->n = 0;
	if (!raw || !out->samples) {
		free(raw);
		curve_free(out);
		return -1;
	}
	for (i = 0; i < n_points; i++) {
		const struct reach_point *point = &points[i];
		double spread = point->spread_ns, dense = point->dense_ns;

		if (!sane(spread) || !sane(dense) || point->w == 0)
			continue;
		raw[all.n++] = (struct sample){
			.block = point->block,
			.w = point->w,
			.log_w = log2(point->w),
			.excess = spread - dense,
			.dense = dense,
		};
	}
	qsort(raw, all.n, sizeof(*raw), by_block);
	while (out->n < all.n) {
		struct curve block = curve_block(&all, out->n);

		take_block(block.samples, block.n, out->samples + out->n);
		out->n += block.n;
	}
	free(raw);
	return 0;
}

/* What samples[n], all of one w, have in common; work[n]. */
static struct sample pool_set(const struct sample *samples, size_t n,
			      double quantile, double *work)
{
	struct sample out = samples[0];
	size_t i;

	for (i = 0; i < n; i++)
		work[i] = samples[i].dense;
	out.dense = stats_median(work, n);
	for (i = 0; i < n; i++)
		work[i] = samples[i].excess;
	out.excess = stats_quantile(work, n, quantile);
	for (i = 0; i < n; i++)
		work[i] = samples[i].weight;
	out.weight = stats_median(work, n);
	return out;
}

/* All blocks in one curve. 0 or -1 with ENOMEM. */
int curve_pool(const struct curve *all, double quantile, struct curve *out)
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
		out->samples[out->n++] =
			pool_set(samples, to - from, quantile, work);
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
