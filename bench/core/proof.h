/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proof: run operations that are traced, and not timed, between windows that
 * are timed, and not traced.
 */
#ifndef TLBTUNE_PROOF_H
#define TLBTUNE_PROOF_H

#include "bench.h"
#include "flushes.h"

/* The ceiling is looked for in calls of 1 to so many pages. */
#define PROOF_PAGES 512

struct proof;

/* Beside whom the operations run. */
enum proof_window { PROOF_ALONE, PROOF_BUSY, PROOF_WINDOWS };

/*
 * Get ready, and find the ceiling that the kernel has in force, with some
 * hundred mprotects. NULL with *why as trace_open.
 */
struct proof *proof_open(char **why);

/* As flushes_ceiling. */
double proof_ceiling(const struct proof *proof);

/* Trace the threads that there are now. 0, or -1 with *why. */
int proof_begin(struct proof *proof, char **why);

/*
 * Do the operation some times, each with what belongs to it, on the calling
 * thread. 0, or -1 with *why.
 */
int proof_operate(struct proof *proof, const struct bench *bench,
		  struct bench_run *run, enum proof_window window,
		  const volatile int *stop, char **why);

/* Trace no more, and add what was seen of the operations to the tallies. */
int proof_end(struct proof *proof, const struct bench *bench,
	      const struct bench_run *run,
	      struct flush_tally tally[PROOF_WINDOWS], char **why);

/* What an operation of the run implies. */
struct flush_implied proof_implied(const struct proof *proof,
				   const struct bench *bench,
				   const struct options_work *work);

/* NULL is allowed. */
void proof_close(struct proof *proof);

#endif
