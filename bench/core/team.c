/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * team: see team.h.
 *
 * While a window is open each thread writes to one cache line, that of its own
 * counter, and what it shares with others is only read.
 *
 * Before and after, waiting is sleeping, as there may be many more threads than
 * CPUs; and on futexes, not under a lock: a thread that is woken goes on as
 * soon as it has a CPU. A lock would have to be handed from one thread to the
 * next, each of which gets a CPU only after those that already work have used
 * up their time slices.
 */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "team.h"

/* Two lines of 64 bytes: x86 prefetches the other one of such a pair. */
#define LINE 128

/* Stack of a thread beyond the least the system allows, bytes. */
#define STACK 65536

/* Of threads that share CPUs: the lowest there is. */
#define NICE 19

/* How often team_run looks at the caller's stop flag while it waits. */
#define LOOK_NS 10000000

typedef _Atomic uint32_t futex;

enum phase {
	PARKED,	  /* or about to be */
	STARTING, /* some thread has not finished its first round */
	RUNNING,
};

struct member {
	/* rounds finished; written by the thread only */
	alignas(LINE) _Atomic uint64_t rounds;
	struct team *team;
	size_t index;
	unsigned int cpu;
	pthread_t thread;
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
	atomic_int error; /* of a thread that could not be bound, or 0 */

	/* constant after team_open */
	const struct placement *placement;
	team_work work;
	void *context;
	size_t n; /* threads that exist */
	struct member *member;
};

/* Sleep, unless *word has changed; may return for no reason. */
static void futex_wait(futex *word, uint32_t value,
		       const struct timespec *limit)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, limit, NULL, 0);
}

static void futex_wake(futex *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* One thread fewer to wait for. */
static void arrive(futex *missing)
{
	if (atomic_fetch_sub_explicit(missing, 1, memory_order_acq_rel) == 1)
		futex_wake(missing);
}

static uint32_t count(futex *missing)
{
	return atomic_load_explicit(missing, memory_order_acquire);
}

/* Wait until all have arrived. */
static void await(futex *missing)
{
	uint32_t n;

	while ((n = count(missing)) > 0)
		futex_wait(missing, n, NULL);
}

/* The phase orders nothing; the futexes do. */
static enum phase phase(const struct team *team)
{
	return (enum phase)atomic_load_explicit(&team->phase,
						memory_order_relaxed);
}

static void set_phase(struct team *team, enum phase phase)
{
	atomic_store_explicit(&team->phase, phase, memory_order_relaxed);
}

/* Begin a window, or the end. */
static void open_gate(struct team *team)
{
	atomic_fetch_add_explicit(&team->gate, 1, memory_order_release);
	futex_wake(&team->gate);
}

static void pass_gate(struct team *team, uint32_t opened)
{
	while (count(&team->gate) == opened)
		futex_wait(&team->gate, opened, NULL);
}

static void do_round(struct member *member)
{
	/* There is one writer: no need for an atomic addition. */
	uint64_t rounds =
		atomic_load_explicit(&member->rounds, memory_order_relaxed);

	member->team->work(member->team->context, member->index);
	/* Who sees the count sees what the round has written. */
	atomic_store_explicit(&member->rounds, rounds + 1,
			      memory_order_release);
}

static void run_window(struct member *member)
{
	struct team *team = member->team;
	bool active = member->index < team->active;
	enum phase now;

	/* not if the caller has given up meanwhile */
	if (active && phase(team) != PARKED)
		do_round(member);
	arrive(&team->starting);
	while (active && (now = phase(team)) != PARKED) {
		/* With more threads than CPUs the others have to start, too. */
		if (now == STARTING)
			sched_yield();
		do_round(member);
	}
}

static void *run_member(void *argument)
{
	struct member *member = argument;
	struct team *team = member->team;
	uint32_t gate;

	if (placement_bind(team->placement, member->cpu) < 0)
		atomic_store(&team->error, errno);
	/* 0 is the calling thread. What fails here costs only time. */
	if (team->crowded)
		setpriority(PRIO_PROCESS, 0, NICE);
	for (gate = 0;; gate++) {
		arrive(&team->parking);
		pass_gate(team, gate);
		if (team->closing)
			return NULL;
		run_window(member);
	}
}

/* Returns 0 or an errno value, as pthread functions do. */
static int start_member(struct team *team, const pthread_attr_t *attr,
			size_t first)
{
	const struct placement *placement = team->placement;
	struct member *member = &team->member[team->n];
	int error;

	*member = (struct member){
		.team = team,
		.index = team->n,
		.cpu = placement->cpu[(first + team->n) % placement->n],
	};
	error = pthread_create(&member->thread, attr, run_member, member);
	if (!error)
		team->n++;
	return error;
}

/*
 * New threads inherit the mask: what is sent to the process is for the caller.
 * A fault must still reach its handler.
 */
static void block_signals(sigset_t *saved)
{
	static const int faults[] = { SIGBUS,  SIGFPE,	SIGILL,
				      SIGSEGV, SIGTRAP, SIGSYS };
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&set, faults[i]);
	pthread_sigmask(SIG_BLOCK, &set, saved);
}

/* Returns 0 or an errno value. */
static int start_members(struct team *team, size_t n, size_t first)
{
	pthread_attr_t attr;
	sigset_t saved;
	int error;

	error = pthread_attr_init(&attr);
	if (error)
		return error;
	error = pthread_attr_setstacksize(&attr,
					  (size_t)PTHREAD_STACK_MIN + STACK);
	block_signals(&saved);
	for (size_t i = 0; i < n && !error; i++)
		error = start_member(team, &attr, first);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	return error;
}

/* A team without threads; NULL with errno. */
static struct team *allocate(size_t n)
{
	struct team *team;

	/* No system has room for as many threads as a futex can count. */
	if (n >= UINT32_MAX) {
		errno = EAGAIN;
		return NULL;
	}
	team = aligned_alloc(LINE, sizeof(*team));
	if (!team)
		return NULL;
	*team = (struct team){ .parking = (uint32_t)n };
	team->member = aligned_alloc(LINE, n * sizeof(struct member));
	if (n > 0 && !team->member) {
		free(team);
		errno = ENOMEM;
		return NULL;
	}
	return team;
}

struct team *team_open(size_t n, const struct placement *placement,
		       size_t first, team_work work, void *context)
{
	struct team *team = allocate(n);
	int error;

	if (!team)
		return NULL;
	team->placement = placement;
	team->work = work;
	team->context = context;
	team->crowded = n && n + first > placement->n;
	error = start_members(team, n, first);
	if (!error) {
		await(&team->parking);
		error = team->error;
	}
	if (!error)
		return team;
	team_close(team);
	errno = error;
	return NULL;
}

static bool is_set(const volatile int *stop)
{
	return stop && *stop;
}

static void open_window(struct team *team, size_t active,
			const volatile int *stop)
{
	const struct timespec limit = { .tv_nsec = LOOK_NS };
	uint32_t n;

	team->open = true;
	team->active = active;
	atomic_store(&team->starting, (uint32_t)team->n);
	atomic_store(&team->parking, (uint32_t)team->n);
	set_phase(team, STARTING);
	open_gate(team);
	while ((n = count(&team->starting)) > 0) {
		if (is_set(stop))
			set_phase(team, PARKED);
		futex_wait(&team->starting, n, &limit);
	}
	if (phase(team) == STARTING)
		set_phase(team, RUNNING);
}

int team_run_some(struct team *team, size_t active, const volatile int *stop)
{
	if (!team->open)
		open_window(team, active, stop);
	if (phase(team) == RUNNING && !is_set(stop))
		return 0;
	team_park(team);
	errno = EINTR;
	return -1;
}

int team_run(struct team *team, const volatile int *stop)
{
	return team_run_some(team, team->n, stop);
}

uint64_t team_rounds_of(const struct team *team, size_t index)
{
	return atomic_load_explicit(&team->member[index].rounds,
				    memory_order_acquire);
}

uint64_t team_rounds(const struct team *team)
{
	uint64_t rounds = 0;

	for (size_t i = 0; i < team->n; i++)
		rounds += team_rounds_of(team, i);
	return rounds;
}

void team_park(struct team *team)
{
	if (!team->open)
		return;
	set_phase(team, PARKED);
	await(&team->parking);
	team->open = false;
}

void team_close(struct team *team)
{
	if (!team)
		return;
	team_park(team);
	team->closing = true;
	open_gate(team);
	for (size_t i = 0; i < team->n; i++)
		pthread_join(team->member[i].thread, NULL);
	free(team->member);
	free(team);
}
