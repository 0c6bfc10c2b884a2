/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency: curves of latency against pages, what is found in them, and the
 * report of it.
 */
#ifndef TLBTUNE_LATENCY_H
#define TLBTUNE_LATENCY_H

#include <jansson.h>
#include <stdio.h>

#include "measure.h"
#include "splinter.h"
#include "tlb.h"

struct latency {
	enum reach_memory memory;
	enum region_kind huge; /* as in reach_plan */
	enum pattern pattern;
	unsigned int pages;	    /* the largest set asked for */
	struct reach_point *points; /* [n] */
	size_t n;
	double took;	    /* seconds, the longest block */
	char *why;	    /* why it was not measured; NULL: it was */
	struct reach reach; /* of a chase; else unknown */
};

struct latencies {
	struct latency *curve; /* [n] */
	size_t n;
	struct splinter splinter;
	struct tlb_info cpuid;
};

/* "4K", "2M", "4K of 2M": in reports. */
extern const char *const reach_memory_name[REACH_MEMORIES];

/* The chase over that memory, or NULL. */
const struct latency *latency_chase(const struct latencies *all,
				    enum reach_memory memory);

/* Find the knees of every chase, and splintering. 0, or -1 with ENOMEM. */
int latency_derive(struct latencies *all);

/*
 * Add tlb, tlb_2m, tlb_4k_of_2m (null where not measured), cpuid,
 * contradictions, splintered, curves and results to report. 0 or -1 (ENOMEM).
 */
int latency_json(json_t *report, const struct latencies *all);

/* Print the report, from its JSON alone. */
void latency_text(const json_t *report, FILE *to);

void latency_free(struct latencies *all);

#endif
