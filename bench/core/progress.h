/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress: proof that the threads of a team run at this very moment.
 *
 * The kernel interrupts CPUs that run a thread of this process, and no others;
 * a hypervisor may have stopped a CPU without the kernel knowing. So what a
 * call takes that has to interrupt other CPUs means something only if each of
 * them ran one of our threads just before it and just after it.
 */
#ifndef TLBTUNE_PROGRESS_H
#define TLBTUNE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "clock.h"
#include "team.h"

/*
 * True as soon as each of the first n threads has begun and finished a round
 * since the call; false after limit_ns. The team has an open window.
 */
bool progress_of(const struct team *team, size_t n, const struct clock *clock,
		 double limit_ns);

#endif
