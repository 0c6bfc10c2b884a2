/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windows: the windows of a time block of a row (bench.h names them).
 *
 * What a call takes that interrupts other CPUs depends on whether these run:
 * the kernel spares one whose thread is preempted, and one that the hypervisor
 * has stopped answers late. So the readings of the busy window are of two
 * classes. Those of the gate: each bystander was seen to go on just before the
 * call and just after it. The others are reported as stopped, not mixed in: a
 * median of both flips between two values with the share of either. The same
 * goes for other initiators. With more threads than CPUs they cannot all run,
 * and there is no gate.
 */
#ifndef TLBTUNE_WINDOWS_H
#define TLBTUNE_WINDOWS_H

#include "bystanders.h"
#include "initiators.h"
#include "row.h"
#include "team.h"

enum window {
	WINDOW_ALONE,
	WINDOW_BUSY,
	WINDOW_QUIET,
	WINDOW_APART, /* beside initiators that are processes */
	WINDOWS
};

struct measurement {
	const struct bench *bench;
	struct bench_run *run;
	const struct placement *placement;
	struct team *team;
	struct bystanders *bystanders;
	struct initiators *threads, *processes; /* other ones, or NULL */
	uint64_t seed;				/* of the block */
	const volatile int *stop;
	struct row *row;
	char *why;
};

/* Say what failed, as errno has it; returns -1. */
int windows_fail(struct measurement *m, const char *what);

/* Operate until two batches in a row take the same within 2 %. 0 or -1. */
int windows_warm_up(struct measurement *m);

/*
 * Measure one window into m->row, for a time or for so many operations (loops,
 * if not 0). 0 or -1.
 */
int windows_measure(struct measurement *m, enum window window, size_t loops);

/*
 * The operation without and beside the bystanders, traced and not timed. 0 or
 * -1.
 */
int windows_trace(struct measurement *m);

#endif
