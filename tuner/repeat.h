/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repeat: how far another run on the same machine may come out. Pure.
 *
 * The estimator's interval is that of the average over one run, around a trend
 * (series.h). Machines also wander, in spells of a third of a second to longer
 * than a run, so that blocks close to each other know of each other and runs
 * minutes apart differ more than that interval says. The interval for another
 * run takes the spread of all blocks, trend included, as if a run held only
 * REPEAT_INDEPENDENT independent values. It is wide where the machine stands
 * still: in ten runs in a row nine should find the median of the ten inside.
 */
#ifndef TLBTUNE_REPEAT_H
#define TLBTUNE_REPEAT_H

#include <stddef.h>

#include "stats.h"

#define REPEAT_INDEPENDENT 4

/*
 * run with its interval widened to that of another run, centred on run's value.
 * x[n]: one value per time block, NAN where a block has none. As it is where
 * fewer than REPEAT_INDEPENDENT blocks have one.
 */
struct estimate repeat_widen(const struct estimate *run, const double *x,
			     size_t n);

#endif
