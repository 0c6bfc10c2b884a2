/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operate: the timed parts of a round of a benchmark, whoever does it.
 */
#ifndef TLBTUNE_OPERATE_H
#define TLBTUNE_OPERATE_H

#include "bench.h"

/*
 * One operation. ns; 0, or -1 with errno.
 *
 * Which function that is, is read before the clock is: the reset has flushed
 * the TLB, and the page where it is written may not have been read since. Its
 * walk would be in every time.
 */
static inline int operate_call(const struct bench *bench, struct bench_run *run,
			       double *ns)
{
	int (*op)(struct bench_run * run) = bench->op;
	uint64_t before, after;

	__asm__ volatile("" : "+r"(op));
	before = clock_now(&run->clock);
	if (op(run) < 0)
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
