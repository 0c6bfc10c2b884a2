/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuid_types: the CPUs of a machine, those that are alike put together. Hybrid
 * parts have two or more types, which Intel's names for them do not always tell
 * apart: Arrow Lake-H has two kinds of efficient cores.
 */
#ifndef TLBTUNE_CPUID_TYPES_H
#define TLBTUNE_CPUID_TYPES_H

#include "cpuid.h"
#include "tlb.h"

/* CPUs with the same signature, core type and TLBs. */
struct cpuid_type {
	struct identity id; /* of the first of them */
	struct tlb_info tlb;
	hwloc_bitmap_t cpus; /* their numbers */
};

struct cpuid_types {
	struct cpuid_type *type; /* [n], in the order of their first CPUs */
	size_t n;
};

/* 0, or -1 on ENOMEM. */
int cpuid_types_find(const struct cpuid_machine *machine,
		     struct cpuid_types *out);

void cpuid_types_free(struct cpuid_types *types);

#endif
