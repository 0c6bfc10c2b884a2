/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure: fill a record on this machine.
 *
 * In this order: measure_search finds the ceiling in force, measure_both the
 * costs where there is a knob, measure_reach how many pages the TLB holds,
 * measure_blocks the costs as anybody can. Every part runs in child processes,
 * one a time block (child.h).
 */
#ifndef TLBTUNE_MEASURE_H
#define TLBTUNE_MEASURE_H

#include "clock.h"
#include "knob.h"
#include "membind.h"
#include "plan.h"
#include "record.h"
#include "region.h"

struct measure {
	const struct clock *clock;
	unsigned int cpu; /* that the caller is bound to */
	uint64_t seed;
	const volatile int *stop;     /* non-zero: end as soon as possible */
	const struct membind *memory; /* its first node has it; NULL: any */
};

/* What the accesses of a curve go to, one cache line each. */
enum reach_memory {
	REACH_4K,	/* w pages of 4 KiB */
	REACH_2M,	/* w huge pages */
	REACH_4K_OF_2M, /* w pieces of 4 KiB that make up such pages */
	REACH_MEMORIES
};

/*
 * A curve of latency against pages, or some more blocks of it. Once the last
 * level is seen most blocks have the sets that tell about it, only.
 */
struct reach_plan {
	enum reach_memory memory;
	enum region_kind huge; /* of which huge pages are, if not of THP */
	enum pattern pattern;
	unsigned int pages; /* the largest w */
	unsigned int flush; /* a flush of so many 4 KiB pages is a full one */
	unsigned int first_block, blocks;
	double seconds; /* of accesses, a block ends then, complete or not */
};

/* The blocks and pages that tune measures. */
#define REACH_BLOCKS 14
#define REACH_PAGES 16384

/* Both ways at every size, by moving a knob (both.h). */
struct both_plan {
	const char *root; /* below which the knob is; its journal is written */
	enum knob_kind kind;
	unsigned int blocks;
	double seconds; /* for all blocks */
};

#define BOTH_BLOCKS 14

/* Pages for reach_plan.flush, as far as a search has found the ceiling. */
unsigned int measure_flush(const struct step *step);

/*
 * All functions return 0 (also when stopped early: what was measured until then
 * is in the record), or -1 with *why a malloc'ed sentence.
 */
int measure_search(const struct measure *measure, struct record *record,
		   struct step *step, char **why);
/* Appends to (*points)[*n]. */
int measure_reach(const struct measure *measure, const struct reach_plan *plan,
		  struct reach_point **points, size_t *n, char **why);
int measure_blocks(const struct measure *measure, const struct plan *plan,
		   struct record *record, char **why);
/* Leaves the knob moved. */
int measure_both(const struct measure *measure, const struct both_plan *plan,
		 struct record *record, char **why);

#endif
