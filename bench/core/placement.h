/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement: which CPU each thread runs on.
 *
 * The order is that in which threads are added: one thread on each core before
 * any core gets a second (SMT), the fastest kind of core first on hybrid parts
 * (hwloc cpukinds), a package filled before the next. Only CPUs in the cpuset
 * of this process (taskset, cgroup, online) are used. Thread i gets cpu
 * order[i % n]; more threads than CPUs is allowed and is the caller's to flag.
 */
#ifndef TLBTUNE_PLACEMENT_H
#define TLBTUNE_PLACEMENT_H

#include <hwloc.h>
#include <stddef.h>

struct placement {
	size_t n;	    /* CPUs in the order, at least 1 */
	unsigned int *cpu;  /* [n] OS index of the CPU (PU) */
	unsigned int *core; /* [n] logical index of the core it belongs to */
	int *kind;	    /* [n] hwloc cpukind, -1: unknown or not hybrid */
	size_t kinds;	    /* distinct values of kind[], at least 1 */
	size_t cores;	    /* distinct cores among them */
	/* the machine, loaded by placement_open; NULL: not to be bound to */
	hwloc_topology_t topology;
};

/*
 * Pure: the order of the CPUs in allowed (OS indexes) on the topology. Where
 * the topology knows no cores, each CPU counts as a core. Returns 0 or -1 with
 * errno (ENODEV: no CPU is left; ENOMEM).
 */
int placement_order(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
		    struct placement *out);

/*
 * Pure: parse a list such as "0-3,8,10-12" in the order given. Every CPU must
 * be in allowed; a CPU named twice is refused. On failure returns -1 with errno
 * (EINVAL, ENODEV, ENOMEM) and *why is a malloc'ed sentence for the user that
 * says what was expected; NULL if there is no memory for it.
 */
int placement_parse(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
		    const char *list, struct placement *out, char **why);

/*
 * The machine: load the topology and the CPUs this process may use, then as
 * placement_order (list NULL) or placement_parse. On failure returns -1 and
 * *why is a malloc'ed sentence, or NULL; errno EINVAL means that list is at
 * fault. Call it while the process has one thread and before that is bound:
 * what a thread is bound to counts as what the process may use.
 */
int placement_open(struct placement *out, const char *list, char **why);

/*
 * Bind the calling thread to one CPU and verify that it took effect. 0 or -1
 * with errno (EINVAL: no such CPU; ENOTSUP: the system says yes and does
 * nothing). Threads may call it at the same time with the same placement.
 */
int placement_bind(const struct placement *placement, unsigned int cpu);

/* Allowed after a failure, and on a placement that is all zero. */
void placement_close(struct placement *placement);

#endif
