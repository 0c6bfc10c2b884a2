/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * team of processes: they work in windows only, each in memory and on a CPU of
 * its own; when one is killed that is an error, none is left behind, and none
 * outlives the caller.
 */
#include <config.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/placement.h"
#include "core/team.h"
#include "tap.h"

#define PROCESSES 3

/* What the processes leave, in shared memory. */
struct trace {
	atomic_ulong rounds[PROCESSES];
	atomic_int pid[PROCESSES];
	atomic_int cpu[PROCESSES];
	atomic_int others; /* rounds that saw what another process wrote */
};

/* Memory of the caller, of which each process has a copy. */
static int mine = -1;

static void leave_trace(void *context, size_t index)
{
	struct trace *trace = context;

	if (mine != -1 && mine != (int)index)
		trace->others++;
	mine = (int)index;
	trace->pid[index] = getpid();
	trace->cpu[index] = sched_getcpu();
	trace->rounds[index]++;
}

static struct trace *share(void)
{
	void *memory = mmap(NULL, sizeof(struct trace), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static void is_nobody_left(const struct trace *trace, const char *when)
{
	int left = 0, i;

	for (i = 0; i < PROCESSES; i++)
		left += trace->pid[i] && kill(trace->pid[i], 0) == 0;
	is_int(left, 0, "%s: no process is left", when);
	errno = 0;
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
	   "%s: none is to be waited for", when);
}

static void test_windows(const struct placement *placement)
{
	struct trace *trace = share();
	struct team *team = team_open_processes(PROCESSES, placement, 0,
						leave_trace, trace);
	int window, i;

	if (!ok(team, "%d processes", PROCESSES))
		return;
	for (window = 0; window < 3; window++) {
		unsigned long before[PROCESSES], ran = 0;
		uint64_t parked;

		for (i = 0; i < PROCESSES; i++)
			before[i] = trace->rounds[i];
		is_int(team_run(team, NULL), 0, "run");
		usleep(2000);
		team_park(team);
		parked = team_rounds(team);
		usleep(2000);
		is_int(team_rounds(team), parked, "no rounds while parked");
		for (i = 0; i < PROCESSES; i++) {
			ran += trace->rounds[i] > before[i];
			is_int(trace->rounds[i], team_rounds_of(team, i),
			       "each round counts");
		}
		is_int(ran, PROCESSES, "each ran in window %d", window);
	}
	for (i = 0; i < PROCESSES; i++) {
		is_int(trace->cpu[i], placement->cpu[i % placement->n],
		       "on its CPU");
		ok(trace->pid[i] != getpid(), "not in this process");
	}
	is_int(trace->others, 0, "each has memory of its own");
	is_int(mine, -1, "and so has the caller");
	team_close(team);
	is_nobody_left(trace, "closed");
	munmap(trace, sizeof(*trace));
}

/* One is killed while all run, or while all are parked. */
static void test_killed(const struct placement *placement, bool parked)
{
	const char *when = parked ? "killed when parked" : "killed at work";
	struct trace *trace = share();
	struct team *team = team_open_processes(PROCESSES, placement, 0,
						leave_trace, trace);

	if (!ok(team && team_run(team, NULL) == 0, "%s: run", when))
		return;
	if (parked)
		team_park(team);
	ok(!team_lost(team), "%s: nothing is lost before", when);
	kill(trace->pid[1], SIGKILL);
	if (!parked)
		team_park(team);
	errno = 0;
	is_int(team_run(team, NULL), -1, "%s: no other window", when);
	is_int(errno, ECHILD, "%s: errno", when);
	ok(team_lost(team), "%s: that is told", when);
	is_nobody_left(trace, when);
	team_park(team);
	team_close(team);
	munmap(trace, sizeof(*trace));
}

/* In a child: open a team and never come back. */
static void open_and_wait(const struct placement *placement,
			  struct trace *trace)
{
	struct team *team = team_open_processes(PROCESSES, placement, 0,
						leave_trace, trace);

	if (!team || team_run(team, NULL) < 0)
		_exit(1);
	for (;;)
		pause();
}

/* The caller is killed, which no handler sees. */
static void test_orphans(const struct placement *placement)
{
	struct trace *trace = share();
	int i, tries, left = PROCESSES;
	pid_t child = fork();

	if (child < 0)
		abort();
	if (child == 0)
		open_and_wait(placement, trace);
	for (i = 0; i < PROCESSES; i++)
		while (!trace->rounds[i])
			usleep(1000);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* Where nobody reaps them they stay as zombies: rounds tell. */
	for (tries = 0; left && tries < 100; tries++) {
		unsigned long before[PROCESSES];

		for (i = 0; i < PROCESSES; i++)
			before[i] = trace->rounds[i];
		usleep(20000);
		for (i = 0, left = 0; i < PROCESSES; i++)
			left += trace->rounds[i] != before[i];
	}
	is_int(left, 0, "the caller is killed: nobody works any more");
	munmap(trace, sizeof(*trace));
}

int main(void)
{
	struct placement placement;
	char *why;

	if (placement_open(&placement, NULL, &why) < 0)
		skip_all("no placement: %s", why ? why : "?");
	test_windows(&placement);
	test_killed(&placement, false);
	test_killed(&placement, true);
	test_orphans(&placement);
	placement_close(&placement);
	return done();
}
