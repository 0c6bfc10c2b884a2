/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup: the CPU and memory limits this process runs under, v1 or v2.
 *
 * Each level of the hierarchy limits all below it, so that the tightest on the
 * way to the root counts. Only levels that the mounts show are seen: from
 * inside a container that is often the container's own.
 */
#ifndef TLBTUNE_CGROUP_H
#define TLBTUNE_CGROUP_H

struct cgroup {
	int cpu_version; /* hierarchy of the CPU controller, 1 or 2; -1 */
	char *cpu_max; /* "150000 100000": us per period, or "max ..."; NULL */
	char *memory_max; /* bytes, or "max"; NULL */
};

/* Read the limits of this process. What is unknown, or on ENOMEM, is NULL. */
void cgroup_read(const char *root, struct cgroup *out);

void cgroup_free(struct cgroup *cgroup);

/*
 * Bytes that this process can still have before the tightest memory limit of
 * the cgroups it is in ends it: what is used counts, but for the part of the
 * page cache that is given up at once. INFINITY: no limit; NAN: unknown.
 */
double cgroup_memory_left(const char *root);

/*
 * How often this process, or a cgroup it is in, has run out of its quota and
 * was stopped until the next period. NAN: unknown.
 */
double cgroup_throttled(const char *root);

#endif
