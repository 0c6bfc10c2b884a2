/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "reach.h"

/* Steps of 8 up to here, where they are 6 %: so sizes of L1 dTLBs are in it. */
#define FINE_TO 128

/* The next point of the grid. */
static unsigned int grid_next(unsigned int w)
{
	return w < FINE_TO ? w + 8 : w + w / 16;
}

unsigned int *reach_grid(unsigned int max, size_t *n)
{
	unsigned int *grid, w;
	size_t count = 0;

	for (w = 16; w <= max && w < 1u << 31; w = grid_next(w))
		count++;
	grid = calloc(count + 1, sizeof(*grid));
	if (!grid)
		return NULL;
	*n = 0;
	for (w = 16; *n < count; w = grid_next(w))
		grid[(*n)++] = w;
	return grid;
}
