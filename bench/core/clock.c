/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <cpuid.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "stats.h"
#include "sysfile.h"

#define CALIBRATION_NS 20000000
#define OVERHEAD_READINGS 1001
#define FREQUENCY_ROUNDS 15
#define FREQUENCY_ADDS 40000 /* at least 5 us up to 8 GHz */

/* CPUID leaf 0x80000007, EDX bit 8: the TSC runs at one rate in all states. */
static bool tsc_is_invariant(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) &&
	       (edx & 1u << 8);
}

/* True where the kernel has fallen back to a timer slower than the TSC. */
static bool kernel_gave_up_tsc(const char *root)
{
	char *name = sysfile_read(root, "/sys/devices/system/clocksource/"
					"clocksource0/current_clocksource");
	bool gave_up = name &&
		       (!strcmp(name, "hpet") || !strcmp(name, "acpi_pm") ||
			!strcmp(name, "jiffies") ||
			!strcmp(name, "refined-jiffies"));

	free(name);
	return gave_up;
}

/*
 * A pair of readings of both clocks that belong together: of several tries the
 * one in which reading CLOCK_MONOTONIC_RAW took least.
 */
static void read_both(const struct clock *clock, uint64_t *tick, uint64_t *raw)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < 16; i++) {
		uint64_t before = clock_now(clock);
		uint64_t now = clock_raw_ns();
		uint64_t after = clock_now(clock);

		if (after - before < best) {
			best = after - before;
			*tick = before + (after - before) / 2;
			*raw = now;
		}
	}
}

static void calibrate(struct clock *clock)
{
	uint64_t tick, raw;

	read_both(clock, &clock->start_tick, &clock->start_raw);
	while (clock_raw_ns() - clock->start_raw < CALIBRATION_NS)
		;
	read_both(clock, &tick, &raw);
	if (clock->source == CLOCK_SOURCE_TSC)
		clock->ns_per_tick = (double)(raw - clock->start_raw) /
				     (double)(tick - clock->start_tick);
}

/* What an empty pair of readings takes, and the steps in which the clock goes.
 */
static void measure_overhead(struct clock *clock)
{
	static const int readings = OVERHEAD_READINGS;
	double pair_ns[OVERHEAD_READINGS];
	double step = INFINITY;
	uint64_t last = 0;
	int i;

	clock->overhead_ns = 0;
	for (i = 0; i < readings; i++) {
		uint64_t from = clock_now(clock);
		uint64_t to = clock_now(clock);

		pair_ns[i] = clock_ns(clock, from, to);
		if (last && from > last)
			step = fmin(step, clock_ns(clock, last, from));
		if (to > from)
			step = fmin(step, pair_ns[i]);
		last = to;
	}
	/* Differences of pairs show a step finer than a pair takes. */
	for (i = 1; i < readings; i++) {
		double difference = fabs(pair_ns[i] - pair_ns[i - 1]);

		if (difference > clock->ns_per_tick / 2)
			step = fmin(step, difference);
	}
	clock->overhead_ns = stats_midmean(pair_ns, OVERHEAD_READINGS);
	clock->step_ns = step;
}

void clock_init(struct clock *clock, const char *root)
{
	*clock = (struct clock){
		.source = CLOCK_SOURCE_TSC,
		.why = "the TSC is invariant and in use by the kernel",
		.ns_per_tick = 1,
		.drift_ppm = NAN,
	};
	if (!tsc_is_invariant()) {
		clock->source = CLOCK_SOURCE_GETTIME;
		clock->why = "CPUID does not call the TSC invariant";
	} else if (kernel_gave_up_tsc(root)) {
		clock->source = CLOCK_SOURCE_GETTIME;
		clock->why = "the kernel does not use the TSC";
	}
	calibrate(clock);
	measure_overhead(clock);
}

void clock_finish(struct clock *clock)
{
	uint64_t tick, raw;
	double rate;

	if (clock->source != CLOCK_SOURCE_TSC)
		return;
	read_both(clock, &tick, &raw);
	rate = (double)(raw - clock->start_raw) /
	       (double)(tick - clock->start_tick);
	clock->drift_ppm = (rate / clock->ns_per_tick - 1) * 1e6;
}

double clock_core_ghz(const struct clock *clock)
{
	uint64_t one = 1;
	double best = INFINITY;
	int round;

	for (round = 0; round < FREQUENCY_ROUNDS; round++) {
		uint64_t sum = (uint64_t)round;
		uint64_t from, to;
		int i;

		/*
		 * The addend is a register: adding an immediate can be folded
		 * in the renamer and then takes no cycle (Golden Cove and on).
		 */
		from = clock_now(clock);
		for (i = 0; i < FREQUENCY_ADDS / 16; i++)
			__asm__ volatile("add %1, %0\n\tadd %1, %0\n\t"
					 "add %1, %0\n\tadd %1, %0\n\t"
					 "add %1, %0\n\tadd %1, %0\n\t"
					 "add %1, %0\n\tadd %1, %0\n\t"
					 "add %1, %0\n\tadd %1, %0\n\t"
					 "add %1, %0\n\tadd %1, %0\n\t"
					 "add %1, %0\n\tadd %1, %0\n\t"
					 "add %1, %0\n\tadd %1, %0"
					 : "+r"(sum)
					 : "r"(one));
		to = clock_now(clock);
		best = fmin(best, clock_ns(clock, from, to));
	}
	return FREQUENCY_ADDS / best;
}
