/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * affinity: the CPUs that a thread may run on, however many the kernel knows.
 */
#ifndef TLBTUNE_AFFINITY_H
#define TLBTUNE_AFFINITY_H

#include <sched.h>
#include <stddef.h>

struct affinity {
	cpu_set_t *set; /* for CPU_FREE */
	size_t size;	/* bytes */
};

/* The affinity of the calling thread. 0 or -1 with errno. */
int affinity_get(struct affinity *affinity);

#endif
