/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "level.h"

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
#define MAX_RATIO 100
#define ALONE 4.0 /* mean square of one knee over those of two, at most */

/* How far E may differ from block to block. */
#define BLOCK_RANGE 1.4

/*
 * Blocks are aligned where all accesses miss, whatever E is in them, in w / E.
 * One that differs by a larger factor did not see both sides of the knee.
 */
#define ALIGNED_AT 2.0
#define MAX_SCALE 2.0

/* What aligned blocks have in common is this quantile, of the excess. */
#define UNDISTURBED 0.2

static struct level try_level(const struct curve *curve,
			      const struct miss_table *tables, double about,
			      double from, double to, bool grows)
{
	struct curve part = curve_window(curve, from, to);
	struct level out = { .from = from, .to = to };

	out.knee.mean_square = INFINITY;

	if (part.n < MIN_WINDOW || isnan(about))
		return out;
	out.knee = knee_refine(&part, tables, about, grows);
	out.found = knee_stands(&part, &out.knee, KNEE_CLEAR);
	out.unclear = !out.found && knee_stands(&part, &out.knee, KNEE_UNCLEAR);
	return out;
}

size_t level_refit(const struct curve *all, const struct level *level,
		   struct knee *knees)
{
	size_t n = 0, from = 0;

	while (from < all->n) {
		struct curve block = curve_block(all, from);
		struct curve part =
			curve_window(&block, level->from, level->to);

		knees[n] = (struct knee){ .mean_square = INFINITY };
		if (part.n >= MIN_WINDOW)
			knees[n] = knee_search(&part, level->knee.table,
					       level->knee.entries, BLOCK_RANGE,
					       level->knee.grows);
		from += block.n;
		n++;
	}
	return n;
}

/* What a miss takes more than a hit where w pages are accessed. */
static double plateau(const struct knee *knee, double w)
{
	return knee->height + knee->growth * log2(w / knee->entries);
}

/*
 * The blocks about a level, each shifted and scaled so that the level has in it
 * the base and the height that it has in common, by knees as of level_refit. A
 * walk costs what it costs where the pages happen to be, a third less in one
 * block in ten on some hypervisors, and blocks of different heights have no
 * share of misses in common. 0, or -1 with ENOMEM.
 */
static int align(const struct curve *all, const struct level *level,
		 const struct knee *knees, struct curve *out)
{
	const struct knee *common = &level->knee;
	const double w = ALIGNED_AT * common->entries;
	size_t n = 0, from = 0, i;

	out->n = 0;
	out->samples = calloc(all->n + 1, sizeof(*out->samples));
	if (!out->samples)
		return -1;
	while (from < all->n) {
		struct curve block = curve_block(all, from);
		struct curve part =
			curve_window(&block, level->from, level->to);
		const struct knee *knee = &knees[n++];
		double scale = plateau(common, w) / plateau(knee, w);

		from += block.n;
		if (!isfinite(knee->mean_square) || scale > MAX_SCALE ||
		    scale < 1 / MAX_SCALE)
			continue;
		for (i = 0; i < part.n; i++) {
			struct sample *sample = &out->samples[out->n++];

			*sample = part.samples[i];
			sample->excess = common->base +
					 scale * (sample->excess - knee->base);
		}
	}
	return 0;
}

/*
 * Find a level again in what is common to the aligned blocks when little
 * disturbs them, if it is there. 0, or -1 with ENOMEM.
 */
static int refine(const struct curve *all, const struct miss_table *tables,
		  struct level *level)
{
	struct knee *knees = calloc(all->n, sizeof(*knees));
	struct curve aligned = { 0 }, curve = { 0 };
	struct level better;
	int status = -1;

	if (!knees)
		return -1;
	level_refit(all, level, knees);
	if (align(all, level, knees, &aligned) < 0 ||
	    curve_pool(&aligned, UNDISTURBED, &curve) < 0)
		goto out;
	better = try_level(&curve, tables, level->knee.entries, level->from,
			   level->to, level->knee.grows);
	if (better.found)
		*level = better;
	status = 0;
out:
	curve_free(&curve);
	curve_free(&aligned);
	free(knees);
	return status;
}

/* One knee where two are not found. */
static void find_one(const struct curve *curve, const struct miss_table *tables,
		     struct level *l1, struct level *last)
{
	const double most = curve->samples[curve->n - 1].w;
	struct level one = try_level(curve, tables, knee_locate(curve, tables),
				     0, most, true);

	if (!one.found ||
	    one.knee.mean_square >
		    ALONE * fmax(l1->knee.mean_square, last->knee.mean_square))
		return; /* there is a second knee, even if it is unclear */
	if (one.knee.mean > MAX_L1 || most > MAX_RATIO * one.knee.mean) {
		*last = one;
		l1->found = false;
	} else if (!l1->found) {
		*l1 = one;
	}
}

int level_find(const struct curve *all, const struct curve *curve,
	       const struct miss_table *tables, struct level *l1,
	       struct level *last)
{
	struct knee_pair pair = knee_locate_pair(curve, tables);

	*l1 = try_level(curve, tables, pair.first, 0,
			pair.second * WINDOW_BELOW, false);
	*last = try_level(curve, tables, pair.second, pair.first * WINDOW_ABOVE,
			  pair.second * WINDOW_WALK, true);
	if ((l1->unclear && refine(all, tables, l1) < 0) ||
	    (last->unclear && refine(all, tables, last) < 0))
		return -1;
	if (!last->found)
		find_one(curve, tables, l1, last);
	if ((l1->found && refine(all, tables, l1) < 0) ||
	    (last->found && refine(all, tables, last) < 0))
		return -1;
	return 0;
}
