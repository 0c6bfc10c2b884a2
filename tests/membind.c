/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of NUMA nodes and their distances on made-up machines; binding and its
 * verification on this one.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "membind.h"
#include "tap.h"

#define NODES 4

static hwloc_topology_t synthetic(const char *description)
{
	hwloc_topology_t topology;

	hwloc_topology_init(&topology);
	hwloc_topology_set_synthetic(topology, description);
	hwloc_topology_load(topology);
	return topology;
}

#if HWLOC_API_VERSION >= 0x00020500
/* Nodes that are 10 from themselves and 10 + 7 * the steps between them. */
static void add_distances(hwloc_topology_t topology)
{
	hwloc_obj_t node[NODES];
	hwloc_uint64_t value[NODES * NODES];
	hwloc_distances_add_handle_t handle;
	unsigned int i, j;

	for (i = 0; i < NODES; i++) {
		node[i] =
			hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, i);
		for (j = 0; j < NODES; j++)
			value[i * NODES + j] = 10 + 7 * (i > j ? i - j : j - i);
	}
	handle = hwloc_distances_add_create(
		topology, "made up",
		HWLOC_DISTANCES_KIND_FROM_USER |
			HWLOC_DISTANCES_KIND_MEANS_LATENCY,
		0);
	hwloc_distances_add_values(topology, handle, NODES, node, value, 0);
	hwloc_distances_add_commit(topology, handle, 0);
}

#define HERE(distance) distance
#else
static void add_distances(hwloc_topology_t topology)
{
	(void)topology;
}

#define HERE(distance) "nan"
#endif

static void is_list(hwloc_topology_t topology, const char *list,
		    const char *wanted)
{
	struct membind membind;
	char *why = NULL, got[128] = "";
	size_t i;

	if (membind_open(&membind, topology, 5, list, &why) < 0)
		diag("%s", why);
	for (i = 0; i < membind.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got),
			 "%u:%.0f ", membind.node[i].node,
			 membind.node[i].distance);
	is_string(got, wanted, "nodes '%s'", list);
	membind_close(&membind);
	free(why);
}

static void is_refused(hwloc_topology_t topology, const char *list,
		       const char *wanted)
{
	struct membind membind;
	char *why = NULL;
	int status = membind_open(&membind, topology, 0, list, &why);

	ok(status < 0 && errno == EINVAL && why && strstr(why, wanted),
	   "'%s' is refused: %s", list, wanted);
	ok(!membind.node, "... and nothing is left");
	free(why);
}

static void test_lists(void)
{
	/* 4 nodes of 4 CPUs: CPU 5 is of node 1 */
	hwloc_topology_t topology = synthetic("numa:4 core:2 pu:2");
	hwloc_topology_t one = synthetic("numa:1 core:2 pu:1");
	struct membind membind;
	char *why = NULL;

	add_distances(topology);
	is_list(topology, "1", "1:" HERE("10") " ");
	is_list(topology, "0,3", "0:" HERE("17") " 3:" HERE("24") " ");
	is_list(topology, "2-3,0",
		"2:" HERE("17") " 3:" HERE("24") " 0:" HERE("17") " ");
	is_refused(topology, "4", "there are 4), got 4");
	is_refused(topology, "0-99999999", "got 4");
	is_refused(topology, "1,1", "named twice");
	is_refused(topology, "", "a list of NUMA nodes");
	is_refused(topology, ",1", "a list of NUMA nodes");
	is_refused(topology, "1,", "a list of NUMA nodes");
	is_refused(topology, "1,,2", "a list of NUMA nodes");
	is_refused(topology, "2-1", "a list of NUMA nodes");
	is_refused(topology, "all", "a list of NUMA nodes");
	is_refused(topology, "-1", "a list of NUMA nodes");
	membind_open(&membind, one, 0, "0", &why);
	ok(membind.n == 1 && isnan(membind.node[0].distance),
	   "a single node: no distance is known, not 0");
	membind_close(&membind);
	is_refused(one, "1", "there are 1), got 1");
	hwloc_topology_destroy(one);
	hwloc_topology_destroy(topology);
}

static void test_here(void)
{
	const size_t len = 64 * 4096;
	hwloc_topology_t topology;
	struct membind membind;
	struct membind_node other = { .node = 63 };
	char *why = NULL;
	void *memory;
	int node;

	hwloc_topology_init(&topology);
	hwloc_topology_load(topology);
	node = hwloc_bitmap_first(hwloc_topology_get_allowed_nodeset(topology));
	other.node = (unsigned int)node;
	membind = (struct membind){ topology, 1, &other };
	if (membind_bind(&membind, 0, &why) < 0) {
		skip(3, "%s", why);
		free(why);
		hwloc_topology_destroy(topology);
		return;
	}
	ok(true, "memory is bound to node %d", node);
	memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 1, len);
	ok(membind_verify(&membind, 0, memory, len, &why) == 0,
	   "and lies there");
	other.node = (unsigned int)node + 1;
	ok(membind_verify(&membind, 0, memory, len, &why) < 0 && why &&
		   errno == EAGAIN,
	   "what lies elsewhere is noticed");
	free(why);
	munmap(memory, len);
	hwloc_topology_destroy(topology);
}

/* A region: each of its targets, and the working set. */
static void test_region(void)
{
	struct membind_node here = { .node = 0 };
	hwloc_topology_t topology;
	struct membind membind;
	struct region region;
	char *why = NULL;

	hwloc_topology_init(&topology);
	hwloc_topology_load(topology);
	membind = (struct membind){ topology, 1, &here };
	if (membind_bind(&membind, 0, &why) < 0 ||
	    region_open_targets(&region, 2, 8, 64, REGION_SMALL, 1, &why) < 0) {
		skip(4, "%s", why);
		free(why);
		hwloc_topology_destroy(topology);
		return;
	}
	ok(membind_verify_region(&membind, 0, &region, &why) == 0,
	   "a region lies on its node");
	madvise(region.target + region.target_stride, 4096, MADV_DONTNEED);
	ok(membind_verify_region(&membind, 0, &region, &why) == 0,
	   "... a page that is not there lies nowhere else");
	here.node = 1;
	ok(membind_verify_region(&membind, 0, &region, &why) < 0 &&
		   errno == EAGAIN,
	   "on another one it does not lie");
	free(why);
	ok(membind_verify_region(NULL, 0, &region, &why) == 0,
	   "not bound, it may lie anywhere");
	region_close(&region);
	hwloc_topology_destroy(topology);
}

static void is_shown(const struct membind_node *node, const char *wanted)
{
	json_t *labels = membind_json(node);
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	membind_text(labels, to);
	fclose(to);
	is_string(text, wanted, "shown as '%.*s'", (int)strcspn(wanted, "\n"),
		  wanted);
	ok(json_object_size(labels) == 2, "... two labels");
	free(text);
	json_decref(labels);
}

static void test_labels(void)
{
	const struct membind_node far = { .node = 3, .distance = 21 };
	const struct membind_node alone = { .node = 0, .distance = NAN };

	is_shown(&far, "memory on node 3, distance 21\n");
	is_shown(&alone, "memory on node 0, distance n/a\n");
	is_shown(NULL, "");
}

int main(void)
{
	test_lists();
	test_labels();
	test_region();
	test_here();
	return done();
}
