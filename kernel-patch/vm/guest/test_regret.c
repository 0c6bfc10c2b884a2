/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * regret ENTRIES SECONDS: what tune --write-sysctl measures and chooses here,
 * against every other choice there is.
 *
 * Each factor is brought into force in turn (without factors, each ceiling that
 * makes a difference), and calls and accesses are timed that tune has not
 * measured (cells.h). In a cell a choice is one of two ways, so all choices
 * that take the same one say together what it costs. That over what the better
 * way costs is the regret of a choice. What tune minimises is the largest; that
 * of its choice may exceed that of the best by 5 %. The stock ceiling's stands
 * beside it.
 *
 * The knob really moves here, so tune must have timed both ways with it, and
 * say whether they cost what it finds without.
 */
#include <config.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cells.h"
#include "guest.h"
#include "knob.h"
#include "random.h"
#include "tap.h"
#include "tuner.h"

#define LOG "/tmp/regret.log"
#define LIMIT 0.05
#define OFF_LIMIT 0.2	/* of the times under one choice, over all cells */
#define DIFFER_MIN 0.5	/* the worst regret, as the knob acts */
#define ROUNDS 9	/* after one for warming up */
#define LAST_FACTOR 10	/* one page with E of 512, as with the 9th */
#define STOCK_FACTOR -2 /* STOCK_CEILING */
#define ARMS 16

/* The ways to flush, and what they were seen to cost in each cell. */
enum { PAGE_BY_PAGE, FULL, WAYS };

/* A choice that there is. */
struct arm {
	long factor; /* KNOB_UNKNOWN: this kernel has none */
	long pages;  /* that go page by page at most */
	double ns[CELLS][ROUNDS];
	double worst, mean; /* regret over all cells */
	size_t worst_cell;
	double off; /* what was timed under it over what its ways cost */
};

struct arms {
	struct arm arm[ARMS];
	size_t count;
};

/* the choices ------------------------------------------------------------- */

static size_t find_arm(const struct arms *arms, long factor, long pages)
{
	size_t i;

	for (i = 0; i < arms->count; i++)
		if (arms->arm[i].factor == factor &&
		    arms->arm[i].pages == pages)
			break;
	return i;
}

static void add_arm(struct arms *arms, long factor, long pages)
{
	if (find_arm(arms, factor, pages) == arms->count)
		arms->arm[arms->count++] =
			(struct arm){ .factor = factor, .pages = pages };
}

/*
 * All factors; without them all ceilings that differ for these sizes. The
 * stock ceiling first, and what is in force.
 */
static void list_arms(struct arms *arms, const struct tuner_values *now)
{
	if (!tuner_has_factor()) {
		add_arm(arms, KNOB_UNKNOWN, STOCK_CEILING);
		add_arm(arms, KNOB_UNKNOWN, 0);
		for (size_t i = 0; i < CELLS_SIZES; i++)
			add_arm(arms, KNOB_UNKNOWN, cells_sizes[i]);
		add_arm(arms, KNOB_UNKNOWN, now->ceiling);
		return;
	}
	for (long factor = STOCK_FACTOR; factor <= LAST_FACTOR; factor++)
		add_arm(arms, factor,
			(long)knob_ceiling_halving(
				factor, (unsigned long)now->entries));
	add_arm(arms, now->factor, now->pages);
}

static bool set_arm(const struct arm *arm)
{
	if (arm->factor == KNOB_UNKNOWN)
		return knob_write(KNOB_CEILING, arm->pages) == 0;
	return knob_write(KNOB_FACTOR, arm->factor) == 0 &&
	       knob_read(KNOB_PAGES) == arm->pages;
}

/* what they cost ---------------------------------------------------------- */

/* Every cell under every choice once, both in an order of chance. */
static bool sweep_round(struct arms *arms, struct cells *cells, int round)
{
	uint32_t order[ARMS], cell[CELLS];

	for (size_t i = 0; i < arms->count; i++)
		order[i] = (uint32_t)i;
	for (size_t k = 0; k < CELLS; k++)
		cell[k] = (uint32_t)k;
	random_shuffle(order, arms->count, (uint64_t)round);
	for (size_t i = 0; i < arms->count; i++) {
		struct arm *arm = &arms->arm[order[i]];

		if (!set_arm(arm))
			return false;
		random_shuffle(cell, CELLS, random_stream((uint64_t)round, i));
		for (size_t k = 0; k < CELLS; k++) {
			double ns = cells_time(cells, cell[k]);

			if (round >= 0)
				arm->ns[cell[k]][round] = ns;
		}
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
	qsort(x, n, sizeof(*x), compare);
	return x[n / 2];
}

static int way_of(const struct arm *arm, size_t cell)
{
	return cells_pages(cell) <= arm->pages ? PAGE_BY_PAGE : FULL;
}

/* What a way costs in a cell: all choices that take it there were timed. */
static double way_ns(const struct arms *arms, size_t cell, int way)
{
	double ns[ARMS * ROUNDS];
	size_t n = 0;

	for (size_t i = 0; i < arms->count; i++)
		for (int round = 0; round < ROUNDS; round++)
			if (way_of(&arms->arm[i], cell) == way)
				ns[n++] = arms->arm[i].ns[cell][round];
	return n ? median(ns, n) : NAN;
}

static void judge_cell(struct arms *arms, size_t cell)
{
	const double ns[WAYS] = { way_ns(arms, cell, PAGE_BY_PAGE),
				  way_ns(arms, cell, FULL) };

	for (size_t i = 0; i < arms->count; i++) {
		struct arm *arm = &arms->arm[i];
		const double own = ns[way_of(arm, cell)];
		const double regret =
			own / fmin(ns[PAGE_BY_PAGE], ns[FULL]) - 1;

		arm->mean += regret / CELLS;
		arm->off += median(arm->ns[cell], ROUNDS) / own / CELLS;
		if (regret >= arm->worst) {
			arm->worst = regret;
			arm->worst_cell = cell;
		}
	}
}

static void tell(const struct arms *arms)
{
	char name[128];

	diag("%6s %6s %7s %8s %8s", "factor", "pages", "timed", "worst %",
	     "mean %");
	for (size_t i = 0; i < arms->count; i++) {
		const struct arm *arm = &arms->arm[i];
		char factor[32] = "-";

		if (arm->factor != KNOB_UNKNOWN)
			snprintf(factor, sizeof(factor), "%ld", arm->factor);
		cells_name(arm->worst_cell, name, sizeof(name));
		diag("%6s %6ld %7.3f %8.1f %8.1f  %s", factor, arm->pages,
		     arm->off, 100 * arm->worst, 100 * arm->mean, name);
	}
}

static void check_regret(const struct arms *arms, const struct arm *chosen)
{
	const struct arm *stock = &arms->arm[0], *best = stock;
	double over, over_stock, off = 0, differ = 0;

	for (size_t i = 0; i < arms->count; i++) {
		if (arms->arm[i].worst < best->worst)
			best = &arms->arm[i];
		off = fmax(off, fabs(arms->arm[i].off - 1));
		differ = fmax(differ, arms->arm[i].worst);
	}
	over = (1 + chosen->worst) / (1 + best->worst) - 1;
	over_stock = (1 + stock->worst) / (1 + best->worst) - 1;
	tell(arms);
	ok(differ >= DIFFER_MIN, "the choices differ: regrets of up to %.0f %%",
	   100 * differ);
	ok(off <= OFF_LIMIT,
	   "each costs what its ways cost, on average within %.1f %%",
	   100 * off);
	ok(over <= LIMIT,
	   "%ld pages are chosen: a regret of %.1f %% over the best of %zu "
	   "choices, %ld pages; the stock ceiling's: %.1f %%",
	   chosen->pages, 100 * over, arms->count, best->pages,
	   100 * over_stock);
}

/* Measure them all, and put the one in force back. */
static void sweep(const struct tuner_values *now)
{
	struct arms *arms = calloc(1, sizeof(*arms));
	struct cells cells;
	bool good = arms != NULL;
	size_t chosen = 0;

	cells_open(&cells);
	if (good) {
		list_arms(arms, now);
		chosen = find_arm(arms, now->factor,
				  tuner_has_factor() ? now->pages :
						       now->ceiling);
	}
	for (int round = -1; good && round < ROUNDS; round++)
		good = sweep_round(arms, &cells, round);
	if (ok(good, "each choice is in force in turn")) {
		for (size_t cell = 0; cell < CELLS; cell++)
			judge_cell(arms, cell);
		good = set_arm(&arms->arm[chosen]);
		ok(good, "the one chosen is in force again");
		check_regret(arms, &arms->arm[chosen]);
	}
	cells_close(&cells);
	free(arms);
}

/* Both ways were timed by moving the knob, and there is a verdict. */
static void check_both(void)
{
	ok(tuner_says(LOG, "The same with the knob: both ways at every size"),
	   "both ways were timed with the knob");
	ok(!tuner_says(LOG, "Moving the knob changed nothing"),
	   "... which was seen to act");
	ok(tuner_says(LOG, "The intervals of all four overlap") ||
		   tuner_says(LOG, "DISAGREES with the costs above, most in"),
	   "... with a verdict on the costs without it");
	ok(access(TUNER_JOURNAL, F_OK) < 0, "... and is no longer moved");
}

int test_regret(int argc, char **argv)
{
	const char *entries = argc > 1 ? argv[1] : "512";
	const char *seconds = argc > 2 ? argv[2] : "10";
	const char *const tune[] = { "tune",  "--write-sysctl", "--tlb-entries",
				     entries, "--max-time",	seconds,
				     NULL };
	static const char *const undo[] = { "tune", "--undo", NULL };
	struct tuner_values old, now;

	ok(cells_are_held_out(), "tune measures no size and set of these");
	tuner_values(&old);
	is_int(tuner_run(LOG, tune), 0, "tune --write-sysctl");
	tuner_show(LOG);
	check_both();
	tuner_values(&now);
	sweep(&now);
	is_int(tuner_run(LOG, undo), 0, "tune --undo");
	tuner_values(&now);
	ok(tuner_same(&now, &old), "the values are those of before");
	return done();
}
