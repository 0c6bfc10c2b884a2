/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "meter.h"
#include "rounds.h"
#include "why.h"

/*
 * Blocks that share the time, when it may be too short for each of them. On a
 * machine so busy that none is left they are measured all the same.
 */
#define BLOCKS_MIN 3

/*
 * The first blocks of other curves, and each how many of those that follow. To
 * find huge pages and clear them takes up to ten times what accesses to them
 * do.
 */
#define PATTERN_FIRST 1
#define PIECES_FIRST 5
#define HUGE_FIRST 6
#define OTHERS_EVERY 2
#define HUGE_EVERY 6

static double spent(const struct rounds *rounds)
{
	const struct clock *clock = rounds->measure->clock;

	return clock_seconds(clock, rounds->start, clock_now(clock));
}

static bool in_turn(unsigned int block, unsigned int first, unsigned int every)
{
	return block >= first && (block - first) % every == 0;
}

/* Is another curve than the first measured in this block? */
static bool is_due(const struct rounds *rounds, const struct latency *curve,
		   unsigned int block)
{
	double left = rounds->seconds - spent(rounds);

	if (curve->why || left < curve->took)
		return false;
	if (curve->memory == REACH_4K || curve->pattern != PATTERN_CHASE)
		return in_turn(block, PATTERN_FIRST, OTHERS_EVERY);
	if (curve->n == 0 && left < rounds->seconds / 2)
		return false;
	return curve->memory == REACH_2M ?
		       in_turn(block, HUGE_FIRST, HUGE_EVERY) :
		       in_turn(block, PIECES_FIRST, OTHERS_EVERY);
}

/* One block of a curve, in so many seconds. */
static int measure_curve(const struct rounds *rounds, struct latency *curve,
			 unsigned int block, double seconds, char **why)
{
	struct reach_plan plan = {
		.memory = curve->memory,
		.huge = curve->huge,
		.pattern = curve->pattern,
		.pages = curve->pages,
		.flush = rounds->flush,
		.first_block = block,
		.blocks = 1,
		.seconds = seconds,
	};
	double before = spent(rounds);
	int status;

	meter_show("%s, block %u ...", reach_memory_name[curve->memory],
		   block + 1);
	status = measure_reach(rounds->measure, &plan, &curve->points,
			       &curve->n, why);
	curve->took = fmax(curve->took, spent(rounds) - before);
	return status;
}

/* What cannot be measured is not tried again. */
static int measure_others(const struct rounds *rounds, struct latencies *all,
			  unsigned int block, double seconds)
{
	size_t i;

	for (i = 1; i < all->n && !*rounds->measure->stop; i++) {
		struct latency *curve = &all->curve[i];

		if (is_due(rounds, curve, block) &&
		    measure_curve(rounds, curve, block, seconds, &curve->why) <
			    0 &&
		    !curve->why)
			return -1;
	}
	return 0;
}

static int explain_missing(struct latencies *all)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		struct latency *curve = &all->curve[i];

		if (curve->n || curve->why)
			continue;
		curve->why = strdup("no time was left for it");
		if (!curve->why)
			return -1;
	}
	return 0;
}

int rounds_run(const struct rounds *rounds, struct latencies *all, char **why)
{
	struct latency *first = &all->curve[0];
	unsigned int block;

	*why = NULL;
	for (block = 0; block < rounds->most && !*rounds->measure->stop;
	     block++) {
		double left = rounds->seconds - spent(rounds);
		double seconds = INFINITY;

		if (block >= BLOCKS_MIN && left < first->took)
			break;
		if (block < BLOCKS_MIN)
			seconds = fmax(left, 0.1) / (BLOCKS_MIN - block);
		if (measure_curve(rounds, first, block,
				  seconds / (block ? (double)all->n : 1),
				  why) < 0 ||
		    measure_others(rounds, all, block,
				   seconds / (double)all->n) < 0)
			return -1;
	}
	meter_end();
	return explain_missing(all);
}
