/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * team: the bystander threads of a benchmark.
 *
 * The threads share the mm of the caller and run one function over and over
 * while the team is open; each counts its rounds in a cache line of its own.
 * Between windows they are parked in the kernel, so that they run nowhere and
 * receive no IPI. There is no cancellation and no sleep inside a window: a
 * window begins when every thread has passed the gate and reported that it
 * runs, and ends with a stop flag that each thread looks at once a round.
 *
 * More threads than CPUs are allowed. They get the lowest priority, or the
 * caller would have to wait for each of them to use as much time as it did.
 *
 * The members can also be processes, each with an mm of its own, a copy of the
 * caller's when the team was opened. Where a comment says thread, it is true of
 * them as well. A process can be killed (for want of memory); then nobody works
 * any more, and team_lost tells.
 *
 * One thread, the caller, uses a team; only the work runs on the others.
 */
#ifndef TLBTUNE_TEAM_H
#define TLBTUNE_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "placement.h"

struct team;

/*
 * One round of work of thread index; must return within about a millisecond
 * and use at most 32 KiB of stack.
 */
typedef void (*team_work)(void *context, size_t index);

/*
 * Start n threads (n = 0 is a team without members), thread i bound to
 * placement CPU first + i (modulo), each parked. All signals but those that a
 * fault raises are blocked in them. Returns NULL with errno when a thread
 * cannot be created or bound; none is left behind then. The placement is not
 * used after that.
 */
struct team *team_open(size_t n, const struct placement *placement,
		       size_t first, team_work work, void *context);

/*
 * The same with processes, forked from the caller, and killed when it
 * dies. What work leaves for the caller must be in shared
 * memory. SIGCHLD is no longer ignored.
 */
struct team *team_open_processes(size_t n, const struct placement *placement,
				 size_t first, team_work work, void *context);

/* A process of the team was killed: all are, and no window can be run. */
bool team_lost(struct team *team);

/*
 * Let all threads run and wait until each has finished a first round, so that
 * what they touch is in their TLBs. 0, or -1 with errno (EINTR: *stop is
 * non-zero; all threads are parked again. ECHILD: a process was killed). stop
 * may be NULL.
 */
int team_run(struct team *team, const volatile int *stop);

/* The same for the first active threads only, while the others sleep on. */
int team_run_some(struct team *team, size_t active, const volatile int *stop);

/* Rounds finished since team_open by all threads, and by thread index. */
uint64_t team_rounds(const struct team *team);
uint64_t team_rounds_of(const struct team *team, size_t index);

/* Park all threads; returns when every one is parked. */
void team_park(struct team *team);

/*
 * While they are parked: each thread was still bound to its CPU at the end of
 * every window. 0, or -1 with *why and errno as bound_lost, which takes root.
 */
int team_bound(const struct team *team, const char *root, char **why);

/* Stop and join all threads. NULL is allowed. */
void team_close(struct team *team);

#endif
