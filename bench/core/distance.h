/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distance: how far an interrupt goes from one CPU to another.
 */
#ifndef TLBTUNE_DISTANCE_H
#define TLBTUNE_DISTANCE_H

#include <hwloc.h>

enum distance {
	DISTANCE_UNKNOWN = -1, /* the topology does not tell */
	DISTANCE_CORE,	       /* SMT siblings */
	DISTANCE_CACHE,	       /* they share a cache */
	DISTANCE_PACKAGE,
	DISTANCE_MACHINE,
	DISTANCES,
};

extern const char *const distance_name[DISTANCES];

/* Pure: between two CPUs (OS indexes), the nearest that holds. */
enum distance distance_between(hwloc_topology_t topology, unsigned int a,
			       unsigned int b);

#endif
