/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: everything a run has measured and nothing that is derived from it.
 *
 * It is saved in the report, so that `tune --from` can derive everything again.
 */
#ifndef TLBTUNE_RECORD_H
#define TLBTUNE_RECORD_H

#include <jansson.h>

#include "both.h"
#include "estimate.h"
#include "reach.h"

/* Working sets and sizes that are measured but kept out of every fit. */
struct held_out_point {
	unsigned int block;
	enum pattern pattern;
	unsigned int w;	      /* pages */
	unsigned int n;	      /* the flush below the step; the other is n + 1 */
	unsigned int count;   /* pairs */
	double difference_ns; /* (operation + re-access) at n + 1, less at n */
};

struct record {
	struct op_point *search; /* [n_search] the search for the ceiling */
	size_t n_search;
	struct reaccess reaccess;
	struct op_point *op; /* [n_op] */
	size_t n_op;
	struct refill_point *refill; /* [n_refill] */
	size_t n_refill;
	struct reach_point *reach; /* [n_reach] */
	size_t n_reach;
	struct held_out_point *held_out; /* [n_held_out] */
	size_t n_held_out;
	struct both_point *both; /* [n_both] where a knob could be moved */
	size_t n_both;
	/*
	 * the ceiling in force, pages, where another one was set for measuring;
	 * else -1: it is the one that the search finds
	 */
	int in_force;
	/* the ceiling while sizes were measured, as a knob says; -1: no knob */
	int knob_ceiling;
};

/* A record of nothing. */
#define RECORD_EMPTY                                                           \
	{                                                                      \
		.in_force = -1, .knob_ceiling = -1                             \
	}

/* Append n elements of size bytes to *array[*count]. 0, or -1 with ENOMEM. */
int record_append(void *array, size_t *count, const void *more, size_t n,
		  size_t size);

/* NULL on ENOMEM. */
json_t *record_json(const struct record *record);

/*
 * Fill *record from its JSON. Returns 0, or -1 with *why a malloc'ed sentence
 * that names the member at fault and what was expected.
 */
int record_load(const json_t *json, struct record *record, char **why);

void record_free(struct record *record);

#endif
