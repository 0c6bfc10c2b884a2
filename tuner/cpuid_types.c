/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cpuid_types.h"

/* Constant strings, or NULL. */
static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_identity(const struct identity *a, const struct identity *b)
{
	return !strcmp(a->vendor, b->vendor) && a->family == b->family &&
	       a->model == b->model && a->stepping == b->stepping &&
	       same_text(a->core_type, b->core_type);
}

static bool same_tlb(const struct tlb *a, const struct tlb *b)
{
	return a->kind == b->kind && a->level == b->level &&
	       a->pages == b->pages && a->entries == b->entries &&
	       a->ways == b->ways && a->confidence == b->confidence &&
	       a->leaf == b->leaf && a->selector == b->selector;
}

static bool same_tlbs(const struct tlb_info *a, const struct tlb_info *b)
{
	size_t i;

	if (a->n != b->n || a->entries != b->entries ||
	    a->confidence != b->confidence || !same_text(a->why, b->why) ||
	    !same_text(a->odd, b->odd))
		return false;
	for (i = 0; i < a->n; i++)
		if (!same_tlb(&a->tlb[i], &b->tlb[i]))
			return false;
	return true;
}

static struct cpuid_type *find(const struct cpuid_types *types,
			       const struct identity *id,
			       const struct tlb_info *tlb)
{
	size_t i;

	for (i = 0; i < types->n; i++)
		if (same_identity(&types->type[i].id, id) &&
		    same_tlbs(&types->type[i].tlb, tlb))
			return &types->type[i];
	return NULL;
}

/* A new type of no CPUs, which owns tlb; NULL on ENOMEM. */
static struct cpuid_type *append(struct cpuid_types *types,
				 const struct identity *id,
				 const struct tlb_info *tlb)
{
	struct cpuid_type *type;

	type = reallocarray(types->type, types->n + 1, sizeof(*type));
	if (!type)
		return NULL;
	types->type = type;
	type = &types->type[types->n];
	*type = (struct cpuid_type){ .id = *id,
				     .tlb = *tlb,
				     .cpus = hwloc_bitmap_alloc() };
	if (!type->cpus)
		return NULL;
	types->n++;
	return type;
}

static int add(struct cpuid_types *types, const struct cpuid_cpu *cpu)
{
	struct identity_source source = cpuid_source(cpu);
	struct cpuid_type *type;
	struct identity id;
	struct tlb_info tlb;

	identity_read(&source, &id);
	if (tlb_decode(&source, &id, &tlb) < 0)
		return -1;
	type = find(types, &id, &tlb);
	if (type) {
		tlb_free(&tlb);
	} else {
		type = append(types, &id, &tlb);
		if (!type) {
			tlb_free(&tlb);
			return -1;
		}
	}
	return hwloc_bitmap_set(type->cpus, cpu->number);
}

int cpuid_types_find(const struct cpuid_machine *machine,
		     struct cpuid_types *out)
{
	size_t i;

	*out = (struct cpuid_types){ 0 };
	for (i = 0; i < machine->n; i++) {
		if (add(out, &machine->cpu[i]) < 0) {
			cpuid_types_free(out);
			return -1;
		}
	}
	return 0;
}

void cpuid_types_free(struct cpuid_types *types)
{
	size_t i;

	for (i = 0; i < types->n; i++) {
		tlb_free(&types->type[i].tlb);
		hwloc_bitmap_free(types->type[i].cpus);
	}
	free(types->type);
	*types = (struct cpuid_types){ 0 };
}
