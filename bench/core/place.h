/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place: what every measuring program does before it measures.
 */
#ifndef TLBTUNE_PLACE_H
#define TLBTUNE_PLACE_H

#include "clock.h"
#include "environment.h"
#include "membind.h"
#include "options.h"
#include "placement.h"
#include "team.h"

/*
 * Learn which CPU is for whom, start the clock, read the environment and bind
 * the caller to the first CPU, in this order: the environment records the CPUs
 * allowed before the caller is bound to one. Exits with a message, STATUS_USAGE
 * for a bad --cpus and STATUS_CANNOT_RUN for what this machine denies.
 */
struct environment *place_caller(const struct options_common *options,
				 struct placement *placement,
				 struct clock *clock);

/*
 * Between two windows: the caller is still bound to the CPU that place_caller
 * gave it, and so is each thread of team, which may be NULL. 0, or -1 with *why
 * a malloc'ed sentence and errno ECANCELED: what was measured meanwhile means
 * nothing.
 */
int place_check(const struct placement *placement, const struct team *team,
		char **why);

/*
 * Measure with memory on node[node] of memory, or anywhere (NULL). Returns 0,
 * or something else for that to be all.
 */
typedef int (*place_work)(void *context, const struct membind *memory,
			  size_t node);

/*
 * Do the work for one NUMA node of a list (--mem-bind) after the other, with
 * the memory of the caller bound to it; or once, where list is NULL. Returns
 * what the work did last. Exits with a message for a list that is none and for
 * memory that cannot be bound.
 */
int place_memory(const char *list, const struct placement *placement,
		 place_work work, void *context);

#endif
