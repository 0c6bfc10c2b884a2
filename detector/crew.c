/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crew: the actors, each a thread on a CPU.
 *
 * Actor 0 is the caller. It hands out a group by a ticket for each thread that
 * has a part in it; the others go on waiting, in user space, with what they
 * have in their TLBs. Between programs all sleep.
 */
#include <config.h>

#include <errno.h>
#include <immintrin.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live_parts.h"
#include "sysfile.h"
#include "touch.h"

/* Beyond the least the system allows; small stacks are not huge pages. */
#define STACK 65536

/* How often to look whether a thread has fallen asleep, 20 us apart. */
#define SLEEP_TRIES 500

static void futex_wait(futex *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(futex *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* One turn of a loop that waits in user space. */
static void turn(const struct live *live, unsigned int *turns)
{
	_mm_pause();
	if (live->crowded && ++*turns % 256 == 0)
		sched_yield();
}

/* steps ---------------------------------------------------------------- */

static void access_page(struct live *live, size_t i, unsigned int page)
{
	const struct step *step = &live->program->step[i];
	struct outcome *outcome = &live->outcome[i];
	uint64_t *slots = live_slots(live, live_page(live, page));
	unsigned int n = page - step->first;
	int status;

	if (step->verb == VERB_READ)
		status = touch_load(
			slots,
			&outcome->value[(size_t)n * live->program->actors],
			live->program->actors);
	else
		status = touch_store(&slots[step->actor],
				     subject_value(live->nonce, i, page));
	outcome->flag[n] = status < 0;
}

static void perform(struct live *live, size_t i)
{
	const struct step *step = &live->program->step[i];
	struct outcome *outcome = &live->outcome[i];
	unsigned int n;

	outcome->error = 0;
	outcome->hint = NULL;
	outcome->cpu = (unsigned int)sched_getcpu();
	if (!verb_accesses(step->verb)) {
		operate(live, i, outcome);
		return;
	}
	for (n = 0; n < step->count; n++)
		access_page(live, i,
			    step->first + (step->from - step->first + n) %
						  step->count);
}

/* Wait for the step that a step comes after. See live.h. */
static void await(struct live *live, const struct step *step)
{
	futex *done = &live->flag[step->after].done;
	unsigned int turns = 0;

	while (!atomic_load_explicit(done, memory_order_acquire)) {
		if (step->sleep)
			futex_wait(done, 0);
		else
			turn(live, &turns);
	}
	_mm_lfence();
}

static bool is_awaited_asleep(const struct live *live, size_t awaited)
{
	size_t i;

	for (i = awaited + 1; i < live->end; i++)
		if (live->program->step[i].sleep &&
		    live->program->step[i].after ==
			    (int)(awaited - live->first))
			return true;
	return false;
}

static void finish(struct live *live, size_t i)
{
	futex *done = &live->flag[i - live->first].done;

	atomic_store(done, 1);
	if (is_awaited_asleep(live, i))
		futex_wake(done);
}

/* The steps of one actor in the group. */
static void play(struct live *live, unsigned int actor)
{
	const struct step *step = live->program->step;
	size_t i;

	for (i = live->first; i < live->end; i++) {
		if (step[i].actor != actor)
			continue;
		if (step[i].after >= 0)
			await(live, &step[i]);
		perform(live, i);
		finish(live, i);
	}
}

/* threads -------------------------------------------------------------- */

static void wait_ticket(struct member *member, uint32_t old)
{
	struct live *live = member->live;
	unsigned int turns = 0;

	while (atomic_load_explicit(&member->ticket, memory_order_acquire) ==
	       old) {
		if (!atomic_load_explicit(&live->park, memory_order_relaxed)) {
			turn(live, &turns);
			continue;
		}
		/* hand_out looks at asleep after it has changed the ticket. */
		atomic_store(&member->asleep, 1);
		futex_wait(&member->ticket, old);
		atomic_store(&member->asleep, 0);
	}
}

static void *run_member(void *argument)
{
	struct member *member = argument;
	struct live *live = member->live;
	uint32_t ticket;

	member->tid = (pid_t)syscall(SYS_gettid);
	if (placement_bind(live->placement, member->cpu) < 0)
		atomic_store(&live->error, errno);
	atomic_fetch_add(&live->ready, 1);
	for (ticket = 0;; ticket++) {
		wait_ticket(member, ticket);
		if (live->closing)
			return NULL;
		play(live, member->index);
		atomic_fetch_sub(&live->busy, 1);
	}
}

/* All but faults are for the caller. */
static void block_signals(sigset_t *saved)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &set, saved);
}

static int start_member(struct live *live, unsigned int index,
			const pthread_attr_t *attr)
{
	const struct placement *placement = live->placement;
	struct member *member = &live->member[index];

	*member = (struct member){
		.live = live,
		.index = index,
		.cpu = placement->cpu[index % placement->n],
	};
	return index == 0 ? 0 :
			    pthread_create(&member->thread, attr, run_member,
					   member);
}

int crew_start(struct live *live, char **why)
{
	unsigned int started = 0, turns = 0;
	pthread_attr_t attr;
	sigset_t saved;
	int error = 0;

	atomic_store(&live->park, 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN + STACK);
	block_signals(&saved);
	while (started < live->actors && !error) {
		error = start_member(live, started, &attr);
		if (!error)
			started++;
	}
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	live->actors = started;
	while (started > 0 && atomic_load(&live->ready) < started - 1) {
		turn(live, &turns);
		sched_yield();
	}
	if (!error)
		error = atomic_load(&live->error);
	if (!error)
		return 0;
	if (asprintf(why, "cannot start a thread on a CPU of its own: %s",
		     strerror(error)) < 0)
		*why = NULL;
	return -1;
}

static void hand_out(struct member *member)
{
	atomic_fetch_add(&member->ticket, 1);
	if (atomic_load(&member->asleep))
		futex_wake(&member->ticket);
}

void crew_park(struct live *live)
{
	atomic_store(&live->park, 1);
}

void crew_stop(struct live *live)
{
	unsigned int i;

	crew_park(live);
	live->closing = true;
	for (i = 1; i < live->actors; i++)
		hand_out(&live->member[i]);
	for (i = 1; i < live->actors; i++)
		pthread_join(live->member[i].thread, NULL);
}

/* groups --------------------------------------------------------------- */

/* The first step of an actor in the group; NULL if it has none. */
static const struct step *part(const struct live *live, unsigned int actor)
{
	size_t i;

	for (i = live->first; i < live->end; i++)
		if (live->program->step[i].actor == actor)
			return &live->program->step[i];
	return NULL;
}

/* Whether a thread sleeps; true as well where that cannot be known. */
static bool sleeps(const struct member *member)
{
	char path[64];
	char *text, *name_end;
	bool asleep;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", member->tid);
	text = sysfile_read("", path);
	name_end = text ? strrchr(text, ')') : NULL;
	asleep = !name_end || !strncmp(name_end, ") S", 3);
	free(text);
	return asleep;
}

/*
 * Threads whose CPU is to be idle fall asleep before the others begin. If one
 * does not, the test is weaker, not wrong.
 */
static void await_sleep(const struct live *live)
{
	unsigned int actor, tries;

	for (actor = 1; actor < live->program->actors; actor++) {
		const struct step *step = part(live, actor);

		for (tries = 0; step && step->sleep && tries < SLEEP_TRIES &&
				!sleeps(&live->member[actor]);
		     tries++)
			usleep(20);
	}
}

static void hand_out_to(struct live *live, bool asleep)
{
	unsigned int actor;

	for (actor = 1; actor < live->program->actors; actor++) {
		const struct step *step = part(live, actor);

		if (step && step->sleep == asleep)
			hand_out(&live->member[actor]);
	}
}

void crew_run(struct live *live)
{
	unsigned int actor, busy = 0, turns = 0;
	size_t i;

	for (i = 0; i < MAX_GROUP; i++)
		atomic_store(&live->flag[i].done, 0);
	for (actor = 1; actor < live->program->actors; actor++)
		busy += part(live, actor) != NULL;
	atomic_store(&live->busy, busy);
	hand_out_to(live, true);
	await_sleep(live);
	hand_out_to(live, false);
	play(live, 0);
	/* the others may need this CPU, and no TLB is waiting to be tested */
	while (atomic_load(&live->busy) > 0)
		if (++turns % 1024 == 0)
			sched_yield();
		else
			_mm_pause();
}
