/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * team: threads run in windows only, every round is counted, they are where
 * they should be, and nothing is left behind when they cannot be started.
 */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/placement.h"
#include "core/team.h"
#include "tap.h"

#define MANY 256

/* The argument with which this program opens a team and exits with errno. */
#define OPEN "--open"

/* What the threads of a team leave behind. */
struct trace {
	uint64_t *rounds;     /* [n] plain: TSan shows whether parking orders */
	unsigned int *cpu;    /* [n] where thread i should be */
	atomic_int elsewhere; /* rounds on another CPU */
};

static void trace_open(struct trace *trace, size_t n,
		       const struct placement *placement, size_t first)
{
	*trace = (struct trace){
		.rounds = calloc(n, sizeof(*trace->rounds)),
		.cpu = calloc(n, sizeof(*trace->cpu)),
	};
	if (!trace->rounds || !trace->cpu)
		abort();
	for (size_t i = 0; i < n; i++)
		trace->cpu[i] = placement->cpu[(first + i) % placement->n];
}

static uint64_t trace_rounds(const struct trace *trace, size_t n)
{
	uint64_t rounds = 0;

	for (size_t i = 0; i < n; i++)
		rounds += trace->rounds[i];
	return rounds;
}

static uint64_t fewest_rounds(const struct trace *trace, size_t n)
{
	uint64_t fewest = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (trace->rounds[i] < fewest)
			fewest = trace->rounds[i];
	return fewest;
}

static void trace_close(struct trace *trace)
{
	free(trace->rounds);
	free(trace->cpu);
}

static void leave_trace(void *context, size_t index)
{
	struct trace *trace = context;

	trace->rounds[index]++;
	if (sched_getcpu() != (int)trace->cpu[index])
		trace->elsewhere++;
}

/* Visit each thread of this process; returns how many there are. */
static int count_tasks(bool (*counts)(const char *task))
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	int n = 0;

	if (!tasks)
		abort();
	while ((task = readdir(tasks)))
		n += task->d_name[0] != '.' && counts(task->d_name);
	closedir(tasks);
	return n;
}

static bool exists(const char *task)
{
	(void)task;
	return true;
}

static bool sleeps(const char *task)
{
	char *path, state = '?';
	FILE *stat;

	if (asprintf(&path, "/proc/self/task/%s/stat", task) < 0)
		abort();
	stat = fopen(path, "re");
	free(path);
	if (!stat)
		return false;
	/* the name of the program holds no parenthesis */
	if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(stat);
	return state == 'S';
}

/*
 * Wait for a number that the kernel brings up to date a little after the fact:
 * a thread that was joined is still listed for a moment.
 */
static int settled(bool (*counts)(const char *task), int want)
{
	int n;

	for (int i = 0; (n = count_tasks(counts)) != want && i < 2000; i++)
		usleep(1000);
	return n;
}

/*
 * The threads of this process that are here to stay: the caller, and one of
 * ThreadSanitizer's own after the first thread was created.
 */
static int own_tasks(void)
{
	int least = count_tasks(exists), n;

	for (int i = 0; least > 1 && i < 200; i++) {
		usleep(1000);
		n = count_tasks(exists);
		if (n < least)
			least = n;
	}
	return least;
}

static void test_windows(const struct placement *placement, size_t n)
{
	int before = own_tasks();
	struct trace trace;
	struct team *team;
	uint64_t parked, fewest = 0;

	trace_open(&trace, n, placement, 1);
	team = team_open(n, placement, 1, leave_trace, &trace);
	if (!team && errno == EAGAIN && n == MANY) {
		skip(1, "no room for %zu threads", n);
		trace_close(&trace);
		return;
	}
	if (!ok(team, "%zu threads: opens", n)) {
		trace_close(&trace);
		return;
	}
	is_int(team_rounds(team), 0, "no round before the first window");
	is_int(settled(exists, before + (int)n), before + (int)n,
	       "%zu threads exist", n);
	for (int window = 0; window < 3; window++) {
		uint64_t begin;

		is_int(settled(sleeps, before - 1 + (int)n), before - 1 + n,
		       "parked threads sleep");
		is_int(team_run(team, NULL), 0, "runs");
		begin = team_rounds(team);
		while (team_rounds(team) < begin + 2 * n)
			sched_yield();
		team_park(team);
		parked = team_rounds(team);
		is_int(trace_rounds(&trace, n), parked, "each round counts");
		ok(fewest_rounds(&trace, n) > fewest,
		   "each thread ran in window %d", window);
		fewest = fewest_rounds(&trace, n);
		usleep(2000);
		is_int(team_rounds(team), parked, "no rounds while parked");
	}
	is_int(trace.elsewhere, 0, "each thread on its CPU");
	is_int(team_run(team, NULL), 0, "runs, to be closed while it does");
	team_close(team);
	ok(trace_rounds(&trace, n) >= parked + n, "the last window counts");
	is_int(settled(exists, before), before, "no thread is left");
	trace_close(&trace);
}

static void test_nobody(const struct placement *placement)
{
	int stop = 1;
	struct team *team = team_open(0, placement, 1, leave_trace, NULL);

	if (!ok(team, "a team without members"))
		return;
	is_int(team_run(team, NULL), 0, "runs");
	errno = 0;
	is_int(team_run(team, &stop), -1, "unless it is time to stop");
	is_int(errno, EINTR, "errno");
	is_int(team_rounds(team), 0, "does nothing");
	team_park(team);
	team_park(team);
	team_close(team);
	team_close(NULL);
}

static void test_restarts(const struct placement *placement)
{
	struct trace trace;
	struct team *team;
	int wrong = 0;

	trace_open(&trace, 3, placement, 0);
	for (int i = 0; i < 100; i++) {
		team = team_open(3, placement, 0, leave_trace, &trace);
		if (!team) {
			wrong++;
			continue;
		}
		for (int window = 0; window < 3; window++) {
			wrong += team_run(team, NULL) != 0;
			wrong += team_rounds(team) < 3;
			/* a second call changes nothing */
			wrong += team_run(team, NULL) != 0;
			team_park(team);
		}
		team_close(team);
	}
	is_int(wrong, 0, "100 teams, three windows each");
	ok(fewest_rounds(&trace, 3) >= 300, "every thread ran in each");
	is_int(trace.elsewhere, 0, "on its CPU");
	trace_close(&trace);
}

static void look_at_mask(void *context, size_t index)
{
	atomic_int *wrong = context;
	sigset_t mask;

	(void)index;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	*wrong |= !sigismember(&mask, SIGINT) || !sigismember(&mask, SIGTERM) ||
		  !sigismember(&mask, SIGALRM) || sigismember(&mask, SIGSEGV);
}

static void test_masks(const struct placement *placement)
{
	sigset_t before, after;
	atomic_int wrong = 0;
	struct team *team;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	team = team_open(2, placement, 0, look_at_mask, &wrong);
	if (ok(team, "opens")) {
		team_run(team, NULL);
		team_close(team);
	}
	is_int(wrong, 0, "threads take no signals but faults");
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	ok(sigismember(&after, SIGUSR2) && !sigismember(&after, SIGINT),
	   "the caller's mask is as it was");
	sigdelset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct priority {
	int want;
	atomic_int wrong;
};

static void look_at_priority(void *context, size_t index)
{
	struct priority *priority = context;

	(void)index;
	if (getpriority(PRIO_PROCESS, 0) != priority->want)
		priority->wrong++;
}

/* Threads that share CPUs must not keep the caller from its own. */
static void test_priority(const struct placement *placement)
{
	struct team *team;

	for (size_t n = placement->n; n <= placement->n + 1; n++) {
		struct priority priority = {
			.want = n > placement->n ? 19 :
						   getpriority(PRIO_PROCESS, 0),
		};

		team = team_open(n, placement, 0, look_at_priority, &priority);
		if (!ok(team, "%zu threads on %zu CPUs", n, placement->n))
			continue;
		team_run(team, NULL);
		team_close(team);
		is_int(priority.wrong, 0, "have priority %d", priority.want);
	}
}

static volatile int stop;
static atomic_bool stopped;

static void on_alarm(int signal)
{
	(void)signal;
	stop = 1;
	stopped = true;
}

/* The first thread does not come back until the signal has arrived. */
static void wait_for_alarm(void *context, size_t index)
{
	struct trace *trace = context;

	while (index == 0 && !stopped)
		usleep(100);
	trace->rounds[index]++;
}

static void test_interruption(const struct placement *placement, size_t n)
{
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct sigaction action = { .sa_handler = on_alarm,
				    .sa_flags = SA_RESTART };
	struct trace trace;
	struct team *team;
	uint64_t rounds;

	trace_open(&trace, n, placement, 0);
	stop = 0;
	stopped = false;
	sigaction(SIGALRM, &action, NULL);
	team = team_open(n, placement, 0, wait_for_alarm, &trace);
	if (!ok(team, "opens")) {
		trace_close(&trace);
		return;
	}
	setitimer(ITIMER_REAL, &soon, NULL);
	errno = 0;
	is_int(team_run(team, &stop), -1, "%zu threads: interrupted", n);
	is_int(errno, EINTR, "errno");
	rounds = team_rounds(team);
	is_int(trace_rounds(&trace, n), rounds, "parked, each round counts");
	usleep(2000);
	is_int(team_rounds(team), rounds, "and still parked");
	stop = 0;
	is_int(team_run(team, &stop), 0, "runs again");
	ok(team_rounds(team) >= rounds + n, "everybody took part");
	team_close(team);
	trace_close(&trace);
}

static void test_no_such_cpu(const struct placement *placement)
{
	int before = own_tasks();
	unsigned int cpu[] = { placement->cpu[0], 1 << 24, placement->cpu[0] };
	struct placement wrong = *placement;

	wrong.cpu = cpu;
	wrong.n = 3;
	errno = 0;
	ok(!team_open(6, &wrong, 0, leave_trace, NULL),
	   "a CPU that does not exist");
	is_int(errno, EINVAL, "errno");
	is_int(settled(exists, before), before, "no thread is left");
}

/* In a child: memory for some of the threads only. */
static int open_starved(const struct placement *placement, rlim_t bytes)
{
	struct rlimit limit = { bytes, bytes };
	struct team *team;

	if (setrlimit(RLIMIT_AS, &limit) < 0)
		return 100;
	team = team_open(1024, placement, 0, leave_trace, NULL);
	if (team)
		return 101;
	if (errno != EAGAIN && errno != ENOMEM)
		return 102;
	return own_tasks() == 1 ? 0 : 103;
}

static void test_too_little_memory(const struct placement *placement)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;
	int status;
	pid_t child;

	if (!statm || fscanf(statm, "%lu", &pages) != 1)
		abort();
	fclose(statm);
	if (pages > 1UL << 28) {
		skip(2, "a sanitizer needs the whole address space");
		return;
	}
	child = fork();
	if (child < 0)
		abort();
	if (child == 0)
		_exit(open_starved(placement, pages * 4096 + (2 << 20)));
	waitpid(child, &status, 0);
	ok(WIFEXITED(status), "too little memory: does not crash");
	is_int(WEXITSTATUS(status), 0, "an error, and no thread is left");
}

/* In a child: try twice; threads that are left would be seen to add up. */
static int open_twice(void)
{
	struct placement placement;
	int error = 0, tasks = 0;
	struct team *team;
	char *why;

	if (placement_open(&placement, NULL, &why) < 0)
		return 100;
	for (int i = 0; i < 2 && !error; i++) {
		team = team_open(4, &placement, 0, leave_trace, NULL);
		if (!team && i == 1)
			error = errno;
		if (i == 1 && own_tasks() != tasks)
			error = 101;
		tasks = own_tasks();
		team_close(team);
	}
	placement_close(&placement);
	return error;
}

static void is_denied(const char *self, const char *calls)
{
	char *command;
	int status;

	if (asprintf(&command,
		     "\"${SELF%%/*}/deny\" %s -- \"$SELF\" " OPEN " 2>&1",
		     calls) < 0)
		abort();
	setenv("SELF", self, 1);
	status = system(command);
	free(command);
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)) {
		skip(2, "%s cannot be denied here", calls);
		return;
	}
	ok(WIFEXITED(status), "%s denied: does not crash", calls);
	is_int(WEXITSTATUS(status), EPERM, "%s denied: errno", calls);
}

int main(int argc, char **argv)
{
	struct placement placement;
	char *why;

	if (argc == 2 && !strcmp(argv[1], OPEN))
		return open_twice();
	is_denied(argv[0], "clone clone3");
	is_denied(argv[0], "sched_setaffinity");
	if (placement_open(&placement, NULL, &why) < 0)
		skip_all("no placement: %s", why ? why : "?");
	/* first: makes ThreadSanitizer start its thread */
	test_restarts(&placement);
	test_nobody(&placement);
	test_windows(&placement, 1);
	test_windows(&placement, 2);
	test_windows(&placement, 5);
	test_windows(&placement, MANY);
	test_masks(&placement);
	test_priority(&placement);
	test_interruption(&placement, 1);
	test_interruption(&placement, 9);
	test_no_such_cpu(&placement);
	test_too_little_memory(&placement);
	placement_close(&placement);
	return done();
}
