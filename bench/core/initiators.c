/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "initiators.h"
#include "operate.h"
#include "random.h"
#include "team.h"

/* As for team: two lines of 64 bytes. */
#define LINE 128

/* Calls of a window that are kept, of each: more than 15 ms have room for. */
#define CALLS 16384

#define KILLED "another initiator was killed (out of memory?)"

/* All of it in shared memory; the pointers of run are its owner's. */
struct initiator {
	alignas(LINE) struct bench_run run;
	bool mapped;
	uint64_t seed; /* it was mapped with */
	int error;     /* errno of what failed; it does nothing any more */
	char what[256];
	_Atomic uint64_t last; /* when it finished its last operation */
	size_t n;
	double ns[CALLS];
};

struct shared {
	alignas(LINE) uint64_t seed;
	struct initiator each[];
};

struct initiators {
	const struct bench *bench;
	size_t n;
	bool processes;
	struct team *team;
	struct shared *shared;
	size_t size; /* of shared, bytes */
};

static void fails(struct initiator *self, const char *what)
{
	self->error = errno;
	snprintf(self->what, sizeof(self->what), "another initiator: %s", what);
}

static void unmap(const struct initiators *all, struct initiator *self)
{
	if (self->mapped)
		bench_unmap(all->bench, &self->run);
	self->mapped = false;
}

static void map(const struct initiators *all, struct initiator *self,
		size_t index)
{
	uint64_t seed = all->shared->seed;
	char *why = NULL;

	unmap(all, self);
	self->seed = seed;
	if (bench_map(all->bench, &self->run, 1, random_stream(seed, index + 1),
		      &why) < 0)
		fails(self, why ? why : strerror(errno));
	else
		self->mapped = true;
	free(why);
}

static void operate(const struct initiators *all, struct initiator *self)
{
	double ns;

	if (operate_call(all->bench, &self->run, &ns) < 0) {
		fails(self, strerror(errno));
		return;
	}
	atomic_store_explicit(&self->last, clock_now(&self->run.clock),
			      memory_order_relaxed);
	access_pass(&self->run.access);
	if (all->bench->reset(&self->run) < 0) {
		fails(self, strerror(errno));
		return;
	}
	if (self->n < CALLS)
		self->ns[self->n++] = ns;
}

/* A round of the team: one operation. */
static void work(void *context, size_t index)
{
	const struct initiators *all = context;
	struct initiator *self = &all->shared->each[index];

	if (!self->error && (!self->mapped || self->seed != all->shared->seed))
		map(all, self, index);
	if (!self->error)
		operate(all, self);
}

struct initiators *initiators_open(size_t n, bool processes,
				   const struct placement *placement,
				   size_t first, const struct bench *bench,
				   const struct bench_run *run)
{
	struct initiators *all = calloc(1, sizeof(*all));
	size_t i;

	if (!all)
		return NULL;
	all->bench = bench;
	all->n = n;
	all->processes = processes;
	all->size = sizeof(*all->shared) + n * sizeof(struct initiator);
	all->shared = mmap(NULL, all->size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all->shared == MAP_FAILED) {
		free(all);
		return NULL;
	}
	for (i = 0; i < n; i++) {
		all->shared->each[i].run.work = run->work;
		all->shared->each[i].run.clock = run->clock;
	}
	all->team = (processes ? team_open_processes :
				 team_open)(n, placement, first, work, all);
	if (all->team)
		return all;
	initiators_close(all);
	return NULL;
}

void initiators_close(struct initiators *all)
{
	int error = errno;
	size_t i;

	if (!all)
		return;
	team_close(all->team);
	/* What is mapped in a process went with it. */
	for (i = 0; i < all->n && !all->processes; i++)
		unmap(all, &all->shared->each[i]);
	munmap(all->shared, all->size);
	free(all);
	errno = error;
}

static int say(char **why, const char *what, int error)
{
	if (why)
		*why = strdup(what);
	errno = error;
	return -1;
}

/* The first that failed, or who was killed, is the reason. 0 or -1. */
static int check(const struct initiators *all, char **why)
{
	size_t i;

	if (team_lost(all->team))
		return say(why, KILLED, ECHILD);
	for (i = 0; i < all->n; i++) {
		const struct initiator *each = &all->shared->each[i];

		if (each->error)
			return say(why, each->what, each->error);
	}
	return team_bound(all->team, "", why);
}

int initiators_run(struct initiators *all, uint64_t seed,
		   const volatile int *stop, char **why)
{
	all->shared->seed = seed;
	if (team_run(all->team, stop) < 0) {
		if (errno == EINTR)
			return -1;
		return say(why, KILLED, errno);
	}
	if (check(all, why) == 0)
		return 0;
	team_park(all->team);
	return -1;
}

bool initiators_lost(const struct initiators *all)
{
	return all && team_lost(all->team);
}

uint64_t initiators_calls(const struct initiators *all)
{
	return team_rounds(all->team);
}

bool initiators_went_on(const struct initiators *all, uint64_t since)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		uint64_t last = atomic_load_explicit(&all->shared->each[i].last,
						     memory_order_relaxed);

		if ((int64_t)(last - since) < 0)
			return false;
	}
	return true;
}

int initiators_park(struct initiators *all, struct samples *calls, char **why)
{
	size_t i, j;

	team_park(all->team);
	if (check(all, why) < 0)
		return -1;
	for (i = 0; i < all->n; i++) {
		struct initiator *each = &all->shared->each[i];

		for (j = 0; j < each->n; j++)
			if (samples_add(calls, each->ns[j]) < 0)
				return say(why, strerror(errno), errno);
		each->n = 0;
	}
	return 0;
}
