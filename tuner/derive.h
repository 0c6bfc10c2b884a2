/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * derive: from a record to costs, break-even and factor. Pure: the same record
 * gives the same findings.
 */
#ifndef TLBTUNE_DERIVE_H
#define TLBTUNE_DERIVE_H

#include <stdint.h>

#include "choice.h"
#include "record.h"

/* How many resamples of the time blocks say how sure the choice is. */
#define DERIVE_BOOTSTRAPS 500

/* A held-out working set: what the fit predicts against what was measured. */
struct check {
	enum pattern pattern;
	unsigned int w, n;   /* pages; at n page by page, at n + 1 full */
	double predicted_ns; /* cost at n + 1 less cost at n */
	struct estimate measured_ns;
	double error; /* |predicted - measured| over the larger of c_f + D(W)
		       * and n*c_i */
};

struct findings;

/* What is asked of a record. */
struct question {
	uint64_t seed; /* of the bootstrap */
	enum objective objective;
	unsigned int bootstraps; /* 0: DERIVE_BOOTSTRAPS */
	unsigned int entries;	 /* E to choose for; 0: what was measured */
	/* another core type, with costs, for which the choice must hold too */
	const struct findings *also; /* or NULL */
};

struct findings {
	struct step step;
	bool step_by_knob; /* the timings alone showed no such step */
	struct reach reach;
	unsigned int entries; /* E rounded, 0: unknown */
	bool page_flush_empties_tlb;
	/* Why there is no factor: a sentence, or NULL where there is one. */
	const char *reason;

	/*
	 * The costs; fit.n_blocks is 0 where there are none. The intervals in
	 * fit and refill are those of this run's average; costs and pages have
	 * the same values with intervals for another run (repeat.h).
	 */
	struct fit fit;
	struct costs {
		struct estimate a, b, c_i, c_f;
	} costs;
	struct both both;      /* the same costs, where a knob could be moved */
	struct refill *refill; /* [n_refill], by pattern then w; w = 0 first */
	struct estimate *pages; /* [n_refill] break-even */
	size_t n_refill;
	struct check *check; /* [n_check] */
	size_t n_check;

	/* The choice, without a reason against one. */
	struct cost_model model;
	struct choice_grid grid;
	struct choice choice;
	struct regret in_force, stock; /* pages_in_force; 33 pages */
	unsigned int pages_in_force;
	/*
	 * What choice.pages and choice.best_pages gain over what is in force;
	 * below CHOICE_GAIN_MIN it is better left alone.
	 */
	struct estimate gain, gain_pages;
	double agreement; /* share of bootstraps with the same factor */
	double pages_lo, pages_hi; /* their middle 95 % of ceilings */
	unsigned int measured;	   /* pages, the largest timed page by page */
	double extrapolated;	   /* share of the grid's cells */
};

/* The ceiling of stock kernels, pages: a5102476a24b (Linux 3.17). */
#define DERIVE_STOCK_CEILING 33

/*
 * The step to measure the costs around, from what the search and the knob have
 * shown so far. 0, or -1 with errno (EINVAL: every time is 0; ENOMEM).
 */
int derive_search_step(const struct record *record, struct step *step);

/* Returns 0, or -1 with errno: EINVAL (too little was measured), ENOMEM. */
int derive(const struct record *record, const struct question *question,
	   struct findings *out);

void derive_free(struct findings *findings);

#endif
