/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cpuid.h"
#include "tlb.h"

/* Make room for one more of the n elements of array; NULL on ENOMEM. */
static void *grow(void *array, size_t n, size_t *size, size_t element)
{
	size_t larger = *size ? 2 * *size : 16;

	if (n < *size)
		return array;
	array = reallocarray(array, larger, element);
	if (array)
		*size = larger;
	return array;
}

int cpuid_add_cpu(struct cpuid_machine *machine, unsigned int number)
{
	struct cpuid_cpu *cpu;

	if (machine->n >= CPUID_MAX_CPUS) {
		errno = E2BIG;
		return -1;
	}
	cpu = grow(machine->cpu, machine->n, &machine->size, sizeof(*cpu));
	if (!cpu)
		return -1;
	machine->cpu = cpu;
	machine->cpu[machine->n++] = (struct cpuid_cpu){ .number = number };
	return 0;
}

int cpuid_add_leaf(struct cpuid_cpu *cpu, const struct cpuid_leaf *leaf)
{
	struct cpuid_leaf *larger;

	larger = grow(cpu->leaf, cpu->n, &cpu->size, sizeof(*larger));
	if (!larger)
		return -1;
	cpu->leaf = larger;
	cpu->leaf[cpu->n++] = *leaf;
	return 0;
}

static const struct cpuid_leaf *find(const struct cpuid_cpu *cpu, uint32_t leaf,
				     uint32_t subleaf)
{
	size_t i;

	for (i = 0; i < cpu->n; i++)
		if (cpu->leaf[i].leaf == leaf &&
		    cpu->leaf[i].subleaf == subleaf)
			return &cpu->leaf[i];
	return NULL;
}

static int read_recorded(void *context, uint32_t leaf, uint32_t subleaf,
			 uint32_t reg[4])
{
	const struct cpuid_leaf *found = find(context, leaf, subleaf);

	if (!found)
		return -1;
	memcpy(reg, found->reg, sizeof(found->reg));
	return 0;
}

struct identity_source cpuid_source(const struct cpuid_cpu *cpu)
{
	return (struct identity_source){ read_recorded, (void *)cpu };
}

/* A source that keeps what passes through it. */
struct keeper {
	const struct identity_source *from;
	struct cpuid_cpu *to;
	bool failed;
};

static int read_and_keep(void *context, uint32_t leaf, uint32_t subleaf,
			 uint32_t reg[4])
{
	struct keeper *keeper = context;
	struct cpuid_leaf kept = { leaf, subleaf, { 0 } };

	if (!read_recorded(keeper->to, leaf, subleaf, reg))
		return 0;
	if (keeper->from->read(keeper->from->context, leaf, subleaf, reg) < 0)
		return -1;
	memcpy(kept.reg, reg, sizeof(kept.reg));
	if (cpuid_add_leaf(keeper->to, &kept) < 0)
		keeper->failed = true;
	return 0;
}

int cpuid_capture(struct cpuid_machine *machine, unsigned int number,
		  const struct identity_source *from)
{
	struct keeper keeper = { .from = from };
	struct identity_source keeping = { read_and_keep, &keeper };
	struct tlb_info tlb;
	struct identity id;

	if (cpuid_add_cpu(machine, number) < 0)
		return -1;
	keeper.to = &machine->cpu[machine->n - 1];
	identity_read(&keeping, &id);
	if (tlb_decode(&keeping, &id, &tlb) < 0)
		return -1;
	tlb_free(&tlb);
	if (!keeper.failed)
		return 0;
	errno = ENOMEM;
	return -1;
}

int cpuid_read_live(const struct placement *placement,
		    struct cpuid_machine *out)
{
	int error = ENODEV;
	size_t i;

	*out = (struct cpuid_machine){ .format = "this machine" };
	for (i = 0; i < placement->n; i++) {
		/* It may have gone offline since. */
		if (placement_bind(placement, placement->cpu[i]) < 0) {
			error = errno;
			continue;
		}
		if (cpuid_capture(out, placement->cpu[i], &identity_live) < 0) {
			cpuid_free(out);
			return -1;
		}
	}
	if (out->n > 0)
		return 0;
	errno = error;
	return -1;
}

void cpuid_free(struct cpuid_machine *machine)
{
	size_t i;

	for (i = 0; i < machine->n; i++)
		free(machine->cpu[i].leaf);
	free(machine->cpu);
	*machine = (struct cpuid_machine){ 0 };
}
