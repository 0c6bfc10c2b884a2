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

void samples_free(struct samples *samples)
{
	free(samples->x);
	*samples = (struct samples){ 0 };
}
