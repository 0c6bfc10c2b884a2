/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spinner: see spinner.h.
 */
#include <config.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
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
	__atomic_store_n(&spinner->running, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&spinner->stop, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	return NULL;
}

void spinner_start(struct spinner *spinner, int cpu)
{
	*spinner = (struct spinner){ .cpu = cpu };
	if (pthread_create(&spinner->thread, NULL, spin, spinner))
		give_up("pthread_create");
	while (!__atomic_load_n(&spinner->running, __ATOMIC_ACQUIRE))
		usleep(100);
}

void spinner_stop(struct spinner *spinner)
{
	__atomic_store_n(&spinner->stop, true, __ATOMIC_RELEASE);
	pthread_join(spinner->thread, NULL);
}
