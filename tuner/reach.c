/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *  1. Pool the blocks: the lower quartile at each w.
 *  2. Locate two knees roughly in the pooled curve.
 *  3. Refine each in a window that the other does not reach, over all kinds of
 *     TLB. If they don't stand, look for a single one.
 *  4. Align the blocks at those that stand, pool again, and refine. A walk does
 *     not cost the same in all blocks, and a pool of blocks that differ has the
 *     curve of none. Who else runs on the core, a sibling thread above all,
 *     takes entries away and never adds any: so a low quantile, of which a few
 *     undisturbed blocks are enough.
 *  5. Refit each in every block, with the kind of TLB that was found: a fact of
 *     the machine. What differs between blocks gives the interval.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"
#include "reach.h"

#define MIN_SETS 8 /* distinct w, for any estimate */

#define TYPICAL 0.25 /* the quantile that blocks have in common */

static double entries_of(const struct knee *knee)
{
	return knee->entries;
}

static double half_of(const struct knee *knee)
{
	return knee->half;
}

static double height_of(const struct knee *knee)
{
	return knee->height;
}

/* All of it, where w is twice E: at E itself few accesses walk. */
static double walk_of(const struct knee *knee)
{
	return knee->base + knee->height + knee->growth;
}

static struct estimate over_blocks(const struct knee *knees, size_t n,
				   double (*number)(const struct knee *),
				   double *work)
{
	size_t fit = 0, i;

	for (i = 0; i < n; i++)
		if (isfinite(knees[i].mean_square))
			work[fit++] = number(&knees[i]);
	return (struct estimate){ stats_median(work, fit),
				  stats_t_interval(work, fit) };
}

/* The latency of an access that hits, from the smallest set of each block. */
static struct estimate hit_l1(const struct curve *all, double least,
			      double *work)
{
	size_t n = 0, i;

	for (i = 0; i < all->n; i++) {
		const struct sample *sample = &all->samples[i];

		if (sample->w <= least)
			work[n++] = sample->excess + sample->dense;
	}
	return (struct estimate){ stats_median(work, n),
				  stats_t_interval(work, n) };
}

/* The step of the grid that value is in. */
static struct interval grid_step(const struct curve *curve, double value)
{
	struct interval step = { 0, INFINITY };
	size_t i;

	for (i = 0; i < curve->n; i++) {
		double w = curve->samples[i].w;

		if (w < value)
			step.lo = w;
		else if (w > value && w < step.hi)
			step.hi = w;
	}
	return step;
}

/*
 * E: from the pooled curve, as a single block says little about the kind of
 * TLB. The interval is that over blocks, plus what they have in common, the
 * luck of the pages where sets fill at random: the share of misses near w = E
 * is the mean over E / ways sets, so its standard error is 0.5 / sqrt(E /
 * ways), and it rises by sqrt(ways / 2 pi) per log w. It is at least the range
 * of kinds that fit, and a step of the grid.
 */
static struct estimate pooled_entries(const struct curve *curve,
				      const struct knee *pooled,
				      const struct knee *blocks, size_t n,
				      double *work)
{
	struct estimate out = over_blocks(blocks, n, entries_of, work);
	double half = (out.ci95.hi - out.ci95.lo) / 2, luck = 0;
	struct interval step = grid_step(curve, pooled->mean);

	out.value = pooled->mean;
	if (isnan(half))
		return out;
	if (pooled->table->kind.random_sets)
		luck = 1.96 * 0.5 * sqrt(2 * M_PI * out.value);
	half = hypot(half, luck);
	out.ci95.lo = fmin(fmin(out.value - half, step.lo), pooled->low);
	out.ci95.hi = fmax(fmax(out.value + half, step.hi), pooled->high);
	return out;
}

/* The knee of the pooled curve; its interval is at least a step of the grid. */
static struct estimate pooled_half(const struct curve *curve,
				   const struct knee *pooled,
				   const struct knee *blocks, size_t n,
				   double *work)
{
	struct estimate out = over_blocks(blocks, n, half_of, work);
	double half = (out.ci95.hi - out.ci95.lo) / 2;
	struct interval step;

	out.value = pooled->mean_half;
	if (isnan(half))
		return out;
	step = grid_step(curve, out.value);
	out.ci95.lo = fmin(out.value - half, step.lo);
	out.ci95.hi = fmax(out.value + half, step.hi);
	return out;
}

/* 0 or -1 with ENOMEM. */
static int estimate_levels(const struct curve *all, const struct curve *curve,
			   const struct level *l1, const struct level *last,
			   struct reach *out)
{
	struct knee *knees = calloc(all->n, sizeof(*knees));
	double *work = calloc(all->n, sizeof(*work));
	int status = -1;
	size_t n;

	if (!knees || !work)
		goto out;
	out->hit_l1 = hit_l1(all, curve->samples[0].w, work);
	if (l1->found) {
		n = level_refit(all, l1, knees);
		out->l1 = pooled_entries(curve, &l1->knee, knees, n, work);
		out->l1_knee = pooled_half(curve, &l1->knee, knees, n, work);
		out->hit_last = over_blocks(knees, n, height_of, work);
	}
	if (last->found) {
		n = level_refit(all, last, knees);
		out->last = pooled_entries(curve, &last->knee, knees, n, work);
		out->last_knee =
			pooled_half(curve, &last->knee, knees, n, work);
		out->walk = over_blocks(knees, n, walk_of, work);
	}
	status = 0;
out:
	free(work);
	free(knees);
	return status;
}

static int make_tables(struct miss_table *tables)
{
	size_t i;

	for (i = 0; i < MISS_KINDS; i++) {
		if (miss_table_make(&tables[i], miss_kinds[i]) < 0)
			return -1;
	}
	return 0;
}

struct reach reach_unknown(void)
{
	return (struct reach){ stats_unknown(), stats_unknown(),
			       stats_unknown(), stats_unknown(),
			       stats_unknown(), stats_unknown(),
			       stats_unknown() };
}

int reach_find(const struct reach_point *points, size_t n_points,
	       struct reach *out)
{
	struct miss_table tables[MISS_KINDS];
	struct curve all = { 0 }, curve = { 0 };
	struct level l1, last;
	int status = -1;
	size_t i;

	*out = reach_unknown();
	memset(tables, 0, sizeof(tables));
	if (curve_take(points, n_points, &all) < 0 ||
	    curve_pool(&all, TYPICAL, &curve) < 0)
		goto out;
	if (curve.n < MIN_SETS) {
		errno = EINVAL;
		goto out;
	}
	if (make_tables(tables) < 0)
		goto out;
	if (level_find(&all, &curve, tables, &l1, &last) < 0)
		goto out;
	status = estimate_levels(&all, &curve, &l1, &last, out);
out:
	for (i = 0; i < MISS_KINDS; i++)
		miss_table_free(&tables[i]);
	curve_free(&curve);
	curve_free(&all);
	return status;
}
