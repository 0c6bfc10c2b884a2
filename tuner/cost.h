/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cost: what an operation on n pages costs its caller under a policy. Pure.
 *
 *	page by page	a + n*(b + c_i)
 *	full		a + n*b + c_f + D(W, pattern)
 *
 * D is the part of the refill that only the full flush causes (estimate.h).
 * The parameters are estimates: a cost may come out below 0, and is NAN where a
 * parameter it needs is.
 */
#ifndef TLBTUNE_COST_H
#define TLBTUNE_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "access.h"

/* Bounds the time a CPU spends in INVLPG with interrupts off, pages. */
#define COST_CLAMP 512

/* The kernel's policy: factors are right shifts of E; design: -1 .. 16. */
#define COST_FACTOR_MIN (-1)
#define COST_FACTOR_MAX 16
#define COST_FACTOR_STOCK (-2) /* no factor: the stock rule of the kernel */

struct cost_model {
	double a, b, c_i, c_f; /* ns, ns/page */
	size_t n_sets;
	unsigned int *w;	  /* [n_sets] ascending, pages; no 0 */
	double (*step)[PATTERNS]; /* [n_sets][pattern] D(W) in ns */
	/* that of another core type, for which a choice must hold as well */
	const struct cost_model *next;
};

/*
 * D(w, pattern) in ns: 0 for w = 0, linear in w between the measured sets, and
 * below the first; constant above the last. NAN where no set was measured.
 * *extrapolated is set when w is above the last measured set, left alone
 * otherwise; extrapolated may be NULL.
 */
double cost_step(const struct cost_model *model, unsigned int w,
		 enum pattern pattern, bool *extrapolated);

/* Both in ns, for a flush of n pages. */
double cost_page(const struct cost_model *model, unsigned int n);
double cost_full(const struct cost_model *model, unsigned int n, unsigned int w,
		 enum pattern pattern);

/*
 * The kernel's ceiling in pages for a factor: min(COST_CLAMP, max(1, E >> f)),
 * and 0 for -1. entries must not be 0.
 */
unsigned int cost_ceiling(int factor, unsigned int entries);

#endif
