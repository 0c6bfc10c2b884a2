/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spinner: see spinner.h.
 */
#include <config.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spinner.h"

static void give_up(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(EXIT_FAILURE);
}

void spinner_pin(int cpu)
{
	const size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);

	if (!set)
		give_up("CPU_ALLOC");
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set) < 0)
		give_up("sched_setaffinity");
	CPU_FREE(set);
}

void spinner_unpin(void)
{
	const int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	const size_t size = CPU_ALLOC_SIZE(cpus);
	cpu_set_t *set = CPU_ALLOC(cpus);

	if (!set)
		give_up("CPU_ALLOC");
	CPU_ZERO_S(size, set);
	for (int cpu = 0; cpu < cpus; cpu++)
		CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set) < 0)
		give_up("sched_setaffinity");
	CPU_FREE(set);
}

static void *spin(void *argument)
{
	struct spinner *spinner = argument;

	spinner_pin(spinner->cpu);
	spinner->tid = (pid_t)syscall(SYS_gettid);
	while (!__atomic_load_n(&spinner->stop, __ATOMIC_ACQUIRE)) {
		__atomic_fetch_add(&spinner->beats, 1, __ATOMIC_RELEASE);
		__builtin_ia32_pause();
	}
	return NULL;
}

static unsigned long beats(struct spinner *spinner)
{
	return __atomic_load_n(&spinner->beats, __ATOMIC_ACQUIRE);
}

void spinner_start(struct spinner *spinner, int cpu)
{
	*spinner = (struct spinner){ .cpu = cpu };
	if (pthread_create(&spinner->thread, NULL, spin, spinner))
		give_up("pthread_create");
	while (!beats(spinner))
		usleep(100);
}

void spinner_stop(struct spinner *spinner)
{
	__atomic_store_n(&spinner->stop, true, __ATOMIC_RELEASE);
	pthread_join(spinner->thread, NULL);
}

/* Of the thread's life. */
static long count_switches(pid_t tid)
{
	char path[64], line[128];
	long sum = 0, count;
	const char *field;
	FILE *from;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	from = fopen(path, "r");
	if (!from)
		give_up(path);
	while (fgets(line, sizeof(line), from)) {
		field = strstr(line, "voluntary_ctxt_switches:");
		if (field && sscanf(field, "%*s %ld", &count) == 1)
			sum += count;
	}
	fclose(from);
	return sum;
}

long spinner_switches(struct spinner *spinner)
{
	const long count = count_switches(spinner->tid);
	const unsigned long before = beats(spinner);

	while (beats(spinner) == before)
		__builtin_ia32_pause();
	return count;
}
