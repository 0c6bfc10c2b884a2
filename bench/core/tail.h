/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tail: quantiles far out, with intervals that know of bursts. Pure.
 *
 * What delays one call in a thousand (a preempted virtual CPU, an interrupt
 * storm) delays its neighbours too, so that readings in the tail are fewer
 * witnesses than they seem. How the share of late readings differs from time
 * block to time block tells by how much.
 */
#ifndef TLBTUNE_TAIL_H
#define TLBTUNE_TAIL_H

#include "samples.h"

/* The fewest readings that can bound quantile q (0.5 <= q < 1) from above. */
size_t tail_enough(double q);

/*
 * Quantile q of the readings, and its 95 % interval: the quantiles at the ends
 * of an interval of the share of readings beyond it (Woodruff, JASA 47, 1952),
 * whose standard error is that over the time blocks (as of a ratio), or that of
 * independent readings where that is larger. Unknown for fewer readings than
 * tail_enough(q); the interval alone is for one block, or blocks so different
 * that no reading is beyond its end.
 */
struct estimate tail_quantile(const struct samples *samples, double q);

#endif
