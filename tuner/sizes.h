/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sizes: readings of one operation at many sizes, in random order.
 */
#ifndef TLBTUNE_SIZES_H
#define TLBTUNE_SIZES_H

#include <stdint.h>

#include "estimate.h"
#include "probe.h"
#include "samples.h"

struct sizes {
	const unsigned int *n; /* [count] pages */
	size_t count;
	struct samples *readings; /* [count] ns */
	uint32_t *order;	  /* [count] */
};

/* n[count] must outlive the sizes. 0 or -1 with ENOMEM. */
int sizes_open(struct sizes *sizes, const unsigned int *n, size_t count);

/* Add one reading at each size, in an order from seed. 0 or -1 with errno. */
int sizes_round(struct sizes *sizes, const struct probe *probe, uint64_t seed);

/*
 * Warm-up: rounds whose readings are dropped, until two in a row take the same
 * within 2 %, 20 at most. 0 or -1 with errno.
 */
int sizes_warm_up(struct sizes *sizes, const struct probe *probe,
		  uint64_t seed);

/* points[count]: estimate_typical of the readings at each size. */
void sizes_points(const struct sizes *sizes, unsigned int block,
		  struct op_point *points);

void sizes_close(struct sizes *sizes);

#endif
