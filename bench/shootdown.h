/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shootdown: what it costs to interrupt other CPUs, apart from what they are
 * interrupted for.
 *
 * membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) interrupts each CPU that runs a
 * thread of the process, has it execute a barrier, and waits for all of them:
 * what a TLB flush does, without page tables, locks of the mm or the flush.
 */
#ifndef TLBTUNE_SHOOTDOWN_H
#define TLBTUNE_SHOOTDOWN_H

#include <jansson.h>
#include <stdbool.h>

#include "core/clock.h"
#include "core/distance.h"
#include "core/placement.h"
#include "core/samples.h"

/* One row: one number of CPUs that run threads of the process. */
struct shootdown_row {
	bool query;	/* a call that does nothing, MEMBARRIER_CMD_QUERY */
	size_t threads; /* that run on other CPUs; 0: they all sleep */
	size_t distance[DISTANCES]; /* of how many of those CPUs */
	/* ns per call, where every thread ran just before and after it ... */
	struct samples running;
	struct samples stopped; /* ... and where some did not */
	struct samples rounds;	/* median of running in each round, or NAN */
	double interrupts;	/* the other CPUs received; NAN: unknown */
	double calls;		/* made meanwhile */
};

struct shootdown_plan {
	const size_t *threads; /* [rows], each below the number of CPUs */
	size_t rows;
	size_t loops; /* calls per row; 0: until the intervals are tight */
	bool quick;
	uint64_t seed;
	const char *root; /* of /proc */
	const struct clock *clock;
	const struct placement *placement;
	const volatile int *stop;
};

struct shootdown {
	/* [rows]: the query, no thread, then those of the plan */
	struct shootdown_row *row;
	size_t rows;
};

/*
 * Make this process one that membarrier serves. 0, or -1 with *why a sentence
 * (a constant) that says what is missing.
 */
int shootdown_prepare(const struct placement *placement, const char **why);

/* The rows of a plan, empty. 0, or -1 with ENOMEM. */
int shootdown_open(const struct shootdown_plan *plan, struct shootdown *out);

/*
 * Measure all rows, each in every round, in random order. Returns 0; 1 when
 * *stop became non-zero (what is in out is valid); -1 with *why a malloc'ed
 * sentence and errno, EAGAIN for what this machine cannot give.
 */
int shootdown_measure(const struct shootdown_plan *plan, struct shootdown *out,
		      char **why);

/* The call that is measured. 0, or -1 with errno. */
int shootdown_call(void);

/* What threads do: about 50 ns in user space, where interrupts are on. */
void shootdown_spin(void *context, size_t index);

/* The threads of the largest row; the others use the first of them. */
size_t shootdown_most(const struct shootdown_plan *plan);

/* The part of a row's time that is the interrupts: what no thread takes less.
 */
struct estimate shootdown_ipi(const struct shootdown *all, size_t row);

/* Interrupts per call and CPU that was to be interrupted; NAN: unknown. */
double shootdown_interrupts(const struct shootdown_row *row);

void shootdown_free(struct shootdown *all);

/* The results as JSON; NULL on ENOMEM. */
json_t *shootdown_json(const struct shootdown *all);

/* Render a report for people; its member blame may be null. */
void shootdown_text(const json_t *report, FILE *to);

#endif
