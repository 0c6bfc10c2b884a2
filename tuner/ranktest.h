/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranktest: is one set of values above another? Pure.
 *
 * The test of Mann and Whitney (1947) compares ranks, so that a few wild values
 * on either side don't decide. Its values must not know of each other: medians
 * of time blocks or of runs, never single readings.
 */
#ifndef TLBTUNE_RANKTEST_H
#define TLBTUNE_RANKTEST_H

#include <stdbool.h>
#include <stddef.h>

#include "stats.h"

/* Up to so many values in both sets, p is exact, with ties as well. */
#define RANKTEST_EXACT 80

/* Fewer values in either set cannot show a difference at 5 %. */
#define RANKTEST_MIN 4

struct ranktest {
	/* Hodges and Lehmann (1963): the median of all differences b - a. */
	double shift;
	/* Of the shift: what the same test does not reject at 5 %. */
	struct interval ci95;
	double p; /* two-sided: of a rank sum as far from its mean */
	bool exact;
};

/*
 * Test b[nb] against a[na]. Without ties, p and interval are exact up to
 * RANKTEST_EXACT values; with ties p is that of all ways to deal out the values
 * at hand, and the interval is slightly too wide. Beyond, the sum of ranks is
 * taken to be normal. The interval is unknown where the values are too few for
 * one. Returns 0, or -1 with errno (EINVAL: an empty set, or a value that is
 * not finite; ENOMEM).
 */
int ranktest(const double *a, size_t na, const double *b, size_t nb,
	     struct ranktest *out);

/*
 * Adjust p[n], in place, for having asked n questions, so that the chance of
 * any false yes among them is that of one (Holm 1979). NAN is no question. 0,
 * or -1 with ENOMEM.
 */
int ranktest_holm(double *p, size_t n);

#endif
