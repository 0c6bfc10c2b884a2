/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "irqcount.h"
#include "noise.h"
#include "report.h"
#include "sysfile.h"
#include "text.h"

/* The times of a CPU in /proc/stat, in this order (proc(5)). */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };

/* Parse "cpuN user nice ..." into *out; user includes the time of guests. */
static bool parse_cpu(const char *line, double ticks_per_s,
		      struct cpu_time *out)
{
	double times[TIMES], cpu;
	int i;

	if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
		return false;
	cpu = text_number(line + 3, &line);
	for (i = 0; i < TIMES; i++)
		times[i] = text_number(line, &line);
	/* Cut short: the last number may be as well. */
	if (!(cpu <= UINT32_MAX) || !strchr(line, '\n'))
		return false;
	out->cpu = (unsigned int)cpu;
	out->busy = (times[USER] + times[NICE] + times[SYSTEM] + times[IRQ] +
		     times[SOFTIRQ]) /
		    ticks_per_s;
	out->steal = times[STEAL] / ticks_per_s;
	return true;
}

static int compare_cpus(const void *a, const void *b)
{
	const struct cpu_time *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void read_cpus(const char *root, struct noise_reading *out)
{
	double ticks_per_s = (double)sysconf(_SC_CLK_TCK);
	char *text = sysfile_read(root, "/proc/stat");
	size_t size = 0;
	const char *line = text;

	while (line) {
		if (out->n_cpus == size) {
			struct cpu_time *larger;

			size = size ? 2 * size : 64;
			larger = realloc(out->cpus, size * sizeof(*larger));
			if (!larger)
				break;
			out->cpus = larger;
		}
		if (parse_cpu(line, ticks_per_s, &out->cpus[out->n_cpus]))
			out->n_cpus++;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (out->n_cpus)
		qsort(out->cpus, out->n_cpus, sizeof(*out->cpus), compare_cpus);
	free(text);
}

/* The total of the line "some avg10=.. .. total=MICROSECONDS", in seconds. */
static double read_pressure(const char *root)
{
	char *text = sysfile_read(root, "/proc/pressure/cpu");
	char *some = text ? text_field(text, "some") : NULL;
	char *total = some ? strstr(some, "total=") : NULL;
	double seconds = total ? text_integer(total + 6) * 1e-6 : NAN;

	free(some);
	free(text);
	return seconds;
}

/* Received by all CPUs. */
static double read_shootdowns(const char *root)
{
	struct irqcount counts;
	double sum;

	irqcount_read(root, "TLB", &counts);
	sum = irqcount_sum(&counts);
	irqcount_free(&counts);
	return sum;
}

static double read_migrations(const char *root)
{
	char *text = sysfile_read(root, "/proc/self/sched");
	char *field = text ? text_field(text, "se.nr_migrations") : NULL;
	double migrations = text_integer(field);

	free(field);
	free(text);
	return migrations;
}

/* The process and its children that have ended and been waited for. */
static void read_usage(const struct noise_source *source,
		       struct noise_reading *out)
{
	struct rusage self, children;

	if (source->usage(source->context, RUSAGE_SELF, &self) ||
	    source->usage(source->context, RUSAGE_CHILDREN, &children))
		return;
	out->voluntary = (double)self.ru_nvcsw + (double)children.ru_nvcsw;
	out->involuntary = (double)self.ru_nivcsw + (double)children.ru_nivcsw;
	out->minor_faults = (double)self.ru_minflt + (double)children.ru_minflt;
	out->major_faults = (double)self.ru_majflt + (double)children.ru_majflt;
}

void noise_read(const struct noise_source *source, struct noise_reading *out)
{
	*out = (struct noise_reading){
		.seconds = source->seconds(source->context),
		.voluntary = NAN,
		.involuntary = NAN,
		.minor_faults = NAN,
		.major_faults = NAN,
		.cpu_pressure_s = read_pressure(source->root),
		.migrations = read_migrations(source->root),
		.tlb_shootdowns = read_shootdowns(source->root),
		.throttled = cgroup_throttled(source->root),
	};
	read_cpus(source->root, out);
	read_usage(source, out);
}

void noise_free(struct noise_reading *reading)
{
	free(reading->cpus);
	reading->cpus = NULL;
	reading->n_cpus = 0;
}

/* A counter only ever grows: one that does not is not one. */
static double difference(double before, double after)
{
	return after >= before ? after - before : NAN;
}

static const struct cpu_time *find_cpu(const struct noise_reading *reading,
				       unsigned int cpu)
{
	const struct cpu_time key = { .cpu = cpu };

	if (!reading->n_cpus)
		return NULL;
	return bsearch(&key, reading->cpus, reading->n_cpus, sizeof(key),
		       compare_cpus);
}

/* What CPU number cpu did in between, in seconds; NAN unless in both. */
static struct cpu_time cpu_between(const struct noise_reading *before,
				   const struct noise_reading *after,
				   unsigned int cpu)
{
	const struct cpu_time *from = find_cpu(before, cpu);
	const struct cpu_time *to = find_cpu(after, cpu);
	struct cpu_time time = { cpu, NAN, NAN };

	if (from && to) {
		time.busy = difference(from->busy, to->busy);
		time.steal = difference(from->steal, to->steal);
	}
	return time;
}

/* Means over the CPUs that were there all the time. */
static void compare_all(const struct noise_reading *before,
			const struct noise_reading *after, unsigned int cpu,
			double percent, struct noise *out)
{
	double busy = 0, steal = 0;
	size_t n_busy = 0, n_steal = 0, i;

	for (i = 0; i < before->n_cpus; i++) {
		struct cpu_time time =
			cpu_between(before, after, before->cpus[i].cpu);

		if (!isnan(time.steal)) {
			steal += time.steal;
			n_steal++;
		}
		if (time.cpu != cpu && !isnan(time.busy)) {
			busy += time.busy;
			n_busy++;
		}
	}
	if (n_steal)
		out->steal_all_percent = percent * steal / (double)n_steal;
	if (n_busy)
		out->others_busy_percent = percent * busy / (double)n_busy;
}

static void compare_siblings(const struct noise_reading *before,
			     const struct noise_reading *after,
			     unsigned int cpu, const char *siblings,
			     double percent, struct noise *out)
{
	unsigned int first, last;
	size_t i;

	while (siblings && text_range(&siblings, &first, &last)) {
		for (i = 0; i < before->n_cpus; i++) {
			unsigned int other = before->cpus[i].cpu;
			double busy;

			if (other < first || other > last || other == cpu)
				continue;
			busy = percent * cpu_between(before, after, other).busy;
			if (busy <= out->sibling_busy_percent || isnan(busy))
				continue;
			out->sibling_busy_percent = busy;
			out->sibling = (int)other;
		}
	}
}

void noise_between(const struct noise_reading *before,
		   const struct noise_reading *after, unsigned int cpu,
		   const char *siblings, struct noise *out)
{
	double seconds = difference(before->seconds, after->seconds);
	double percent = seconds > 0 ? 100 / seconds : NAN;

	*out = (struct noise){
		.seconds = seconds,
		.steal_percent =
			percent * cpu_between(before, after, cpu).steal,
		.steal_all_percent = NAN,
		.cpu_pressure_percent =
			percent * difference(before->cpu_pressure_s,
					     after->cpu_pressure_s),
		.sibling_busy_percent = NAN,
		.sibling = -1,
		.others_busy_percent = NAN,
		.voluntary = difference(before->voluntary, after->voluntary),
		.involuntary =
			difference(before->involuntary, after->involuntary),
		.minor_faults =
			difference(before->minor_faults, after->minor_faults),
		.major_faults =
			difference(before->major_faults, after->major_faults),
		.migrations = difference(before->migrations, after->migrations),
		.tlb_shootdowns = difference(before->tlb_shootdowns,
					     after->tlb_shootdowns),
		.throttled = difference(before->throttled, after->throttled),
	};
	compare_all(before, after, cpu, percent, out);
	compare_siblings(before, after, cpu, siblings, percent, out);
}

json_t *noise_json(const struct noise *noise)
{
	if (!noise)
		return json_null();
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"seconds", report_number(noise->seconds), "steal_percent",
		report_number(noise->steal_percent), "steal_all_percent",
		report_number(noise->steal_all_percent), "cpu_pressure_percent",
		report_number(noise->cpu_pressure_percent),
		"sibling_busy_percent",
		report_number(noise->sibling_busy_percent),
		"others_busy_percent",
		report_number(noise->others_busy_percent), "voluntary_switches",
		text_count_json(noise->voluntary), "involuntary_switches",
		text_count_json(noise->involuntary), "minor_faults",
		text_count_json(noise->minor_faults), "major_faults",
		text_count_json(noise->major_faults), "migrations",
		text_count_json(noise->migrations), "tlb_shootdowns",
		text_count_json(noise->tlb_shootdowns), "throttled",
		text_count_json(noise->throttled));
}
