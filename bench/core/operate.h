/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operate: the timed parts of a round of a benchmark, whoever does it.
 */
#ifndef TLBTUNE_OPERATE_H
#define TLBTUNE_OPERATE_H

#include "bench.h"

/* One operation. ns; 0, or -1 with errno. */
static inline int operate_call(const struct bench *bench, struct bench_run *run,
			       double *ns)
{
	uint64_t before, after;

	before = clock_now(&run->clock);
	if (bench->op(run) < 0)
		return -1;
	after = clock_now(&run->clock);
	*ns = clock_ns(&run->clock, before, after);
	return 0;
}

/* A pass over the working set. ns per access. */
static inline double operate_access(const struct bench_run *run)
{
	uint64_t before, after;

	before = clock_now(&run->clock);
	access_pass(&run->access);
	after = clock_now(&run->clock);
	return clock_ns(&run->clock, before, after) / (double)run->access.pages;
}

#endif
