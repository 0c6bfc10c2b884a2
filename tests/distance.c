/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distance: on machines that hwloc makes up, by hand counts of what two CPUs
 * share.
 */
#include <config.h>

#include <stdlib.h>

#include "core/distance.h"
#include "core/placement.h"
#include "tap.h"

static const char *name(enum distance distance)
{
	return distance == DISTANCE_UNKNOWN ? "unknown" :
					      distance_name[distance];
}

static const struct {
	const char *machine;
	unsigned int a, b;
	enum distance distance;
} cases[] = {
	/* 2 packages, 2 L3 in each, 2 cores in each, 2 threads */
	{ "pack:2 l3:2 core:2 pu:2", 0, 1, DISTANCE_CORE },
	{ "pack:2 l3:2 core:2 pu:2", 0, 2, DISTANCE_CACHE },
	{ "pack:2 l3:2 core:2 pu:2", 0, 4, DISTANCE_PACKAGE },
	{ "pack:2 l3:2 core:2 pu:2", 7, 0, DISTANCE_PACKAGE },
	{ "pack:2 l3:2 core:2 pu:2", 0, 8, DISTANCE_MACHINE },
	{ "pack:2 l3:2 core:2 pu:2", 15, 0, DISTANCE_MACHINE },
	/* a cache that a package shares is nearer than the package */
	{ "pack:1 l3:1 core:4 pu:1", 0, 3, DISTANCE_CACHE },
	{ "numa:2 pack:1 core:2 pu:1", 0, 3, DISTANCE_MACHINE },
	{ "pack:1 numa:2 core:2 pu:1", 0, 3, DISTANCE_PACKAGE },
	/* a cache of each core's own is shared by its threads only */
	{ "pack:1 l2:2 core:1 pu:2", 0, 1, DISTANCE_CORE },
	{ "pack:1 l2:2 core:1 pu:2", 1, 2, DISTANCE_PACKAGE },
	/* instruction caches hold no page tables */
	{ "pack:1 l1i:1 core:2 pu:1", 0, 1, DISTANCE_PACKAGE },
	/* 1536 CPUs */
	{ "pack:8 l3:12 core:8 pu:2", 0, 191, DISTANCE_PACKAGE },
	{ "pack:8 l3:12 core:8 pu:2", 0, 192, DISTANCE_MACHINE },
	{ "pack:8 l3:12 core:8 pu:2", 0, 1535, DISTANCE_MACHINE },
	/* nothing known of packages */
	{ "core:2 pu:2", 0, 1, DISTANCE_CORE },
	{ "core:2 pu:2", 0, 2, DISTANCE_UNKNOWN },
	{ "l3:1 pu:2", 0, 1, DISTANCE_CACHE },
	{ "pu:2", 0, 1, DISTANCE_UNKNOWN },
	/* no such CPU */
	{ "pack:1 core:2 pu:1", 0, 2, DISTANCE_UNKNOWN },
};

static void test_machines(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		hwloc_topology_t topology;

		if (hwloc_topology_init(&topology) ||
		    hwloc_topology_set_all_types_filter(
			    topology, HWLOC_TYPE_FILTER_KEEP_ALL) ||
		    hwloc_topology_set_synthetic(topology, cases[i].machine) ||
		    hwloc_topology_load(topology))
			abort();
		is_string(name(distance_between(topology, cases[i].a,
						cases[i].b)),
			  name(cases[i].distance), "%s: %u to %u",
			  cases[i].machine, cases[i].a, cases[i].b);
		hwloc_topology_destroy(topology);
	}
}

static void test_here(void)
{
	struct placement placement;
	size_t i;
	char *why;

	if (placement_open(&placement, NULL, &why) < 0) {
		skip(1, "no placement: %s", why ? why : "?");
		return;
	}
	for (i = 1; i < placement.n; i++) {
		enum distance distance = distance_between(
			placement.topology, placement.cpu[0], placement.cpu[i]);

		ok((distance == DISTANCE_CORE) ==
			   (placement.core[0] == placement.core[i]),
		   "CPU %u to %u here: %s", placement.cpu[0], placement.cpu[i],
		   name(distance));
	}
	placement_close(&placement);
}

int main(void)
{
	test_machines();
	test_here();
	return done();
}
