/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demand: which flushes a program asks for, from the events of the kernel, and
 * what they cost under a ceiling. Pure.
 *
 * tlb:tlb_flush tells the pages of a flush that went page by page. One that was
 * full tells none; then the length is that of the system call which the thread
 * is in, unless it is in none of those known here. Counted is what this program
 * initiates: not what its CPUs are asked to flush by others, nor the flushes of
 * switching tasks, on which no ceiling has an influence.
 */
#ifndef TLBTUNE_DEMAND_H
#define TLBTUNE_DEMAND_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cost.h"
#include "flushes.h"

/* What asked for a flush. */
enum demand_kind {
	DEMAND_MPROTECT,
	DEMAND_MUNMAP,
	DEMAND_MADVISE,
	DEMAND_OTHER, /* a fault, another system call, reclaim */
	DEMAND_KINDS
};

extern const char *const demand_kind_name[];

struct demand {
	/* initiated, per kind: [n] of n pages, [0] of unknown size */
	unsigned long long count[DEMAND_KINDS][COST_CLAMP + 1];
	unsigned long long larger[DEMAND_KINDS];  /* than COST_CLAMP */
	unsigned long long full[DEMAND_KINDS];	  /* of all of these */
	unsigned long long reason[FLUSH_REASONS]; /* every event */
	unsigned long long strange;		  /* events of another reason */
	struct demand_thread *thread;		  /* [n_threads] by number */
	size_t n_threads;
};

/*
 * A thread enters or leaves a system call that changes so many bytes. 0, or -1
 * with ENOMEM.
 */
int demand_enter(struct demand *demand, pid_t thread, enum demand_kind kind,
		 uint64_t bytes);
void demand_leave(struct demand *demand, pid_t thread);

void demand_add(struct demand *demand, const struct flush *flush);

void demand_free(struct demand *demand);

/* All that were initiated, and of these those of unknown size. */
unsigned long long demand_total(const struct demand *demand);
unsigned long long demand_unknown(const struct demand *demand);

/*
 * ns that all flushes of known size cost under a ceiling when each is followed
 * by reuse of w pages, in each pattern as often. NAN where a cost is unknown.
 */
double demand_cost(const struct demand *demand, const struct cost_model *model,
		   unsigned int w, unsigned int ceiling);

/* {"kind": {"total", "full", "unknown", "pages": [[n, count], ..]}, ..} */
json_t *demand_json(const struct demand *demand);

#endif
