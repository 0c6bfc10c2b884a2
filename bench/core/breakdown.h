/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breakdown: what an operation costs its caller, part by part.
 *
 * The whole is the operation on n pages, and what the next pass over the
 * working set takes more than a warm one. The parts are measured apart from it,
 * on other sizes and by other means, so that nothing makes them add up but the
 * truth of the model; what they leave is shown:
 *
 *  fixed	what a line through the times of other sizes, with nobody else
 *		running and less the flush, has at 0 pages
 *  pages	its slope times n: page tables, rmap, freeing
 *  local flush	n INVLPGs, or one full flush, whichever the kernel does for n:
 *		from the step and the change of slope of mprotect at its
 *		ceiling (estimate.h)
 *  IPI wait	interrupting the threads and waiting for their answer, without
 *		a flush: membarrier(2) beside running threads, less the same
 *		beside parked ones
 *  remote flush what their flush adds to that: the slope over the sizes of the
 *		time beside running threads less that beside parked ones; with a
 *		full flush, the step of that difference. The CPUs flush at the
 *		same time, so it may be about 0, or below.
 *  refill	the pass after the operation, less a warm one, of calls other
 *		than those of the whole
 *
 * Derived block by block (a time block each, with fresh memory); an interval is
 * Student's over the blocks. Only blocks that have every part count.
 */
#ifndef TLBTUNE_BREAKDOWN_H
#define TLBTUNE_BREAKDOWN_H

#include <stdbool.h>

#include <jansson.h>

#include "bench.h"
#include "estimate.h"
#include "placement.h"

enum breakdown_part {
	BREAKDOWN_FIXED,
	BREAKDOWN_PAGES,
	BREAKDOWN_LOCAL,
	BREAKDOWN_IPI,
	BREAKDOWN_REMOTE,
	BREAKDOWN_REFILL,
	BREAKDOWN_PARTS
};

extern const char *const breakdown_name[BREAKDOWN_PARTS];

/* Times of one size in one block, ns; NAN: not measured. */
struct breakdown_point {
	double alone;	 /* the operation, threads parked */
	double busy;	 /* the same, each thread running */
	double mprotect; /* mprotect of as many pages, threads parked */
};

struct breakdown_block {
	struct breakdown_point *point; /* [sizes] */
	double whole, refill, ipi;     /* ns; NAN: not measured */
};

struct breakdown_input {
	unsigned int pages; /* n */
	size_t threads;
	size_t sizes;
	const unsigned int *size; /* [sizes] ascending, none is n */
	size_t blocks;
	struct breakdown_block *block; /* [blocks] */
	const char *no_ipi;	       /* why it cannot be measured, or NULL */
};

struct breakdown {
	struct step step; /* of mprotect */
	struct estimate part[BREAKDOWN_PARTS];
	const char *why[BREAKDOWN_PARTS]; /* it is unknown, or NULL */
	struct estimate sum, whole, unexplained;
	size_t blocks; /* that count */
};

/* Pure. 0, or -1 with ENOMEM. */
int breakdown_derive(const struct breakdown_input *input,
		     struct breakdown *out);

/* The remainder is within its interval. */
bool breakdown_explained(const struct breakdown *breakdown);

/* Measure for one number of threads. Returns as row_measure. */
int breakdown_measure(const struct bench *bench, const struct bench *mprotect,
		      struct bench_run *run, const struct placement *placement,
		      size_t threads, bool quick, uint64_t seed,
		      const volatile int *stop, struct breakdown *out,
		      char **why);

/* Append the parts, sum, whole and remainder to results. */
void breakdown_json(json_t *results, size_t row, size_t threads,
		    const struct breakdown *breakdown);

/* The report for people, of its JSON. */
void breakdown_text(const json_t *report, FILE *to);

#endif
