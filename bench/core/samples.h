/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samples: a growing array of readings in time order, in time blocks.
 *
 * Readings of one block share its memory, its moment and its machine: they know
 * of each other, and only what differs from block to block tells how far
 * another run may come out.
 */
#ifndef TLBTUNE_SAMPLES_H
#define TLBTUNE_SAMPLES_H

#include <stddef.h>

#include "stats.h"

struct samples {
	double *x;
	size_t n, room;
	size_t *end; /* [blocks] readings up to the end of each block */
	size_t blocks, end_room;
};

/* Make room for more readings now, so that none is added in a timed window. */
int samples_reserve(struct samples *samples, size_t more);

/* Add a reading. 0, or -1 with ENOMEM (never after samples_reserve). */
int samples_add(struct samples *samples, double x);

/*
 * End a time block: what was added since the last end belongs together; if
 * nothing was, there is no block. 0, or -1 with ENOMEM.
 */
int samples_end_block(struct samples *samples);

/*
 * The summary of all readings, each divided by per, with the interval over the
 * time blocks. 0, or -1 with errno (EINVAL: no readings, ENOMEM).
 */
int samples_summarise(const struct samples *samples, double per,
		      struct summary *out);

void samples_free(struct samples *samples);

#endif
