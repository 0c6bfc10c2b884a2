/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate: from timings on an unmodified kernel to the costs of the two ways
 * to flush. Pure.
 *
 * A flush of n pages goes page by page iff n <= C, the ceiling in force, and
 * everything else is the same on both sides of C:
 *
 *	T(n) = a + b*n + [n <= C]*c_i*n + [n > C]*c_f
 *
 * The re-access of a working set of W pages after the operation costs more
 * where its translations were lost; the difference between the sides of C is
 *
 *	D(W) = R_full(W) - R_page(W)
 *
 * (W*r where INVLPG spares the rest of the TLB; 0 where INVLPG itself empties
 * it, as with 2 MiB guest pages that the hypervisor maps in 4 KiB ones). Then
 *
 *	n*(W) = (c_f + D(W)) / c_i
 *
 * which may be below 1: the full flush is cheaper even for one page.
 *
 * What an interval covers: the average over the time of the run. Costs are mean
 * costs, and n* is the ratio of mean costs, which needs no logarithm of what
 *may be 0. Time blocks of equal length fill the run and are fitted one by one,
 *so what drifts or switches is averaged as it was (series.h). Fresh memory in
 *each block makes placement part of the noise. Another run may find the machine
 * elsewhere: that is what drift and regimes tell.
 */
#ifndef TLBTUNE_ESTIMATE_H
#define TLBTUNE_ESTIMATE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "access.h"
#include "stats.h"

/*
 * What one kind of reading in one block typically took: the mean of the samples
 * within 3 scaled MADs of the median. Where a tenth of the samples is
 * interrupted the interquartile mean moves by 0.15 standard deviations, as much
 * as a whole run is precise; this does not follow, and it wastes fewer of the
 * others. NAN for n = 0 or on ENOMEM.
 */
double estimate_typical(const double *ns, size_t n);

/* The time of an operation on n pages in one time block. */
struct op_point {
	unsigned int block; /* 0 .. blocks - 1, in time order */
	unsigned int n;	    /* pages, at least 1 */
	unsigned int count; /* samples behind ns, at least 1 */
	double ns;	    /* estimate_typical of them */
};

/* Whether a point says anything; others are left out everywhere. */
static inline bool op_point_known(const struct op_point *point)
{
	return point->n && point->count && isfinite(point->ns) && point->ns > 0;
}

/* Passes over a working set in one time block; ns per pass over w pages. */
struct refill_point {
	unsigned int block;
	enum pattern pattern;
	unsigned int w;	    /* pages */
	unsigned int count; /* pairs behind it */
	double warm_ns;	    /* before the operation */
	double page_ns;	    /* after an operation of n <= C, close to C */
	double full_ns;	    /* after an operation of n > C, close to C */
	double step_ns;	    /* estimate_typical of the paired full - page */
};

/* What decides about a flush of n pages, as seen from outside. */
enum step_kind {
	STEP_FOUND,    /* page by page up to the ceiling, full above it */
	STEP_ALL_FULL, /* every size is flushed fully: ceiling 0, Xen PV, ... */
	STEP_ALL_PAGE, /* no size measured is flushed fully */
	STEP_NONE,     /* no step, and the re-access cannot tell which */
};

struct step {
	enum step_kind kind;
	unsigned int ceiling; /* C in pages (= below), with STEP_FOUND */
	/*
	 * With STEP_FOUND: the range in which C is unique given the points,
	 * i.e. no n was measured strictly between these two. C is known when
	 * above = below + 1; until then measure in between and ask again.
	 */
	unsigned int below, above; /* largest n <= C, smallest n > C measured */
	/*
	 * c_i*C - c_f in ns: how far T drops at C; negative: it rises, as it
	 * does where the ceiling is below c_f/c_i.
	 */
	double height_ns;
	/*
	 * How sure, in standard errors: the root of what the step explains of
	 * T(n), change of slope included, over the variance.
	 */
	double confidence;
};

/*
 * The re-access evidence that tells STEP_ALL_FULL from STEP_ALL_PAGE: ns per
 * pass over one working set, warm, and after the smallest and the largest n.
 * Any NAN: no such evidence.
 */
struct reaccess {
	double warm_ns, small_ns, large_ns;
	double noise_ns; /* standard error of each */
};

/*
 * Find the ceiling in force as the change point of T(n). points need not be
 * sorted; reaccess may be NULL. If every block holds every n, once, C is sought
 * within the blocks, and what differs between them does not matter; otherwise
 * in the medians over the blocks. Returns 0, or -1 with errno (EINVAL: fewer
 * than 8 distinct n; ENOMEM).
 *
 * Where c_i*C - c_f is within about c_i of 0, C may be found one off: the two
 * ways then take the same time there.
 *
 * Without a step, re-accesses that are warm after the largest n mean that
 * nothing is flushed fully. Cold after the smallest n (and the largest) is what
 * full flushes do, and INVLPG too where it empties the TLB; then it is
 * STEP_ALL_FULL only if a page adds no more to T(n) than changing its PTE does.
 */
int estimate_step(const struct op_point *points, size_t n_points,
		  const struct reaccess *reaccess, struct step *out);

/* The costs in one time block, ns and ns/page; NAN where not determined. */
struct block_fit {
	unsigned int block;
	double a, b, c_i, c_f;
};

/* Two levels of one cost within a run. */
struct regimes {
	bool found;
	double low, high;  /* ns; NAN if not found */
	double high_share; /* of the time, 0..1; NAN if not found */
};

struct fit {
	struct step step;
	struct estimate a, b, c_i, c_f; /* unknown where not determined */
	size_t n_blocks;
	struct block_fit *blocks; /* [n_blocks] in time order */
	double drift;		  /* c_i: last third over first third, - 1 */
	struct regimes regimes;	  /* of c_i */
};

/*
 * Fit the four costs, block by block, given the ceiling. In a block, a needs at
 * least 4 distinct n <= C, b at least 4 above, c_i and c_f both; an estimate
 * needs 3 blocks. What is not determined is unknown. Returns 0, or -1 with
 * errno (EINVAL: no step or fewer than 3 blocks; ENOMEM).
 */
int estimate_fit(const struct op_point *points, size_t n_points,
		 const struct step *step, struct fit *out);

void estimate_fit_free(struct fit *fit);

/* The refill of one working set and pattern over a run. ns per page of W. */
struct refill {
	enum pattern pattern;
	unsigned int w;
	struct estimate warm;	/* a pass over the warm set, per page */
	struct estimate refill; /* full - warm: what a full flush costs later */
	struct estimate step;  /* (full - page): what INVLPG would have saved */
	struct estimate pages; /* n*(W): break-even, pages; may be below 1 */
	size_t n_blocks;
	double *block_step_ns; /* [n_blocks] D(W) per block, as fit->blocks */
};

/*
 * Combine a fit with the refill points of one (pattern, w). Blocks without a
 * point are left out (NAN in block_step_ns). Returns 0, or -1 with errno
 * (EINVAL: no such point in any block of the fit; ENOMEM).
 */
int estimate_refill(const struct fit *fit, const struct refill_point *points,
		    size_t n_points, enum pattern pattern, unsigned int w,
		    struct refill *out);

void estimate_refill_free(struct refill *refill);

/*
 * True when a flush page by page costs the working set its translations as a
 * full one does: page_ns - warm_ns is not below three quarters of
 * full_ns - warm_ns, over all points, and that excess is there at all.
 */
bool estimate_page_flush_empties_tlb(const struct refill_point *points,
				     size_t n_points);

#endif
