/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * batch: run programs on this machine in a process of their own, so that what a
 * failure leaves in page tables and TLBs harms no later one, and so that huge
 * pages are not in a process that tests small ones.
 */
#ifndef TLBTUNE_BATCH_H
#define TLBTUNE_BATCH_H

#include "judge.h"
#include "placement.h"

#define BATCH_WHY 160

struct batch_entry {
	bool ran;
	enum verdict verdict;
	char why[BATCH_WHY]; /* of VERDICT_CANNOT; "" if unknown */
};

struct batch {
	const struct placement *placement;
	const volatile int *stop;
	const struct program *program;
	size_t n;
	unsigned int repeat; /* run each so many times, until it is stale */
	double deadline;     /* batch_clock() when to stop */
};

struct batch_result {
	long stale;   /* index of the program that was, or -1 */
	long running; /* of the one that runs; -1 before the first */
	struct finding finding;
	struct batch_entry entry[]; /* [n] */
};

/* Why there is no result. */
struct batch_failure {
	bool cannot;  /* this machine does not let them run */
	char *why;    /* a malloc'ed sentence */
	long running; /* index of the program that then ran, or -1 */
};

/* Seconds, monotonic. */
double batch_clock(void);

/*
 * Run them in order until one is stale, the deadline is past or stop is set.
 * All memories must be MEMORY_THP, and then one program be all there is, or
 * none. NULL with *failure when the process could not be run or died.
 */
struct batch_result *batch_run(const struct batch *batch,
			       struct batch_failure *failure);

void batch_free(const struct batch *batch, struct batch_result *result);

#endif
