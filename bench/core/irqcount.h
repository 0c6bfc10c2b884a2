/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irqcount: how many interrupts of a kind each CPU has received, as
 * /proc/interrupts has it for everyone to read.
 */
#ifndef TLBTUNE_IRQCOUNT_H
#define TLBTUNE_IRQCOUNT_H

#include <stddef.h>

struct irqcount {
	size_t n;	   /* CPUs that are online */
	unsigned int *cpu; /* [n] their numbers */
	double *count;	   /* [n] since boot */
};

/*
 * Pure: the row of that name, e.g. "TLB" or "CAL" (function calls of other
 * CPUs), in the text of /proc/interrupts. 0, or -1 with errno (EINVAL: no such
 * row, or not one count for each CPU; ENOMEM) and *out empty.
 */
int irqcount_parse(const char *text, const char *row, struct irqcount *out);

/* The same of the file below root; errno also as sysfile_read. */
int irqcount_read(const char *root, const char *row, struct irqcount *out);

/* The count of one CPU, and of all together; NAN: unknown. */
double irqcount_of(const struct irqcount *counts, unsigned int cpu);
double irqcount_sum(const struct irqcount *counts);

void irqcount_free(struct irqcount *counts);

#endif
