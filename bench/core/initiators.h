/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * initiators: others that operate at the same time as the caller, each on
 * memory of its own.
 *
 * As threads they share its mm: each call takes the same locks (mmap_lock) and
 * interrupts the CPUs of all the others. As processes they share nothing of
 * that. So what a call takes more among threads than among as many processes is
 * what sharing the mm costs: the shootdown, and the locks.
 */
#ifndef TLBTUNE_INITIATORS_H
#define TLBTUNE_INITIATORS_H

#include <stdbool.h>

#include "bench.h"
#include "placement.h"
#include "samples.h"

struct initiators;

/*
 * n others on placement CPUs first, first + 1, ..., parked. Open processes
 * before any threads. NULL with errno.
 */
struct initiators *initiators_open(size_t n, bool processes,
				   const struct placement *placement,
				   size_t first, const struct bench *bench,
				   const struct bench_run *run);
void initiators_close(struct initiators *initiators);

/*
 * Let them operate, in memory that each maps anew when the seed is another than
 * last time, and return when each has done it once. 0, or -1 with errno (EINTR:
 * *stop is non-zero; others with *why a malloc'ed sentence).
 */
int initiators_run(struct initiators *initiators, uint64_t seed,
		   const volatile int *stop, char **why);

/* One was killed: an error that initiators_park will name. */
bool initiators_lost(const struct initiators *initiators);

/* Operations that all have done until now. */
uint64_t initiators_calls(const struct initiators *initiators);

/*
 * Each has finished an operation since that time, in ticks of the clock. They
 * take some 10 us each, 100 where they wait for each other.
 */
bool initiators_went_on(const struct initiators *initiators, uint64_t since);
#define INITIATORS_MOMENT_NS 200e3

/*
 * Park them, and add what their calls took since initiators_run, ns, to calls.
 * 0, or -1 with *why; why is NULL after another failure.
 */
int initiators_park(struct initiators *initiators, struct samples *calls,
		    char **why);

#endif
