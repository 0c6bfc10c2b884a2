/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *  1. Pool the blocks: the lower quartile at each w.
 *  2. Locate two knees roughly in the pooled curve.
 *  3. Refine each in a window that the other does not reach, over all kinds of
 *     TLB. If they don't stand, look for a single one.
 *  4. Refine those that stand in the curve of the least disturbed blocks. Who
 *     else runs on the core, a sibling thread above all, takes entries away and
 *     never adds any; but that curve is too noisy to tell whether a knee
 *     stands.
 *  5. Refit each in every block, with the kind of TLB that was found: a fact of
 *     the machine. What differs between blocks gives the interval.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "knee.h"
#include "reach.h"

#define MIN_SETS 8   /* distinct w, for any estimate */
#define MIN_WINDOW 7 /* points, to fit a knee */

/* How far a knee is felt, in w / E: misses rise over 0.4 .. 2.5, at most. */
#define WINDOW_BELOW 0.4
#define WINDOW_ABOVE 2.5

/* The walk is known as far as this, in w / E; its growth is a straight line. */
#define WINDOW_WALK 5.0

/*
 * A knee alone is that of the last level if it is at more entries than any L1
 * dTLB has (Lion Cove: 128), or if none follows for longer than on any CPU
 * known (Skymont: 48 and 4096 entries).
 */
#define MAX_L1 200
#define MAX_RATIO 90
#define ALONE 4.0 /* mean square of one knee over those of two, at most */

/* How far E may differ from block to block. */
#define BLOCK_RANGE 1.4

/* A knee of the pooled curve, and where it was fitted. */
struct level {
	bool found;
	struct knee knee;
	double from, to; /* w */
};

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

/* All points that make sense, by block and then w. 0 or -1 with ENOMEM. */
static int take(const struct reach_point *points, size_t n_points,
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

/* What samples[n], all of one w, have in common; work[n]. */
typedef struct sample pool_fn(const struct sample *samples, size_t n,
			      double *work);

static struct sample typical(const struct sample *samples, size_t n,
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
static struct sample undisturbed(const struct sample *samples, size_t n,
				 double *work)
{
	struct sample out = typical(samples, n, work);

	take_dense(samples, n, work);
	out.dense = stats_quantile(work, n, 0.1);
	take_spread(samples, n, work);
	out.excess = stats_quantile(work, n, 0.1) - out.dense;
	return out;
}

/* All blocks in one curve. 0 or -1 with ENOMEM. */
static int pool(const struct curve *all, pool_fn *common, struct curve *out)
{
	double *work = calloc(all->n + 1, sizeof(*work));
	size_t from, to, i;

	out->n = 0;
	out->samples = calloc(all->n + 1, sizeof(*out->samples));
	if (!work || !out->samples) {
		free(work);
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

static struct level try_level(const struct curve *curve,
			      const struct miss_table *tables, double about,
			      double from, double to, bool grows)
{
	struct curve part = knee_window(curve, from, to);
	struct level out = { .from = from, .to = to };

	out.knee.mean_square = INFINITY;

	if (part.n < MIN_WINDOW || isnan(about))
		return out;
	out.knee = knee_refine(&part, tables, about, grows);
	out.found = knee_stands(&part, &out.knee);
	return out;
}

static void find_levels(const struct curve *curve,
			const struct miss_table *tables, struct level *l1,
			struct level *last)
{
	const double most = curve->samples[curve->n - 1].w;
	struct knee_pair pair = knee_locate_pair(curve, tables);
	struct level one;

	*l1 = try_level(curve, tables, pair.first, 0,
			pair.second * WINDOW_BELOW, false);
	*last = try_level(curve, tables, pair.second, pair.first * WINDOW_ABOVE,
			  pair.second * WINDOW_WALK, true);
	if (last->found)
		return;

	one = try_level(curve, tables, knee_locate(curve, tables), 0, most,
			true);
	if (!one.found ||
	    one.knee.mean_square >
		    ALONE * fmax(l1->knee.mean_square, last->knee.mean_square))
		return; /* there is a second knee, even if it is unclear */
	if (one.knee.entries > MAX_L1 || most > MAX_RATIO * one.knee.entries) {
		*last = one;
		l1->found = false;
	} else if (!l1->found) {
		*l1 = one;
	}
}

/* The knee of a level as the undisturbed curve has it. */
static void refine(const struct curve *curve, const struct miss_table *tables,
		   struct level *level)
{
	struct level better;

	if (!level->found)
		return;
	better = try_level(curve, tables, level->knee.entries, level->from,
			   level->to, level->knee.grows);
	if (better.found)
		*level = better;
}

/* Refit a knee in every block. Returns how many blocks allow it. */
static size_t refit_blocks(const struct curve *all, const struct level *level,
			   struct knee *knees)
{
	const struct sample *samples = all->samples;
	size_t n = 0, from, to;

	for (from = 0; from < all->n; from = to) {
		struct curve block, part;

		for (to = from + 1;
		     to < all->n && samples[to].block == samples[from].block;
		     to++)
			;
		block = (struct curve){ to - from, all->samples + from };
		part = knee_window(&block, level->from, level->to);
		if (part.n < MIN_WINDOW)
			continue;
		knees[n] = knee_search(&part, level->knee.table,
				       level->knee.entries, BLOCK_RANGE,
				       level->knee.grows);
		n += isfinite(knees[n].mean_square);
	}
	return n;
}

static double entries_of(const struct knee *knee)
{
	return knee->entries;
}

/* Pages of which half the accesses miss, by bisection. */
static double half_of(const struct knee *knee)
{
	double lo = -2, hi = 2; /* log2 of pages over entries */
	int i;

	for (i = 0; i < 20; i++) {
		double load = (lo + hi) / 2;

		if (miss_share(knee->table, load) < 0.5)
			lo = load;
		else
			hi = load;
	}
	return knee->entries * exp2((lo + hi) / 2);
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
	size_t i;

	for (i = 0; i < n; i++)
		work[i] = number(&knees[i]);
	return (struct estimate){ stats_median(work, n),
				  stats_t_interval(work, n) };
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

	out.value = half_of(pooled);
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
		n = refit_blocks(all, l1, knees);
		out->l1 = pooled_entries(curve, &l1->knee, knees, n, work);
		out->l1_knee = pooled_half(curve, &l1->knee, knees, n, work);
		out->hit_last = over_blocks(knees, n, height_of, work);
	}
	if (last->found) {
		n = refit_blocks(all, last, knees);
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
	struct curve all = { 0 }, curve = { 0 }, best = { 0 };
	struct level l1, last;
	int status = -1;
	size_t i;

	*out = reach_unknown();
	memset(tables, 0, sizeof(tables));
	if (take(points, n_points, &all) < 0 ||
	    pool(&all, typical, &curve) < 0 ||
	    pool(&all, undisturbed, &best) < 0)
		goto out;
	if (curve.n < MIN_SETS) {
		errno = EINVAL;
		goto out;
	}
	if (make_tables(tables) < 0)
		goto out;
	find_levels(&curve, tables, &l1, &last);
	refine(&best, tables, &l1);
	refine(&best, tables, &last);
	status = estimate_levels(&all, &curve, &l1, &last, out);
out:
	for (i = 0; i < MISS_KINDS; i++)
		miss_table_free(&tables[i]);
	free(best.samples);
	free(curve.samples);
	free(all.samples);
	return status;
}

/* Steps of 8 up to here, where they are 6 %: so sizes of L1 dTLBs are in it. */
#define FINE_TO 128

/* The next point of the grid. */
static unsigned int grid_next(unsigned int w)
{
	return w < FINE_TO ? w + 8 : w + w / 16;
}

unsigned int *reach_grid(unsigned int max, size_t *n)
{
	unsigned int *grid, w;
	size_t count = 0;

	for (w = 16; w <= max && w < 1u << 31; w = grid_next(w))
		count++;
	grid = calloc(count + 1, sizeof(*grid));
	if (!grid)
		return NULL;
	*n = 0;
	for (w = 16; *n < count; w = grid_next(w))
		grid[(*n)++] = w;
	return grid;
}
