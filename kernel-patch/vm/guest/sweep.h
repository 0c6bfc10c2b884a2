/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sweep: do an operation on n pages for many n, and compare every flush with
 * what the policy says.
 */
#ifndef TLBTUNE_GUEST_SWEEP_H
#define TLBTUNE_GUEST_SWEEP_H

#include "area.h"

struct sweep {
	struct area *area;
	enum area_op op;
	unsigned long ceiling; /* page by page up to this many */
	size_t first, last;    /* n, both included */
};

/*
 * Without a tracepoint at the initiator, only what was flushed is looked at.
 * Returns the number of n that were as they should be; what was not is told as
 * comments, the first few of it.
 */
size_t sweep_run(const struct sweep *sweep);

/* A test: all n from 1 to 3 past the ceiling, but not past max. */
void sweep_test(struct area *area, enum area_op op, unsigned long ceiling,
		size_t max, const char *name);

/* The same for n from 2 before the ceiling. */
void sweep_around(struct area *area, enum area_op op, unsigned long ceiling,
		  const char *name);

#endif
