/* SPDX-License-Identifier: GPL-2.0-or-later */
/* noise: counters of two moments, read from files, and what lies between. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "noise.h"
#include "tap.h"
#include "tree.h"

struct fake {
	double seconds;
	struct rusage self, children;
};

static double fake_seconds(void *context)
{
	return ((struct fake *)context)->seconds;
}

static int fake_usage(void *context, int who, struct rusage *usage)
{
	const struct fake *fake = context;

	*usage = who == RUSAGE_SELF ? fake->self : fake->children;
	return 0;
}

static void read_tree(const char *root, struct fake *fake,
		      struct noise_reading *out)
{
	const struct noise_source source = { root, fake_seconds, fake_usage,
					     fake };

	noise_read(&source, out);
}

/* Write "cpuN user nice system idle iowait irq softirq steal", in ticks. */
static void put_stat(const char *root, const char *cpus)
{
	char *text;

	if (asprintf(&text, "cpu  9 9 9 9 9 9 9 9 9 9\n%sintr 5 1\nbtime 1\n",
		     cpus) < 0)
		abort();
	tree_write(root, "/proc/stat", text);
	free(text);
}

static void test_reading(void)
{
	struct fake fake = { .seconds = 5,
			     .self = { .ru_nvcsw = 1,
				       .ru_nivcsw = 2,
				       .ru_minflt = 3,
				       .ru_majflt = 4 },
			     .children = { .ru_nvcsw = 10,
					   .ru_nivcsw = 20,
					   .ru_minflt = 30,
					   .ru_majflt = 40 } };
	double tick = 1 / (double)sysconf(_SC_CLK_TCK);
	struct noise_reading reading;
	char *root = tree_open();

	/* Not ascending, and one without the numbers of newer kernels. */
	put_stat(root, "cpu7 1 2 4 1000 1000 8 16 32 1000 1000\n"
		       "cpu3 1 0 0 0 0 0 0\n"
		       "cpu12 1 1 1 1 1 1\n"
		       "cpufreq 1 2 3 4 5 6 7 8\n");
	tree_write(root, "/proc/interrupts",
		   "      CPU0 CPU1\n  0: 5 6 timer\n TLB: 7 8  TLB "
		   "shootdowns\nTRM: 0 0 Thermal\n");
	tree_write(root, "/proc/pressure/cpu",
		   "full avg10=0 total=3\nsome avg10=1 total=2500000\n");
	tree_write(root, "/proc/self/sched", "x\nse.nr_migrations  :   9\n");
	read_tree(root, &fake, &reading);
	is_double(reading.seconds, 5, 0, "when");
	is_int(reading.n_cpus, 3, "CPUs");
	is_int(reading.cpus[0].cpu, 3, "the first");
	is_double(reading.cpus[0].busy, tick, 1e-9, "its time");
	is_double(reading.cpus[0].steal, NAN, 0, "and none stolen counted");
	is_int(reading.cpus[1].cpu, 7, "the second");
	is_double(reading.cpus[1].busy, 31 * tick, 1e-9,
		  "busy is neither idle nor stolen");
	is_double(reading.cpus[1].steal, 32 * tick, 1e-9, "stolen");
	is_double(reading.cpus[2].busy, NAN, 0, "a CPU with a number missing");
	is_double(reading.tlb_shootdowns, 15, 0, "shootdowns of all CPUs");
	is_double(reading.cpu_pressure_s, 2.5, 1e-9, "pressure of some");
	is_double(reading.migrations, 9, 0, "migrations");
	is_double(reading.voluntary, 11, 0, "switches with the children's");
	is_double(reading.involuntary, 22, 0, "involuntary ones");
	is_double(reading.minor_faults, 33, 0, "faults");
	is_double(reading.major_faults, 44, 0, "major faults");
	is_double(reading.throttled, NAN, 0, "throttling is not known");
	noise_free(&reading);
	noise_free(&reading);
	tree_close(root);
}

/* What may be cut short is not taken for a number. */
static void test_cut_short(void)
{
	struct fake fake = { 0 };
	struct noise_reading reading;
	char *root = tree_open();

	tree_write(root, "/proc/stat", "cpu0 1 1 1 1 1 1 1 123");
	tree_write(root, "/proc/interrupts", "TLB: 7 8");
	tree_write(root, "/proc/pressure/cpu", "some avg10=1 total=");
	tree_write(root, "/proc/self/sched", "se.nr_migrations :");
	read_tree(root, &fake, &reading);
	is_int(reading.n_cpus, 0, "half a line of a CPU");
	is_double(reading.tlb_shootdowns, NAN, 0, "half a row of interrupts");
	is_double(reading.cpu_pressure_s, NAN, 0, "half a line of pressure");
	is_double(reading.migrations, NAN, 0, "half a line of migrations");
	noise_free(&reading);
	tree_close(root);
}

static void test_between(void)
{
	/* Ten seconds; CPU 9 comes, 8 goes, 4 runs backwards. */
	struct cpu_time from[] = { { 1, 10, 1 },
				   { 2, 20, 1 },
				   { 3, 5, 0 },
				   { 4, 50, 9 },
				   { 8, 1, 1 } };
	struct cpu_time to[] = { { 1, 19, 1.5 },
				 { 2, 21, 1.25 },
				 { 3, 9, NAN },
				 { 4, 40, 9.75 },
				 { 9, 7, 7 } };
	struct noise_reading before = { .seconds = 100,
					.n_cpus = 5,
					.cpus = from,
					.cpu_pressure_s = 1,
					.voluntary = 5,
					.involuntary = 50,
					.minor_faults = 1,
					.major_faults = NAN,
					.migrations = 3,
					.tlb_shootdowns = 10,
					.throttled = 1 };
	struct noise_reading after = { .seconds = 110,
				       .n_cpus = 5,
				       .cpus = to,
				       .cpu_pressure_s = 3,
				       .voluntary = 6,
				       .involuntary = 52,
				       .minor_faults = 4,
				       .major_faults = 9,
				       .migrations = 2,
				       .tlb_shootdowns = 15,
				       .throttled = 7 };
	struct noise noise;
	json_t *json;

	noise_between(&before, &after, 1, "3,0-2", &noise);
	is_double(noise.seconds, 10, 1e-9, "seconds");
	is_double(noise.steal_percent, 5, 1e-9, "steal");
	is_double(noise.steal_all_percent, (5 + 2.5 + 7.5) / 3, 1e-9,
		  "steal of the CPUs that tell");
	is_double(noise.others_busy_percent, (10. + 40) / 2, 1e-9,
		  "the other CPUs that were there");
	is_double(noise.sibling_busy_percent, 40, 1e-9, "the busiest sibling");
	is_int(noise.sibling, 3, "which it is");
	is_double(noise.cpu_pressure_percent, 20, 1e-9, "pressure");
	is_double(noise.voluntary, 1, 0, "voluntary switches");
	is_double(noise.involuntary, 2, 0, "involuntary switches");
	is_double(noise.minor_faults, 3, 0, "faults");
	is_double(noise.major_faults, NAN, 0, "faults not known before");
	is_double(noise.migrations, NAN, 0, "a counter that went back");
	is_double(noise.tlb_shootdowns, 5, 0, "shootdowns");
	is_double(noise.throttled, 6, 0, "throttling");
	json = noise_json(&noise);
	ok(json_is_null(json_object_get(json, "major_faults")),
	   "unknown is null");
	is_int(json_integer_value(json_object_get(json, "throttled")), 6,
	       "a count is an integer");
	is_double(json_real_value(json_object_get(json, "steal_percent")), 5,
		  1e-9, "a percentage");
	json_decref(json);

	noise_between(&before, &after, 8, NULL, &noise);
	is_double(noise.steal_percent, NAN, 0, "a CPU that went");
	is_double(noise.sibling_busy_percent, NAN, 0, "no siblings known");
	is_int(noise.sibling, -1, "so none");
	noise_between(&before, &after, 2, "2", &noise);
	is_double(noise.sibling_busy_percent, NAN, 0, "no sibling but itself");

	after.seconds = 100;
	noise_between(&before, &after, 1, "1-2", &noise);
	is_double(noise.steal_percent, NAN, 0, "no time, no percentage");
	is_double(noise.others_busy_percent, NAN, 0, "of the others either");
	after.seconds = 90;
	noise_between(&before, &after, 1, "1-2", &noise);
	is_double(noise.seconds, NAN, 0, "time does not run backwards");
	json = noise_json(NULL);
	ok(json_is_null(json), "no noise known");
	json_decref(json);
}

int main(void)
{
	test_reading();
	test_cut_short();
	test_between();
	return done();
}
