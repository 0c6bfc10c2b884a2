/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samples: a growing array of readings in time order.
 */
#ifndef TLBTUNE_SAMPLES_H
#define TLBTUNE_SAMPLES_H

#include <stddef.h>

struct samples {
	double *x;
	size_t n, room;
};

/* Make room for more readings now, so that none is added in a timed window. */
int samples_reserve(struct samples *samples, size_t more);

/* Add a reading. 0, or -1 with ENOMEM (never after samples_reserve). */
int samples_add(struct samples *samples, double x);

void samples_free(struct samples *samples);

#endif
