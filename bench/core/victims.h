/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * victims: what threads lose while another one flushes.
 *
 * The caller flushes at a given rate, each time by one operation on a target of
 * its own; all are restored when the window is over and the threads are parked.
 * So nothing but the flushes asked for interrupts them: restoring may flush as
 * well, and would follow each operation.
 *
 * Every time block has four windows, in random order: with flushes or without
 * (then the caller does the same at the same times, but idles for as long as an
 * operation takes), and
 * with the threads timing their slices or only counting them. Timing costs a
 * slice some 30 ns, so throughput is measured without.
 *
 * The time from one flush to the next is a reading. It counts if every thread
 * was seen to go on just before the flush and just after it; the others are
 * classes of their own (windows.h says why). With more threads than CPUs there
 * is no gate.
 */
#ifndef TLBTUNE_VICTIMS_H
#define TLBTUNE_VICTIMS_H

#include <stdbool.h>

#include "bench.h"
#include "histogram.h"
#include "placement.h"
#include "samples.h"

struct victims_plan {
	const struct bench *bench;
	size_t threads;
	double rate; /* flushes per second, as far as they can be done */
	bool quick;
	uint64_t seed;
	const volatile int *stop;
};

/* Readings of one class; a time block each. */
struct victims_class {
	struct samples call;	      /* ns of the caller's operation */
	struct samples access;	      /* ns per access of one thread */
	struct histogram slice;	      /* ticks per slice, of all threads */
	struct histogram slice_block; /* the same of the block under way */
	struct samples slice_median;  /* ticks, one a block */
};

enum victims_window { VICTIMS_QUIET, VICTIMS_FLUSHED, VICTIMS_WINDOWS };

struct victims {
	size_t threads;
	bool oversubscribed; /* more threads than CPUs */
	bool gated;
	size_t slice_pages; /* accesses in a slice, at most */
	/* each of those whose threads ran, and of those where one did not */
	struct victims_class ran[VICTIMS_WINDOWS];
	struct victims_class stopped[VICTIMS_WINDOWS];
	struct samples period; /* ns from flush to flush */
	/* one a block: ns that a flush cost a thread; and that over period */
	struct samples lost, share;
};

/*
 * Measure one row: run->work->loops flushes, or for some seconds. Returns as
 * row_measure does.
 */
int victims_measure(struct bench_run *run, const struct placement *placement,
		    const struct victims_plan *plan, struct victims *victims,
		    char **why);

void victims_free(struct victims *victims);

#endif
