/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noise: what else went on while a benchmark ran, from two readings of the
 * kernel's counters.
 */
#ifndef TLBTUNE_NOISE_H
#define TLBTUNE_NOISE_H

#include <jansson.h>
#include <stddef.h>
#include <sys/resource.h>

/* Where counters come from that are not files; tests have their own. */
struct noise_source {
	const char *root;
	double (*seconds)(void *context); /* since any fixed point */
	int (*usage)(void *context, int who, struct rusage *usage);
	void *context;
};

/* Seconds of one CPU since boot. */
struct cpu_time {
	unsigned int cpu;
	double busy, steal;
};

/* Counters at one moment; NAN: unknown. */
struct noise_reading {
	double seconds;
	size_t n_cpus;
	struct cpu_time *cpus; /* [n_cpus] those of /proc/stat, ascending */
	double cpu_pressure_s; /* some task waited for a CPU */
	/* Of this process, and of its children that have ended. */
	double voluntary, involuntary; /* context switches */
	double minor_faults, major_faults;
	double migrations;     /* of the process's first thread */
	double tlb_shootdowns; /* received by all CPUs */
	double throttled;      /* times the CPU quota ran out */
};

/* Between two readings; NAN: unknown. Percentages are of the time elapsed. */
struct noise {
	double seconds;
	double steal_percent;	  /* of the CPU measured */
	double steal_all_percent; /* mean of all CPUs */
	double cpu_pressure_percent;
	double sibling_busy_percent; /* the busiest SMT sibling */
	int sibling;		     /* which CPU that is; -1 */
	double others_busy_percent;  /* mean of all CPUs but the one measured */
	double voluntary, involuntary, minor_faults, major_faults;
	double migrations, tlb_shootdowns, throttled;
};

/* Take a reading; what cannot be read, or on ENOMEM, is unknown. */
void noise_read(const struct noise_source *source, struct noise_reading *out);

void noise_free(struct noise_reading *reading);

/*
 * Pure: what happened between two readings, for CPU number cpu. siblings is the
 * list of CPUs that share its core, itself included; NULL: unknown.
 */
void noise_between(const struct noise_reading *before,
		   const struct noise_reading *after, unsigned int cpu,
		   const char *siblings, struct noise *out);

/* As an object; null for NULL. NULL on ENOMEM. */
json_t *noise_json(const struct noise *noise);

#endif
