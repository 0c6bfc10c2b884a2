/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "splinter.h"

/* Any L1 dTLB holds the large pages that so many pieces are of: 8. */
#define MOST_PIECES 4096

/* The excess of pages that is clear, relative to the control. */
#define CLEAR 0.1

/* Sets that are compared, at least; fewer are an accident. */
#define MIN_SETS 4

/* Shares up to which none, and from which all pages are: see block_share. */
#define FEW 0.2
#define MOST 0.5

const char *const splinter_name[SPLINTER_VERDICTS] = {
	[SPLINTER_UNKNOWN] = "unknown",
	[SPLINTER_NONE] = "no",
	[SPLINTER_SOME] = "in part",
	[SPLINTER_ALL] = "yes",
};

/* The point of the same block and w, or NULL. */
static const struct reach_point *find(const struct reach_point *points,
				      size_t n, const struct reach_point *like)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (points[i].block == like->block && points[i].w == like->w)
			return &points[i];
	return NULL;
}

/*
 * The median ratio of excesses in a block, NAN where there is none; work is
 * room for n_pages. Not of the sums: a walk takes less where the guest's page
 * table has one level less, a hit in the last level does not.
 */
static double block_share(const struct reach_point *pages, size_t n_pages,
			  const struct reach_point *pieces, size_t n_pieces,
			  unsigned int block, double *work)
{
	size_t n = 0, i;

	for (i = 0; i < n_pages; i++) {
		const struct reach_point *page = &pages[i], *piece;
		double excess = page->spread_ns - page->dense_ns;

		if (page->block != block || page->w > MOST_PIECES ||
		    !(excess > CLEAR * page->dense_ns))
			continue;
		piece = find(pieces, n_pieces, page);
		if (piece)
			work[n++] =
				(piece->spread_ns - piece->dense_ns) / excess;
	}
	return n < MIN_SETS ? NAN : stats_median(work, n);
}

/* True where a point before this one has its block. */
static bool seen(const struct reach_point *points, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (points[k].block == points[i].block)
			return true;
	return false;
}

int splinter_judge(const struct reach_point *pages, size_t n_pages,
		   const struct reach_point *pieces, size_t n_pieces,
		   struct splinter *out)
{
	double *share = calloc(n_pages + 1, sizeof(*share));
	double *work = calloc(n_pages + 1, sizeof(*work));
	size_t n = 0, i;

	*out = (struct splinter){ SPLINTER_UNKNOWN, stats_unknown() };
	if (!share || !work) {
		free(work);
		free(share);
		return -1;
	}
	for (i = 0; i < n_pages; i++) {
		if (seen(pages, i))
			continue;
		share[n] = block_share(pages, n_pages, pieces, n_pieces,
				       pages[i].block, work);
		n += isfinite(share[n]);
	}
	out->share.value = stats_median(share, n);
	out->share.ci95 = stats_t_interval(share, n);
	if (n > 0)
		out->verdict = out->share.value < FEW  ? SPLINTER_NONE :
			       out->share.value > MOST ? SPLINTER_ALL :
							 SPLINTER_SOME;
	free(work);
	free(share);
	return 0;
}
