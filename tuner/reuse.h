/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reuse: how many pages a program touches both before and after a flush, W of
 * the costs, from the pages it touches in a time t and in 2 t. Pure.
 *
 * With R(t) the pages touched in a time t, a program that goes on as it is
 * touches R(t) in each of two successive times t and R(2t) in both together; so
 *
 *	R(t) + R(t) - R(2t)
 *
 * of them in both (inclusion and exclusion). With t the time between two
 * flushes, these are the pages that a full flush makes it fill in again.
 */
#ifndef TLBTUNE_REUSE_H
#define TLBTUNE_REUSE_H

#include <stddef.h>

#include "stats.h"

#define REUSE_WINDOW_MAX_NS 1e8 /* longer is not waited */

/* One look at a process: accessed bits cleared once and counted twice. */
struct reuse_reading {
	double gap_ns;	     /* between its flushes, mean; NAN: unknown */
	double window_ns[2]; /* from the clearing to each count */
	double blur_ns;	     /* these may be wrong by so much */
	double pages[2];     /* touched in that time */
	double huge;	     /* pages mapped by huge entries, at the second */
	double resident;     /* pages */
};

/* How the times between clearing and counting are to those between flushes. */
enum reuse_window {
	REUSE_AS_FLUSHES,
	REUSE_LONGER, /* W is less: it takes that long to count */
	REUSE_SHORTER /* W may be more: REUSE_WINDOW_MAX_NS, or no flush seen */
};

extern const char *const reuse_window_name[];

struct reuse {
	/*
	 * W: the median of the readings, with its interval, which is wider by
	 * what the blur of the windows amounts to. Not the mean: while the
	 * program waits for a CPU it touches nothing, and a look that is
	 * delayed blurs all.
	 */
	struct estimate pages;
	struct summary spread;	  /* of the readings; n = 0: there are none */
	double at_most;		  /* pages; NAN: unknown */
	double window_ns;	  /* medians */
	double gap_ns;		  /* NAN: unknown */
	enum reuse_window window; /* by these medians */
	double huge;		  /* the most of any reading */
};

/*
 * The window for a gap, where a look takes so long (both in ns, the gap may be
 * NAN): that gap, but no less than the look allows, and no more than the limit.
 */
double reuse_window_ns(double gap_ns, double look_ns);

/*
 * W of one reading. Where the second window is not twice the first, R is taken
 * to be linear around it. NAN where the second is not 1.5 to 3 times the first,
 * or a count is missing or cannot be.
 */
double reuse_pages(const struct reuse_reading *reading);

/*
 * What readings [n] say together; those that say nothing are left out. No
 * reading is taken for more than entries (E) pages, unless that is 0: unknown.
 * 0, or -1 with ENOMEM.
 */
int reuse_of(const struct reuse_reading *reading, size_t n,
	     unsigned int entries, struct reuse *out);

#endif
