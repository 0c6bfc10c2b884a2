/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench: the life of a benchmark.
 *
 * A benchmark is one struct bench. Only op is timed, on the calling thread;
 * reset restores outside the timed window what op needs. Between the two the
 * caller accesses the working set, which is timed as well. With -t, threads
 * that share the mm access the working set all the while (the bystanders), and
 * every time block holds three windows, in random order:
 *
 *	alone	bystanders parked in the kernel, the caller operates
 *	busy	bystanders access, the caller operates
 *	quiet	bystanders access, the caller does not operate
 *
 * so that each number has its baseline from the same process and moment.
 */
#ifndef TLBTUNE_BENCH_H
#define TLBTUNE_BENCH_H

#include "access.h"
#include "clock.h"
#include "options.h"
#include "region.h"

struct bench_run {
	const struct options_work *work;
	struct clock clock;
	struct region region; /* another one in each time block */
	struct access access; /* to the working set of the region */
};

/*
 * Map region and working set anew, placed by the seed. Errors as region_open.
 */
int bench_map(struct bench_run *run, uint64_t seed, char **why);

void bench_unmap(struct bench_run *run);

struct bench {
	const char *name;    /* of the system call, and of the program */
	const char *summary; /* one line for --help */
	const char *doc;     /* more lines for --help, may be NULL */
	int (*op)(struct bench_run *run);    /* 0, or -1 with errno */
	int (*reset)(struct bench_run *run); /* 0, or -1 with errno */
};

/* Parse options, measure every row, report; returns the exit status. */
int bench_main(int argc, char **argv, const struct bench *bench);

#endif
