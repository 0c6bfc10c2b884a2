/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * team_private: what team.c, which opens windows, and team_members.c, which
 * starts and ends threads and processes, share.
 */
#ifndef TLBTUNE_TEAM_PRIVATE_H
#define TLBTUNE_TEAM_PRIVATE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "team.h"

/* Two lines of 64 bytes: x86 prefetches the other one of such a pair. */
#define LINE 128

typedef _Atomic uint32_t futex;

struct member {
	/* rounds finished; written by the thread only */
	alignas(LINE) _Atomic uint64_t rounds;
	struct team *team;
	size_t index;
	unsigned int cpu;
	pthread_t thread;
	pid_t pid;	   /* of a process; 0: it has been waited for */
	atomic_bool moved; /* was not bound to cpu at the end of a window */
};

struct team {
	alignas(LINE) atomic_int phase; /* written by the caller only */

	alignas(LINE) futex gate; /* how often it was opened */
	futex starting;		  /* threads yet to finish a first round */
	futex parking;		  /* threads yet to park */
	size_t active;		  /* threads that work in this window */
	bool open;		  /* a window, as the caller knows it */
	bool closing;
	bool crowded;	  /* more threads than CPUs */
	bool processes;	  /* not threads; all of this is shared memory */
	bool lost;	  /* one of them was killed */
	atomic_int error; /* of a thread that could not be bound, or 0 */

	/* constant after team_open */
	const struct placement *placement;
	team_work work;
	void *context;
	size_t n;    /* threads that exist */
	size_t size; /* bytes, of this and the members */
	struct member *member;
};

/* What a thread or process does until the team is closed; its argument. */
void *team_member_run(void *member);

/* Start n members: 0 or an errno value, and team->n says how many are started.
 */
int team_members_start(struct team *team, size_t n, size_t first);

/* Whether all processes live; if not, none does afterwards. */
bool team_members_live(struct team *team);

/* Wait until every member has ended. */
void team_members_join(struct team *team);

#endif
