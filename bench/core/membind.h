/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * membind: which NUMA node memory comes from, and how far from the CPU that is.
 */
#ifndef TLBTUNE_MEMBIND_H
#define TLBTUNE_MEMBIND_H

#include <hwloc.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "region.h"

struct membind_node {
	unsigned int node; /* OS index */
	/* From the node of the CPU, as the firmware has it, 10 for the node
	 * itself; NAN: unknown, or there is only one node. */
	double distance;
};

struct membind {
	hwloc_topology_t topology;
	size_t n;
	struct membind_node *node; /* [n] in the order of the list */
};

/*
 * Pure: parse a list of nodes such as "0,2-3", each of which must be in the
 * topology and allowed, and named once; distances are from the CPU cpu. On
 * failure returns -1 with errno (EINVAL, ENOMEM) and *why a malloc'ed sentence
 * on what was expected, or NULL.
 */
int membind_open(struct membind *out, hwloc_topology_t topology,
		 unsigned int cpu, const char *list, char **why);

/*
 * From now on, memory that this thread, or one that it starts, touches first
 * comes from node[i] and nowhere else. 0, or -1 with *why.
 */
int membind_bind(const struct membind *membind, size_t i, char **why);

/* All pages of the memory lie on node[i]. 0, or -1 with *why and EAGAIN. */
int membind_verify(const struct membind *membind, size_t i, const void *memory,
		   size_t len, char **why);

/*
 * The same for all targets and the working set of a region; memory that is not
 * bound (membind is NULL) may lie anywhere.
 */
int membind_verify_region(const struct membind *membind, size_t i,
			  const struct region *region, char **why);

/*
 * {"node", "distance"}: labels of what was measured with memory on the node, or
 * not bound (NULL): both are null then.
 */
json_t *membind_json(const struct membind_node *node);

/* These labels as a line for people, nothing if memory was not bound. */
void membind_text(const json_t *labels, FILE *to);

void membind_close(struct membind *membind);

#endif
