/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdbool.h>
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

/* About a knee, in w / knee. */
#define RISE_FROM 0.5  /* no access misses, whatever the kind of TLB */
#define RISE_TO 1.5    /* nearly all do */
#define WALK_TO 4.0    /* far enough to see how the walk grows */
#define L1_LARGEST 256 /* a knee of any L1 dTLB is below that */

static bool tells(unsigned int w, size_t index, double knee)
{
	if (w <= L1_LARGEST || (w >= RISE_FROM * knee && w <= RISE_TO * knee))
		return true;
	return w <= WALK_TO * knee && index % 2 == 0;
}

unsigned int *reach_grid_near(unsigned int max, double knee, size_t *n)
{
	size_t all = 0, i;
	unsigned int *grid = reach_grid(max, &all);

	*n = all;
	if (!grid || isnan(knee))
		return grid;
	*n = 0;
	for (i = 0; i < all; i++)
		if (tells(grid[i], i, knee))
			grid[(*n)++] = grid[i];
	return grid;
}
