/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>

#include "affinity.h"

int affinity_get(struct affinity *affinity)
{
	size_t cpus;

	for (cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
		affinity->size = CPU_ALLOC_SIZE(cpus);
		affinity->set = CPU_ALLOC(cpus);
		if (!affinity->set)
			return -1;
		if (!sched_getaffinity(0, affinity->size, affinity->set))
			return 0;
		CPU_FREE(affinity->set);
		if (errno != EINVAL)
			return -1;
	}
	return -1;
}
