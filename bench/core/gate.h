/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate: does every thread go on at this moment? Pure: reads counters and a
 * clock that it is given.
 *
 * A call that interrupts other CPUs is a different one when a thread of this
 * process does not run there: the kernel spares its CPU, or the hypervisor has
 * to wake it first. So a reading counts only if each thread is seen to go on
 * just before the call and just after it, which is two looks.
 */
#ifndef TLBTUNE_GATE_H
#define TLBTUNE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * "Just": two slices of accesses take a microsecond or two, 15 if each misses
 * all caches; whoever is preempted comes back after a millisecond at the
 * earliest.
 */
#define GATE_LIMIT_NS 20e3

/* Where the counters of n threads and the time come from. */
struct gate_source {
	uint64_t (*rounds)(const void *context, size_t thread);
	double (*now_ns)(const void *context);
	const void *context;
	size_t n;
};

/*
 * True as soon as each thread has begun and finished a round since the call;
 * false once limit_ns are over. The first round that a counter shows may have
 * been finished before and be seen late, so it takes two.
 */
bool gate_look(const struct gate_source *source, double limit_ns);

#endif
