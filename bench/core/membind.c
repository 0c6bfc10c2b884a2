/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "membind.h"
#include "report.h"
#include "text.h"
#include "why.h"

/* The node of that OS index which this process may use, or NULL. */
static hwloc_obj_t find_node(hwloc_topology_t topology, unsigned int index)
{
	hwloc_const_bitmap_t allowed =
		hwloc_topology_get_allowed_nodeset(topology);

	if (!hwloc_bitmap_isset(allowed, index))
		return NULL;
	return hwloc_get_numanode_obj_by_os_index(topology, index);
}

/* The node that the CPU belongs to, or NULL. */
static hwloc_obj_t node_of_cpu(hwloc_topology_t topology, unsigned int cpu)
{
	hwloc_obj_t node = NULL;

	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE,
						  node)))
		if (hwloc_bitmap_isset(node->cpuset, cpu))
			return node;
	return NULL;
}

/* What the firmware says of the way from one node to another; NAN. */
static double distance(hwloc_topology_t topology, hwloc_obj_t from,
		       hwloc_obj_t to)
{
	struct hwloc_distances_s *matrix = NULL;
	hwloc_uint64_t forth, back;
	double value = NAN;
	unsigned int n = 1;

	if (!from ||
	    hwloc_distances_get_by_type(
		    topology, HWLOC_OBJ_NUMANODE, &n, &matrix,
		    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) < 0 ||
	    n == 0)
		return NAN;
	if (hwloc_distances_obj_pair_values(matrix, from, to, &forth, &back) ==
	    0)
		value = (double)forth;
	hwloc_distances_release(topology, matrix);
	return value;
}

/* Append the node. 0 or -1. */
static int add(struct membind *out, hwloc_obj_t from, unsigned int index,
	       char **why)
{
	hwloc_obj_t node = find_node(out->topology, index);
	struct membind_node *more;
	size_t i;

	if (!node)
		return why_set(why, EINVAL,
			       "expected NUMA nodes that this process may use "
			       "(there are %d), got %u",
			       hwloc_get_nbobjs_by_type(out->topology,
							HWLOC_OBJ_NUMANODE),
			       index);
	for (i = 0; i < out->n; i++)
		if (out->node[i].node == index)
			return why_set(why, EINVAL, "node %u is named twice",
				       index);
	more = reallocarray(out->node, out->n + 1, sizeof(*more));
	if (!more)
		return why_set(why, ENOMEM, "%s", strerror(ENOMEM));
	out->node = more;
	more[out->n++] = (struct membind_node){
		.node = index,
		.distance = distance(out->topology, from, node),
	};
	return 0;
}

int membind_open(struct membind *out, hwloc_topology_t topology,
		 unsigned int cpu, const char *list, char **why)
{
	hwloc_obj_t from = node_of_cpu(topology, cpu);
	const char *rest = list;
	unsigned int first, last;
	int error;

	*out = (struct membind){ .topology = topology };
	while (*rest != ',' && text_range(&rest, &first, &last)) {
		for (; first <= last; first++)
			if (add(out, from, first, why) < 0)
				goto fail;
		if (*rest == ',' && rest[1] && rest[1] != ',')
			rest++;
	}
	if (!*rest && out->n)
		return 0;
	why_set(why, EINVAL, "expected a list of NUMA nodes, got '%s'", list);
fail:
	error = errno;
	membind_close(out);
	errno = error;
	return -1;
}

int membind_bind(const struct membind *membind, size_t i, char **why)
{
	const int flags = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_STRICT |
			  HWLOC_MEMBIND_BYNODESET;
	unsigned int node = membind->node[i].node;
	hwloc_bitmap_t want = hwloc_bitmap_alloc();
	hwloc_bitmap_t got = hwloc_bitmap_alloc();
	hwloc_membind_policy_t policy;
	int status = 0;

	if (!want || !got || hwloc_bitmap_only(want, node) < 0)
		status = why_set(why, ENOMEM, "%s", strerror(ENOMEM));
	else if (hwloc_set_membind(membind->topology, want, HWLOC_MEMBIND_BIND,
				   flags) < 0)
		status = why_set(why, EAGAIN,
				 "cannot bind memory to NUMA node %u: %s", node,
				 strerror(errno));
	else if (hwloc_get_membind(membind->topology, got, &policy, flags) <
			 0 ||
		 policy != HWLOC_MEMBIND_BIND ||
		 !hwloc_bitmap_isequal(want, got))
		status = why_set(why, EAGAIN,
				 "memory is not bound to NUMA node %u, though "
				 "the system says so",
				 node);
	hwloc_bitmap_free(want);
	hwloc_bitmap_free(got);
	return status;
}

int membind_verify(const struct membind *membind, size_t i, const void *memory,
		   size_t len, char **why)
{
	unsigned int node = membind->node[i].node;
	hwloc_bitmap_t got = hwloc_bitmap_alloc();
	int status = 0;

	if (!got)
		return why_set(why, ENOMEM, "%s", strerror(ENOMEM));
	if (hwloc_get_area_memlocation(membind->topology, memory, len, got,
				       HWLOC_MEMBIND_BYNODESET) < 0)
		status = why_set(why, EAGAIN,
				 "cannot verify where memory lies: %s",
				 strerror(errno));
	else if (hwloc_bitmap_weight(got) != 1 ||
		 !hwloc_bitmap_isset(got, node))
		status = why_set(why, EAGAIN,
				 "memory bound to NUMA node %u lies elsewhere",
				 node);
	hwloc_bitmap_free(got);
	return status;
}

int membind_verify_region(const struct membind *membind, size_t i,
			  const struct region *region, char **why)
{
	size_t t;

	if (!membind)
		return 0;
	for (t = 0; t < region->targets; t++) {
		struct region one = region_target(region, t);

		if (membind_verify(membind, i, one.target,
				   one.target_pages * one.page, why) < 0)
			return -1;
	}
	return membind_verify(membind, i, region->set,
			      region->set_pages * region->page, why);
}

json_t *membind_json(const struct membind_node *node)
{
	return json_pack("{s:o, s:o}", "node",
			 node ? json_integer(node->node) : json_null(),
			 "distance",
			 report_number(node ? node->distance : NAN));
}

void membind_text(const json_t *labels, FILE *to)
{
	const json_t *node = json_object_get(labels, "node");
	double distance = report_get(labels, "distance");

	if (!json_is_integer(node))
		return;
	fprintf(to, "memory on node %" JSON_INTEGER_FORMAT ", distance ",
		json_integer_value(node));
	if (isfinite(distance))
		fprintf(to, "%.0f\n", distance);
	else
		fputs("n/a\n", to);
}

void membind_close(struct membind *membind)
{
	free(membind->node);
	*membind = (struct membind){ 0 };
}
