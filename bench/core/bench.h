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

#include <stdbool.h>

#include "access.h"
#include "clock.h"
#include "flushes.h"
#include "options.h"
#include "region.h"

struct membind;
struct proof;

struct bench_run {
	const struct membind *memory; /* NULL: not bound */
	size_t node;		      /* which one of memory */
	const struct options_work *work;
	struct clock clock;
	struct region region; /* another one in each time block */
	struct access access; /* to the working set of the region */
	void *own;	      /* what prepare made for the operation */
	struct proof *proof;  /* NULL: nothing is traced */
};

struct bench;

/* An option that puts another operation in the place of a program's first. */
struct bench_choice {
	const char *option; /* without the dashes */
	const char *arg;    /* what it is called in --help; NULL: takes none */
	const char *values; /* that it takes: "a, b or c" */
	const char *doc;    /* for --help */
	const struct bench *const *among; /* ends with NULL */
};

struct bench {
	const char *name;      /* of the program */
	const char *operation; /* what one call is called, in the report */
	const char *value;     /* argument of the option that chooses this */
	const char *summary;   /* one line for --help */
	const char *doc;       /* more lines for --help, may be NULL */
	const struct bench_choice *choice; /* NULL: no other operation */
	bool small_only;		   /* cannot be done with --huge */
	enum flush_claim flushes;	   /* what it says it does */
	/*
	 * What op needs beside region and access, once in each time block; NULL
	 * if nothing. 0, or -1 with *why and errno as region_open.
	 */
	int (*prepare)(struct bench_run *run, char **why);
	int (*op)(struct bench_run *run);    /* 0, or -1 with errno */
	int (*reset)(struct bench_run *run); /* 0, or -1 with errno */
	/* Undo prepare; run->own, too. NULL if there is nothing to undo. */
	void (*finish)(struct bench_run *run);
};

/*
 * Map region and working set anew, with so many targets, placed by the seed,
 * and prepare the operation. Errors as region_open.
 */
int bench_map(const struct bench *bench, struct bench_run *run, size_t targets,
	      uint64_t seed, char **why);

void bench_unmap(const struct bench *bench, struct bench_run *run);

/*
 * Parse options, measure every row, report; returns the exit status. step is
 * the operation that shows what a flush costs (--breakdown): mprotect.
 */
int bench_main(int argc, char **argv, const struct bench *bench,
	       const struct bench *step);

#endif
