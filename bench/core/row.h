/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row: measure one row of a benchmark's table, i.e. one number of bystanders.
 */
#ifndef TLBTUNE_ROW_H
#define TLBTUNE_ROW_H

#include <stdbool.h>

#include "bench.h"
#include "placement.h"
#include "proof.h"
#include "samples.h"

/* Readings of the windows in which the caller operates. */
struct row_window {
	struct samples op;     /* ns per operation */
	struct samples access; /* ns per access of the caller after it */
	double interrupts;     /* for TLB flushes, of all CPUs; NAN: unknown */
};

struct row {
	size_t threads;
	const struct membind_node *memory; /* bound to; NULL: not bound */
	bool oversubscribed;		   /* more threads than CPUs */
	bool gated; /* there are others, and each has a CPU */
	struct row_window alone;
	struct row_window busy;	       /* empty without threads */
	struct row_window stopped;     /* what the gate kept out of busy */
	struct samples busy_bystander; /* ns per access, one a block */
	struct samples quiet_bystander;
	struct flush_tally flushes[PROOF_WINDOWS]; /* of the traced rounds */
	/* with more than one initiator */
	size_t initiators;
	struct row_window apart; /* of the caller, beside processes */
	struct row_window apart_stopped;
	struct samples others_busy;  /* ns per operation of the others, */
	struct samples others_apart; /* threads or processes */
	struct samples rate_alone;   /* operations per second of all, one */
	struct samples rate_busy;    /* a block */
	struct samples rate_apart;
};

/*
 * Measure until the interval is tight, or time is over, or work->loops
 * operations are done. Returns 0; 1 when *stop became non-zero (what is in row
 * is valid); -1 with *why a malloc'ed sentence and errno, EAGAIN for what this
 * machine cannot give.
 */
int row_measure(const struct bench *bench, struct bench_run *run,
		const struct placement *placement, size_t threads, bool quick,
		uint64_t seed, const volatile int *stop, struct row *row,
		char **why);

void row_free(struct row *row);

#endif
