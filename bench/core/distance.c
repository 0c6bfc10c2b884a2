/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include "distance.h"

const char *const distance_name[DISTANCES] = {
	[DISTANCE_CORE] = "core",
	[DISTANCE_CACHE] = "cache",
	[DISTANCE_PACKAGE] = "package",
	[DISTANCE_MACHINE] = "machine",
};

enum distance distance_between(hwloc_topology_t topology, unsigned int a,
			       unsigned int b)
{
	hwloc_obj_t pu_a = hwloc_get_pu_obj_by_os_index(topology, a);
	hwloc_obj_t pu_b = hwloc_get_pu_obj_by_os_index(topology, b);
	enum distance distance = DISTANCE_MACHINE;
	hwloc_obj_t common;

	if (!pu_a || !pu_b ||
	    !hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu_a))
		distance = DISTANCE_UNKNOWN;
	if (!pu_a || !pu_b)
		return distance;
	/* What holds both, from the innermost out: the last found is nearest.
	 */
	for (common = hwloc_get_common_ancestor_obj(topology, pu_a, pu_b);
	     common; common = common->parent) {
		if (common->type == HWLOC_OBJ_CORE)
			return DISTANCE_CORE;
		if (hwloc_obj_type_is_dcache(common->type))
			return DISTANCE_CACHE;
		if (common->type == HWLOC_OBJ_PACKAGE)
			return DISTANCE_PACKAGE;
	}
	return distance;
}
