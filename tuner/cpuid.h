/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuid: the CPUID registers of each logical CPU of a machine, this one or one
 * that was recorded.
 *
 * What wrote the record does not matter afterwards: a source is read the same
 * way as the CPU itself, only that a leaf may be missing.
 */
#ifndef TLBTUNE_CPUID_H
#define TLBTUNE_CPUID_H

#include <stddef.h>
#include <stdint.h>

#include "identity.h"
#include "placement.h"

struct cpuid_leaf {
	uint32_t leaf, subleaf;
	uint32_t reg[4]; /* EAX, EBX, ECX, EDX */
};

struct cpuid_cpu {
	unsigned int number; /* as the operating system or the record has it */
	struct cpuid_leaf *leaf; /* [n], of equal ones the first counts */
	size_t n, size;
};

struct cpuid_machine {
	const char *format;    /* of the record, a string constant */
	struct cpuid_cpu *cpu; /* [n] */
	size_t n, size;
};

/* As many CPUs as x86 Linux can be built for (NR_CPUS_RANGE_END, MAXSMP). */
#define CPUID_MAX_CPUS 8192

/*
 * The machine this runs on: those leaves of the CPUs of the placement that
 * identity_read and tlb_decode look at. The calling thread is left bound to the
 * last one. CPUs that it cannot be bound to are left out; none at all is an
 * error. 0, or -1 with errno.
 */
int cpuid_read_live(const struct placement *placement,
		    struct cpuid_machine *out);

/*
 * The machine recorded at path: a directory that hwloc-gather-cpuid wrote, or a
 * text file, see cpuid_parse. On failure -1 with errno, and *why is a malloc'ed
 * sentence for the user, or NULL: EINVAL if it is no record.
 */
int cpuid_read_record(const char *path, struct cpuid_machine *out, char **why);

/*
 * Parse the text of a record, whose lines are split in place: AIDA64's (and
 * InstLatX64's) CPUID dump, `cpuid -r`, libcpuid's raw dump or one file of
 * hwloc-gather-cpuid, whichever the first line with registers is of. 0, or -1
 * with errno EINVAL or ENOMEM and *why as above.
 */
int cpuid_parse(char *text, struct cpuid_machine *out, char **why);

/* The registers of one CPU. Valid as long as the CPU. */
struct identity_source cpuid_source(const struct cpuid_cpu *cpu);

/*
 * Keep what reading identity and TLBs from a source asks for; appended to the
 * machine as the CPU with that number. 0, or -1 with errno.
 */
int cpuid_capture(struct cpuid_machine *machine, unsigned int number,
		  const struct identity_source *from);

/* Append to a machine or CPU; 0, or -1 with ENOMEM (E2BIG: too many CPUs). */
int cpuid_add_cpu(struct cpuid_machine *machine, unsigned int number);
int cpuid_add_leaf(struct cpuid_cpu *cpu, const struct cpuid_leaf *leaf);

void cpuid_free(struct cpuid_machine *machine);

#endif
