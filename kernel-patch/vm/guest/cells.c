/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cells: see cells.h.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cells.h"
#include "guest.h"
#include "plan.h"
#include "tap.h"

/* Two an octave, between those that tune measures: all of 25 .. 42. */
const unsigned int cells_sizes[CELLS_SIZES] = { 7,   10,  14,  18,  50,	 70,
						100, 141, 200, 282, 398, 505 };
static const unsigned int sets[] = { 2, 160, 900 };
static const struct {
	const char *name;
	enum pattern pattern;
	bool write;
	size_t stride; /* pages */
} patterns[] = {
	{ "random writes", PATTERN_RANDOM, true, 1 },
	{ "a chase through every third page", PATTERN_CHASE, false, 3 },
};

#define SETS (sizeof(sets) / sizeof(*sets))
#define PATTERNS_HERE (sizeof(patterns) / sizeof(*patterns))

_Static_assert(SETS *PATTERNS_HERE == CELLS_LISTS, "CELLS_LISTS");

void cells_open(struct cells *cells)
{
	area_open(&cells->target, PLAN_LARGEST, false);
	for (size_t i = 0; i < CELLS_LISTS; i++) {
		const unsigned int w = sets[i % SETS];
		const size_t at = i / SETS, stride = patterns[at].stride;

		area_open(&cells->set[i], w * stride, false);
		if (access_open(&cells->access[i], patterns[at].pattern,
				patterns[at].write, cells->set[i].target, w,
				stride * PAGE, i) < 0) {
			printf("Bail out! no memory\n");
			exit(EXIT_FAILURE);
		}
	}
}

void cells_close(struct cells *cells)
{
	for (size_t i = 0; i < CELLS_LISTS; i++) {
		access_close(&cells->access[i]);
		area_close(&cells->set[i]);
	}
	area_close(&cells->target);
}

static bool contains(const unsigned int *list, size_t n, unsigned int x)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == x)
			return true;
	return false;
}

bool cells_are_held_out(void)
{
	unsigned int both[PLAN_SIZES];
	const size_t n_both = plan_gap_sizes(32, PLAN_LARGEST, both);
	bool held_out = true;
	struct plan plan;

	if (plan_open(&plan, STOCK_CEILING, 512) < 0)
		return false;
	for (size_t i = 0; i < CELLS_SIZES; i++)
		held_out &= !contains(plan.n, plan.n_sizes, cells_sizes[i]) &&
			    !contains(both, n_both, cells_sizes[i]);
	for (size_t i = 0; i < SETS; i++)
		held_out &= !contains(plan.w, plan.n_sets, sets[i]);
	plan_close(&plan);
	return held_out;
}

static double nanoseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

long cells_pages(size_t cell)
{
	return cells_sizes[cell % CELLS_SIZES];
}

double cells_time(struct cells *cells, size_t cell)
{
	const size_t n = cells_sizes[cell % CELLS_SIZES];
	const struct access *access = &cells->access[cell / CELLS_SIZES];
	double begin, end;

	/* Present and dirty, and the working set in the TLB. */
	area_prepare(&cells->target, n);
	access_passes(access, 2);
	begin = nanoseconds();
	area_operate(&cells->target, AREA_MPROTECT, n);
	access_pass(access);
	end = nanoseconds();
	area_restore(&cells->target, AREA_MPROTECT, n);
	return end - begin;
}

void cells_name(size_t cell, char *text, size_t size)
{
	const size_t list = cell / CELLS_SIZES;

	snprintf(text, size, "n = %u, W = %u, %s",
		 cells_sizes[cell % CELLS_SIZES], sets[list % SETS],
		 patterns[list / SETS].name);
}
