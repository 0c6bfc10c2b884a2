/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * choice: the ceiling whose worst case is the least bad. Pure.
 *
 * Over the grid n = 1 .. 512 x W x pattern the relative regret of a ceiling in
 * a cell is what it costs there over what the cheaper way costs, less 1. What
 * the choice minimises is the objective. On a hybrid part the cells of every
 * core type count, as there is one knob for all of them.
 *
 * The costs are estimates, and a poor one of a or b can bring the cheaper way
 * near 0 or below. So the difference of the two ways, which depends on neither,
 * is divided by at least CHOICE_FLOOR_NS, and a regret is always finite and
 * never negative. Cells in which a cost is unknown (not finite) are left out.
 */
#ifndef TLBTUNE_CHOICE_H
#define TLBTUNE_CHOICE_H

#include <stddef.h>

#include "cost.h"

/*
 * Less than any flush of user pages takes: in the measurements of Linux commit
 * a5102476a24b none took less than 335 cycles of a CPU of 3.3 GHz.
 */
#define CHOICE_FLOOR_NS 100

enum objective {
	OBJECTIVE_MINIMAX,    /* the largest regret; ties: the smaller mean */
	OBJECTIVE_LATENCY,    /* the mean regret: every call counts the same */
	OBJECTIVE_THROUGHPUT, /* the total one: every ns counts the same */
	OBJECTIVES
};

extern const char *const objective_name[];

struct regret {
	double worst, mean; /* relative, 0.05 = 5 %; NAN: no cell is known */
	double total;	    /* of the sums of costs over all cells */
	double compile;	    /* mean under the flush sizes of a kernel compile */
	/* the first cell of the worst case; worst_n is 0 if there's no regret
	 */
	unsigned int worst_n, worst_w;
	enum pattern worst_pattern;
};

struct choice_grid {
	enum objective objective;
	size_t n_sets;
	unsigned int w[8]; /* 0, 16, 64, 256, 1024, E/2; ascending, unique */
};

struct choice {
	/*
	 * COST_FACTOR_MIN .. COST_FACTOR_MAX and its ceiling; or
	 * COST_FACTOR_STOCK and 0, with an unknown regret, where no cell of the
	 * grid is known or E is not
	 */
	int factor;
	unsigned int pages;
	struct regret regret;
	/* the best plain ceiling in pages, which no factor need reach */
	unsigned int best_pages;
	struct regret best_regret;
};

/*
 * The grid for a TLB of that many entries, 0 where unknown; OBJECTIVE_MINIMAX.
 */
struct choice_grid choice_grid(unsigned int entries);

/*
 * The regret of one ceiling in pages over the grid; one above COST_CLAMP, which
 * a stock kernel may have, does what COST_CLAMP does there.
 */
struct regret choice_regret(const struct cost_model *model,
			    const struct choice_grid *grid,
			    unsigned int ceiling);

/*
 * Choose among all factors, and among all plain ceilings. Of equals, such as
 * factors with the same ceiling, the smallest is taken. Takes about 0.1 ms, so
 * that a bootstrap can choose again for each resampled model. entries is E, or
 * 0 where that is unknown: then there is a best plain ceiling only.
 */
struct choice choice_make(const struct cost_model *model,
			  const struct choice_grid *grid, unsigned int entries);

/*
 * Below so much it is better to leave a setting alone: two runs on the same
 * machine differ by more than what it would gain.
 */
#define CHOICE_GAIN_MIN 0.03

/*
 * What changing from one ceiling to another gains by the objective: 0.05 where
 * the worst case (or mean, or total) then costs 5 % less than it does. Negative
 * where it loses, NAN where either is unknown.
 */
double choice_gain(const struct regret *from, const struct regret *to,
		   enum objective objective);

/*
 * Share of the cells of the grid, 0..1, in which a cost is extrapolated: page
 * by page above the ceiling in force, or W above the last measured set. (The
 * full flush below that ceiling does not count: its line is pinned by a, from
 * the other side.) COST_CLAMP for the ceiling where both ways were measured at
 * every n.
 */
double choice_extrapolated(const struct cost_model *model,
			   const struct choice_grid *grid,
			   unsigned int ceiling_in_force);

#endif
