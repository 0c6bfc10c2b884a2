/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contrast: how the numbers of two sides differ, A and B, and whether that is
 * more than chance. Pure.
 *
 * What is tested, by ranks (ranktest.h), are values that do not know of each
 * other. With one run a side those are the medians of its time blocks: the
 * readings of a block share its memory and its moment. Blocks do so too where
 * the machine wanders, so that there the interval is not narrower than what
 * repeat.h has for another run, and a difference is seen only if both the test
 * and this interval say so. With several runs a side the values are the runs'
 * medians, and nothing has to be assumed.
 *
 * Estimates come without values of their own. With one run a side they are
 * compared by their intervals, joined as by Zou and Donner (2008).
 */
#ifndef TLBTUNE_CONTRAST_H
#define TLBTUNE_CONTRAST_H

#include <stdbool.h>

#include "quantity.h"

#define CONTRAST_ALPHA 0.05 /* of all the questions asked together */

enum contrast_verdict {
	CONTRAST_TOO_FEW, /* values, or no interval: nothing can be seen */
	CONTRAST_SAME,	  /* no difference seen */
	CONTRAST_LOWER,	  /* B is lower than A */
	CONTRAST_HIGHER,
	CONTRAST_VERDICTS
};

enum contrast_test {
	CONTRAST_NO_TEST,
	CONTRAST_RANKS,
	CONTRAST_RANKS_NORMAL, /* by the normal approximation */
	CONTRAST_INTERVALS,
	CONTRAST_TESTS
};

/* In reports. */
extern const char *const contrast_verdict_name[CONTRAST_VERDICTS];
extern const char *const contrast_test_name[CONTRAST_TESTS];

struct contrast {
	const char *label, *unit; /* those of the quantity in A */
	size_t values_a, values_b;
	double a, b; /* medians, or estimates */
	/* B over A; unknown unless all values are above 0, and then ... */
	struct estimate ratio;
	struct estimate difference; /* ... this is known, B - A */
	enum contrast_test test;
	double p, p_holm; /* NAN: not tested */
	enum contrast_verdict verdict;
};

struct contrasts {
	size_t n;
	struct contrast *of;
	size_t unmatched; /* quantities that not every run has */
};

/*
 * Contrast what all runs a[na] and b[nb] have; na = nb = 1, or several on both
 * sides. What only repeats a quantity in another unit is left out. *out points
 * into a[0]. Returns 0, or -1 with ENOMEM.
 */
int contrast(const struct quantities *a, size_t na, const struct quantities *b,
	     size_t nb, struct contrasts *out);

/*
 * B is seen to take longer, by more than percent of A. (More entries of a TLB
 * are no fault.)
 */
bool contrast_above(const struct contrast *contrast, double percent);

void contrasts_free(struct contrasts *contrasts);

#endif
