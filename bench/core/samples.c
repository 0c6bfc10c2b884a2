/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "samples.h"

int samples_reserve(struct samples *samples, size_t more)
{
	size_t room = samples->n + more;
	double *x;

	if (room <= samples->room)
		return 0;
	if (room < 2 * samples->room)
		room = 2 * samples->room;
	x = reallocarray(samples->x, room, sizeof(*x));
	if (!x)
		return -1;
	samples->x = x;
	samples->room = room;
	return 0;
}

int samples_add(struct samples *samples, double x)
{
	if (samples_reserve(samples, 1) < 0)
		return -1;
	samples->x[samples->n++] = x;
	return 0;
}

int samples_end_block(struct samples *samples)
{
	size_t blocks = samples->blocks, room;
	size_t *end;

	if (samples->n == (blocks ? samples->end[blocks - 1] : 0))
		return 0;
	if (blocks == samples->end_room) {
		room = 2 * samples->end_room + STATS_BLOCKS;
		end = reallocarray(samples->end, room, sizeof(*end));
		if (!end)
			return -1;
		samples->end = end;
		samples->end_room = room;
	}
	samples->end[samples->blocks++] = samples->n;
	return 0;
}

int samples_summarise(const struct samples *samples, double per,
		      struct summary *out)
{
	double *x = calloc(samples->n + 1, sizeof(*x));
	size_t i;
	int status;

	if (!x)
		return -1;
	for (i = 0; i < samples->n; i++)
		x[i] = samples->x[i] / per;
	status = stats_summarise_blocks(x, samples->n, samples->end,
					samples->blocks, out);
	free(x);
	return status;
}

void samples_free(struct samples *samples)
{
	free(samples->x);
	free(samples->end);
	*samples = (struct samples){ 0 };
}
