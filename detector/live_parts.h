/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_parts: what the parts of live share: live.c has the memory, crew.c the
 * threads, operate.c the operations, offspring.c the forked child.
 */
#ifndef TLBTUNE_LIVE_PARTS_H
#define TLBTUNE_LIVE_PARTS_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "live.h"

#define MAX_GROUP 64 /* steps: program_fault sees to it */

/* Two lines of 64 bytes: x86 prefetches the other one of such a pair. */
#define LINE 128

typedef _Atomic uint32_t futex;

/* Addresses nobody else uses, taken from the start on and not given back. */
struct space {
	char *next, *end;
};

/* A child that has the memory as it was when it was forked. */
struct offspring {
	pid_t pid;	      /* 0: none */
	int question, answer; /* ends of pipes */
};

struct member {
	alignas(LINE) futex ticket; /* counts the groups it has a part in */
	alignas(LINE) futex asleep; /* waits for the ticket in the kernel */
	struct live *live;
	unsigned int index, cpu;
	pid_t tid;
	pthread_t thread;
};

struct flag {
	alignas(LINE) futex done;
};

/*
 * All of it, the members and the outcomes are in memory that a forked child
 * shares: what is private would be copied on write, and a kernel that forgets
 * to flush then would hide from one thread what another one says.
 */
struct live {
	const struct placement *placement;
	unsigned int actors;
	unsigned int members; /* there is room for */
	bool crowded;	      /* more actors than CPUs */

	/* threads */
	struct member *member;		 /* [actors]; [0] is the caller's */
	alignas(LINE) futex park;	 /* wait asleep for what comes next */
	alignas(LINE) atomic_uint ready; /* threads that are bound */
	alignas(LINE) futex busy;	 /* threads yet to end the group */
	alignas(LINE) struct flag flag[MAX_GROUP]; /* of each step */
	atomic_int error;			   /* of a thread, or 0 */
	bool closing;
	size_t first, end;	 /* the group */
	struct outcome *outcome; /* of all steps */
	size_t outcome_len;	 /* bytes, with its arrays */

	/* memory of a program */
	const struct program *program;
	uint32_t nonce;
	struct space space;
	size_t unit;
	char *map; /* with margins */
	size_t map_len;
	char *base; /* page 0 */
	int file;   /* memfd, or -1 */
	char *alias;
	size_t file_len;
	size_t *frame; /* [pages] */
	char **moved;  /* [pages] where mremap put it, or NULL */
	char *twin;    /* copies for ksm, or NULL */
	size_t twin_len;
	int memory;  /* /proc/self/mem, or -1 */
	int pagemap; /* or -1 */
	int uffd;    /* or -1 */
	struct offspring offspring;
};

/* crew.c: threads. 0, or -1 with *why. */
int crew_start(struct live *live, char **why);
void crew_stop(struct live *live);
void crew_run(struct live *live);
void crew_park(struct live *live);

/* operate.c: perform an operation step; outcome->error is its errno. */
void operate(struct live *live, size_t step, struct outcome *outcome);

/* outcomes.c: room for those of the program. 0, or -1 with errno. */
int outcomes_open(struct live *live);
void outcomes_copy(const struct live *live, size_t step,
		   struct outcome *outcome);

/* offspring.c: 0, or -1 with errno. */
int offspring_fork(struct live *live);
int offspring_read(struct live *live, unsigned int page, uint64_t *slot);
void offspring_end(struct live *live);

/* live.c: len bytes of addresses, offset bytes behind a 2 MiB boundary. */
char *space_take(struct space *space, size_t len, size_t offset);

char *live_page(const struct live *live, unsigned int page);

/* Where the slots of a page of the given start are. */
uint64_t *live_slots(const struct live *live, char *page);

#endif
