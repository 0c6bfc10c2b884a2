/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knee: fit the rise of latency where a TLB level overflows. Pure.
 *
 * The excess over the control is modelled around one knee as
 *
 *	y(w) = base + (height + growth * log2(w / E)) * M(w / E)
 *
 * where M is the share of misses of a kind of TLB (miss.h). The growth is that
 * of a page walk, whose tables leave the caches as w grows. For given E and
 * kind the rest is linear; E and kind are searched.
 */
#ifndef TLBTUNE_KNEE_H
#define TLBTUNE_KNEE_H

#include <stdbool.h>
#include <stddef.h>

#include "curve.h"
#include "miss.h"

struct knee {
	const struct miss_table *table; /* the kind */
	double entries;			/* E */
	double base, height, growth;	/* ns, ns, ns per doubling of w */
	bool grows;			/* growth was free; else it is 0 */
	double mean_square;		/* of the weighted residuals */
	double half; /* pages of which half the accesses miss, by the kind */
	/* over the kinds, by how well they fit: E, its range, and half */
	double mean, low, high, mean_half;
};

/*
 * The best fit with the kind of table and E within a factor of about: the
 * middle where several E fit alike, as between two points when the rise is a
 * step. mean_square is INFINITY if nothing fits; mean, low, high, mean_half are
 * not set.
 */
struct knee knee_search(const struct curve *curve,
			const struct miss_table *table, double about,
			double factor, bool grows);

/*
 * The best fit over all kinds, tables[MISS_KINDS], and the means and range over
 * those that fit about as well: no real TLB is quite of one kind, and for the
 * same points the kinds want sizes up to a quarter apart, and halves much less.
 * LRU gets the benefit of the doubt: where sets fill at random, random
 * replacement in a smaller TLB looks much the same if the walk grows a little
 * less.
 */
struct knee knee_refine(const struct curve *curve,
			const struct miss_table *tables, double about,
			bool grows);

/*
 * Is it a knee, or an artefact of the fit? A knee is seen from both sides, is
 * high compared with the control, and explains what a smooth trend does not:
 * the mean square about the trend is gain times that of the knee.
 */
bool knee_stands(const struct curve *curve, const struct knee *knee,
		 double gain);

#define KNEE_CLEAR 4.0
#define KNEE_UNCLEAR 2.0 /* worth another look */

/* Where two knees of a kind fit a whole curve best: rough E, or NAN. */
struct knee_pair {
	double first, second;
};

struct knee_pair knee_locate_pair(const struct curve *curve,
				  const struct miss_table *table);

/* The same of one knee. */
double knee_locate(const struct curve *curve, const struct miss_table *table);

#endif
