/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cells: an mprotect and the accesses after it, timed for sizes, working sets
 * and patterns that tune does not measure.
 */
#ifndef TLBTUNE_GUEST_CELLS_H
#define TLBTUNE_GUEST_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "access.h"
#include "area.h"

#define CELLS_SIZES 12
#define CELLS_LISTS 6 /* working sets times patterns */
#define CELLS (CELLS_SIZES * CELLS_LISTS)

/* Pages of the call, ascending. */
extern const unsigned int cells_sizes[CELLS_SIZES];

struct cells {
	struct area target;
	struct area set[CELLS_LISTS]; /* chases leave their links there */
	struct access access[CELLS_LISTS];
};

/* Bails out of the test without memory. */
void cells_open(struct cells *cells);
void cells_close(struct cells *cells);

/* True if tune measures none of these sizes and working sets here. */
bool cells_are_held_out(void);

/* Pages of the call of a cell 0 .. CELLS - 1. */
long cells_pages(size_t cell);

/* ns of its call and of one pass of accesses after it. */
double cells_time(struct cells *cells, size_t cell);

/* "n = 10, 40 pages of random writes" into text. */
void cells_name(size_t cell, char *text, size_t size);

#endif
