/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>

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
#define MAX_RATIO 90
#define ALONE 4.0 /* mean square of one knee over those of two, at most */

/* How far E may differ from block to block. */
#define BLOCK_RANGE 1.4

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
	out.found = knee_stands(&part, &out.knee);
	return out;
}

void level_find(const struct curve *curve, const struct miss_table *tables,
		struct level *l1, struct level *last)
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

void level_refine(const struct curve *curve, const struct miss_table *tables,
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

size_t level_refit(const struct curve *all, const struct level *level,
		   struct knee *knees)
{
	size_t n = 0, from = 0;

	while (from < all->n) {
		struct curve block = curve_block(all, from), part;

		from += block.n;
		part = curve_window(&block, level->from, level->to);
		if (part.n < MIN_WINDOW)
			continue;
		knees[n] = knee_search(&part, level->knee.table,
				       level->knee.entries, BLOCK_RANGE,
				       level->knee.grows);
		n += isfinite(knees[n].mean_square);
	}
	return n;
}
