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
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bound.h"
#include "team_private.h"

/* Of threads that share CPUs: the lowest there is. */
#define NICE 19

/* How often team_run looks at the caller's stop flag while it waits. */
#define LOOK_NS 10000000

enum phase {
	PARKED,	  /* or about to be */
	STARTING, /* some thread has not finished its first round */
	RUNNING,
};

/* Sleep, unless *word has changed; may return for no reason. */
static void futex_wait(const struct team *team, futex *word, uint32_t value,
		       const struct timespec *limit)
{
	int wait = team->processes ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE;

	syscall(SYS_futex, word, wait, value, limit, NULL, 0);
}

static void futex_wake(const struct team *team, futex *word)
{
	int wake = team->processes ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE;

	syscall(SYS_futex, word, wake, INT_MAX, NULL, NULL, 0);
}

/* One thread fewer to wait for. */
static void arrive(const struct team *team, futex *missing)
{
	if (atomic_fetch_sub_explicit(missing, 1, memory_order_acq_rel) == 1)
		futex_wake(team, missing);
}

static uint32_t count(futex *missing)
{
	return atomic_load_explicit(missing, memory_order_acquire);
}

/* Wait until all have arrived, or a process was killed. */
static void await(struct team *team, futex *missing)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	uint32_t n;

	while ((n = count(missing)) > 0 && team_members_live(team))
		futex_wait(team, missing, n, team->processes ? &look : NULL);
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
	futex_wake(team, &team->gate);
}

static void pass_gate(struct team *team, uint32_t opened)
{
	while (count(&team->gate) == opened)
		futex_wait(team, &team->gate, opened, NULL);
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
	arrive(team, &team->starting);
	while (active && (now = phase(team)) != PARKED) {
		/* With more threads than CPUs the others have to start, too. */
		if (now == STARTING)
			sched_yield();
		do_round(member);
	}
	if (!bound_to(member->cpu))
		atomic_store_explicit(&member->moved, true,
				      memory_order_relaxed);
}

void *team_member_run(void *argument)
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
		arrive(team, &team->parking);
		pass_gate(team, gate);
		if (team->closing)
			return NULL;
		run_window(member);
	}
}

/* The team and its members, in one piece. */
static size_t size_for(size_t n)
{
	return sizeof(struct team) + n * sizeof(struct member);
}

/* A team without threads; NULL with errno. */
static struct team *allocate(size_t n, bool processes)
{
	struct team *team;

	/* No system has room for as many threads as a futex can count. */
	if (n >= UINT32_MAX) {
		errno = EAGAIN;
		return NULL;
	}
	if (processes)
		team = mmap(NULL, size_for(n), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	else
		team = aligned_alloc(LINE, size_for(n));
	if (!team || team == MAP_FAILED) {
		errno = ENOMEM;
		return NULL;
	}
	*team = (struct team){
		.parking = (uint32_t)n,
		.processes = processes,
		.size = size_for(n),
		.member = (struct member *)(team + 1),
	};
	return team;
}

static struct team *open_team(struct team *team, size_t n,
			      const struct placement *placement, size_t first,
			      team_work work, void *context)
{
	int error;

	if (!team)
		return NULL;
	team->placement = placement;
	team->work = work;
	team->context = context;
	team->crowded = n && n + first > placement->n;
	error = team_members_start(team, n, first);
	if (!error) {
		await(team, &team->parking);
		error = team->lost ? ECHILD : team->error;
	}
	if (!error)
		return team;
	team_close(team);
	errno = error;
	return NULL;
}

struct team *team_open(size_t n, const struct placement *placement,
		       size_t first, team_work work, void *context)
{
	return open_team(allocate(n, false), n, placement, first, work,
			 context);
}

struct team *team_open_processes(size_t n, const struct placement *placement,
				 size_t first, team_work work, void *context)
{
	/* Ignored (it can be inherited), no child could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	return open_team(allocate(n, true), n, placement, first, work, context);
}

bool team_lost(struct team *team)
{
	return !team_members_live(team);
}

int team_bound(const struct team *team, const char *root, char **why)
{
	size_t i;

	for (i = 0; i < team->n; i++)
		if (atomic_load_explicit(&team->member[i].moved,
					 memory_order_relaxed))
			return bound_lost(root, team->member[i].cpu, why);
	return 0;
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
	while ((n = count(&team->starting)) > 0 && team_members_live(team)) {
		if (is_set(stop))
			set_phase(team, PARKED);
		futex_wait(team, &team->starting, n, &limit);
	}
	if (phase(team) == STARTING)
		set_phase(team, RUNNING);
}

int team_run_some(struct team *team, size_t active, const volatile int *stop)
{
	if (!team->open && !team->lost)
		open_window(team, active, stop);
	if (phase(team) == RUNNING && !is_set(stop) && !team->lost)
		return 0;
	team_park(team);
	errno = team->lost ? ECHILD : EINTR;
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
	await(team, &team->parking);
	team->open = false;
}

void team_close(struct team *team)
{
	if (!team)
		return;
	team_park(team);
	team->closing = true;
	open_gate(team);
	team_members_join(team);
	if (team->processes)
		munmap(team, team->size);
	else
		free(team);
}
