/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evict.h"
#include "parent.h"

#define HELPERS 12
#define PATIENCE_MS 1000
#define MAX_CPUS (1 << 20)

struct evictor {
	pid_t helper[HELPERS];
	size_t helpers;
	/*
	 * A byte goes from the first line to the last: each helper takes it
	 * from one, which makes it run, and puts it into the next.
	 */
	int line[HELPERS + 1][2];
	size_t lines;
	bool out_of_step; /* a byte may still be on its way */
};

__attribute__((noreturn)) static void help(pid_t parent, int from, int to)
{
	const struct sched_param first = { .sched_priority = 1 };
	char byte;

	if (!parent_die_with(parent))
		_exit(0);
	signal(SIGINT, SIG_IGN);
	/* Sooner, where that is allowed. */
	sched_setscheduler(0, SCHED_FIFO, &first);
	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			break;
	_exit(0);
}

static int add_line(struct evictor *evictor)
{
	if (pipe2(evictor->line[evictor->lines], O_CLOEXEC) < 0)
		return -1;
	evictor->lines++;
	return 0;
}

static int add_helper(struct evictor *evictor)
{
	size_t n = evictor->helpers;
	pid_t parent = getpid();

	if (add_line(evictor) < 0)
		return -1;
	evictor->helper[n] = fork();
	if (evictor->helper[n] == 0)
		help(parent, evictor->line[n][0], evictor->line[n + 1][1]);
	if (evictor->helper[n] < 0)
		return -1;
	evictor->helpers++;
	return 0;
}

struct evictor *evict_open(void)
{
	struct evictor *evictor = calloc(1, sizeof(*evictor));
	int error, status;

	if (!evictor)
		return NULL;
	status = add_line(evictor);
	while (status == 0 && evictor->helpers < HELPERS)
		status = add_helper(evictor);
	if (status == 0)
		return evictor;
	error = errno;
	evict_close(evictor);
	errno = error;
	return NULL;
}

void evict_close(struct evictor *evictor)
{
	size_t i;

	if (!evictor)
		return;
	for (i = 0; i < evictor->helpers; i++) {
		kill(evictor->helper[i], SIGKILL);
		waitpid(evictor->helper[i], NULL, 0);
	}
	for (i = 0; i < evictor->lines; i++) {
		close(evictor->line[i][0]);
		close(evictor->line[i][1]);
	}
	free(evictor);
}

/* Have all helpers run, one after the other, on the one CPU in set. */
static int run(struct evictor *evictor, const cpu_set_t *set, size_t size)
{
	struct pollfd last = { evictor->line[HELPERS][0], POLLIN, 0 };
	char byte = 0;
	size_t i;

	for (i = 0; i < HELPERS; i++)
		if (sched_setaffinity(evictor->helper[i], size, set) < 0) {
			/* beyond our cpuset */
			errno = errno == EINVAL ? ENXIO : errno;
			return -1;
		}
	if (write(evictor->line[0][1], &byte, 1) != 1)
		return -1;
	if (poll(&last, 1, PATIENCE_MS) == 1 && read(last.fd, &byte, 1) == 1)
		return 0;
	evictor->out_of_step = true;
	errno = ETIMEDOUT;
	return -1;
}

static int run_all(struct evictor *evictor, const cpu_set_t *all,
		   cpu_set_t *one, size_t size)
{
	size_t cpu;

	for (cpu = 0; cpu < 8 * size; cpu++) {
		if (!CPU_ISSET_S(cpu, size, all))
			continue;
		CPU_ZERO_S(size, one);
		CPU_SET_S(cpu, size, one);
		if (run(evictor, one, size) < 0)
			return -1;
	}
	return 0;
}

/* Add the CPUs of every thread. 0, or -1 with errno: EINVAL, set too small. */
static int add_threads(const char *root, pid_t process, cpu_set_t *all,
		       cpu_set_t *one, size_t size)
{
	const struct dirent *entry;
	int status = 0;
	char *path;
	DIR *tasks;

	if (asprintf(&path, "%s/proc/%d/task", root, (int)process) < 0)
		return -1;
	tasks = opendir(path);
	free(path);
	if (!tasks)
		return -1;
	CPU_ZERO_S(size, all);
	while (status == 0 && (entry = readdir(tasks))) {
		pid_t thread = atoi(entry->d_name);

		if (thread <= 0)
			continue;
		status = sched_getaffinity(thread, size, one);
		if (status == 0)
			CPU_OR_S(size, all, all, one);
		else if (errno == ESRCH) /* it has ended since */
			status = 0;
	}
	closedir(tasks);
	return status;
}

int evict(struct evictor *evictor, const char *root, pid_t process)
{
	int status = -1;
	size_t cpus;

	if (evictor->out_of_step) {
		errno = ETIMEDOUT;
		return -1;
	}
	errno = EINVAL;
	for (cpus = 1024; status < 0 && errno == EINVAL && cpus <= MAX_CPUS;
	     cpus *= 2) {
		cpu_set_t *all = CPU_ALLOC(cpus), *one = CPU_ALLOC(cpus);
		size_t size = CPU_ALLOC_SIZE(cpus);

		if (all && one)
			status = add_threads(root, process, all, one, size);
		if (status == 0)
			status = run_all(evictor, all, one, size);
		CPU_FREE(all);
		CPU_FREE(one);
	}
	return status;
}
