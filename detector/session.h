/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session: which programs to run, for how long, and what came of them.
 */
#ifndef TLBTUNE_SESSION_H
#define TLBTUNE_SESSION_H

#include "batch.h"
#include "checks.h"

#define SESSION_RANDOM "random"
#define SESSION_REPLAY "replay"

/* What came of one way of testing with one kind of memory. */
struct tally {
	const char *name;
	const struct check_kind *kind; /* NULL: random programs, or a replay */
	enum memory memory;
	bool off;	   /* not to be tried (again) */
	char *reason;	   /* why it is off; NULL while it is not */
	size_t next;	   /* check to run next */
	size_t all;	   /* different checks there are; 0: unknown */
	size_t programs;   /* that ran, and saw nothing but what they should */
	size_t nothing;	   /* in which the kernel took no page */
	size_t refused;	   /* that needed what the kernel has not */
	size_t operations; /* in them */
	unsigned int least, most; /* pages of an operation */
};

struct session {
	const struct placement *placement;
	const volatile int *stop;
	struct check_bounds bounds;
	uint64_t seed;
	double deadline; /* batch_clock() */
	struct tally *tally;
	size_t tallies;

	/* the first stale access */
	bool stale;
	const struct tally *where;
	struct program program; /* that showed it, shrunk if it was random */
	struct finding finding; /* of the program as it is here */
	bool shrunk;
	char *failed; /* why the session had to end early, or NULL */
	bool cannot;  /* failed: nothing of it can run here */
	bool died;    /* failed: a process, while it ran the program */
};

/*
 * Add what is to be tested: a tally for each memory that it applies to. 0, or
 * -1 with ENOMEM.
 */
int session_add(struct session *session, const struct check_kind *kind);
int session_add_random(struct session *session);

/* Run until the deadline, or the first stale access. */
void session_check(struct session *session);
void session_random(struct session *session);
void session_replay(struct session *session, const struct program *program);

/* Programs that ran and could have shown a fault. */
size_t session_programs(const struct session *session);

void session_free(struct session *session);

#endif
