/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock against the kernel's, and its choice of source on fake trees. Only
 * ratios are tested: how fast the machine is does not matter.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "tap.h"

/* A tree whose kernel uses that clocksource. The caller frees the name. */
static char *fake_tree(const char *clocksource)
{
	static const char *const dirs[] = {
		"/sys",
		"/sys/devices",
		"/sys/devices/system",
		"/sys/devices/system/clocksource",
		"/sys/devices/system/clocksource/clocksource0",
	};
	char root[] = "/tmp/tlbtune-clock-XXXXXX";
	char *name;
	FILE *file;
	size_t i;

	if (!mkdtemp(root))
		return NULL;
	for (i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		if (asprintf(&name, "%s%s", root, dirs[i]) < 0)
			return NULL;
		mkdir(name, 0700);
		free(name);
	}
	if (asprintf(&name, "%s%s/current_clocksource", root, dirs[4]) < 0)
		return NULL;
	file = fopen(name, "we");
	free(name);
	if (file) {
		fprintf(file, "%s\n", clocksource);
		fclose(file);
	}
	return asprintf(&name, "%s", root) < 0 ? NULL : name;
}

static void remove_tree(const char *root)
{
	char *command;

	if (asprintf(&command, "rm -rf '%s'", root) < 0)
		return;
	if (system(command))
		diag("%s failed", command);
	free(command);
}

/* An interval of about 20 ms by both clocks. */
static double ratio_to_kernel(const struct clock *clock)
{
	uint64_t raw = clock_raw_ns();
	uint64_t from = clock_now(clock), to;

	while (clock_raw_ns() - raw < 20000000)
		;
	to = clock_now(clock);
	return clock_ns(clock, from, to) / (double)(clock_raw_ns() - raw);
}

/*
 * The best of ten: a preemption between two readings of different clocks shows
 * in one try, not in all.
 */
static double best_ratio(const struct clock *clock)
{
	double best = INFINITY;
	int i;

	for (i = 0; i < 10 && fabs(best - 1) > 0.0005; i++) {
		double ratio = ratio_to_kernel(clock);

		if (fabs(ratio - 1) < fabs(best - 1))
			best = ratio;
	}
	return best;
}

static void test_clock(const char *root, const char *name)
{
	struct clock clock;
	uint64_t last, now;
	int i, backwards = 0;

	clock_init(&clock, root);
	diag("%s: %s, %s, overhead %.1f ns, step %.2f ns", name,
	     clock.source == CLOCK_SOURCE_TSC ? "tsc" : "clock_gettime",
	     clock.why, clock.overhead_ns, clock.step_ns);
	is_double(best_ratio(&clock), 1, 0.002,
		  "%s: agrees with CLOCK_MONOTONIC_RAW", name);
	ok(clock.overhead_ns > 0 && clock.overhead_ns < 1e5,
	   "%s: has an overhead", name);
	ok(clock.step_ns > 0, "%s: has a step", name);
	last = clock_now(&clock);
	for (i = 0; i < 100000; i++) {
		now = clock_now(&clock);
		backwards += now < last;
		last = now;
	}
	is_int(backwards, 0, "%s: never goes backwards", name);
	clock_finish(&clock);
	ok(clock.source != CLOCK_SOURCE_TSC || fabs(clock.drift_ppm) < 5000,
	   "%s: the rate of the whole run is that of its start", name);
}

static void test_sources(void)
{
	char *given_up = fake_tree("hpet");
	struct clock clock;

	if (!given_up) {
		skip(6, "no room for a fake tree");
		return;
	}
	clock_init(&clock, given_up);
	is_int(clock.source, CLOCK_SOURCE_GETTIME,
	       "a TSC that the kernel gave up is not trusted");
	test_clock(given_up, "fallback");
	remove_tree(given_up);
	free(given_up);
}

/* Twice the adds take twice the time: so it is not the loop that is timed. */
static void test_frequency(void)
{
	struct clock clock;
	double one, two;

	clock_init(&clock, "");
	one = clock_core_ghz(&clock);
	two = clock_core_ghz(&clock);
	diag("%.2f GHz, %.2f GHz", one, two);
	ok(one > 0.05 && one < 20, "a plausible core frequency");
	ok(two / one > 0.3 && two / one < 3, "... twice");
}

static void test_overhead_is_subtracted(void)
{
	struct clock clock;
	double sum = 0;
	int i;

	clock_init(&clock, "");
	for (i = 0; i < 10001; i++) {
		uint64_t from = clock_now(&clock);
		uint64_t to = clock_now(&clock);
		double ns = clock_ns(&clock, from, to);

		sum += fabs(ns) < clock.overhead_ns / 2 ? 1 : 0;
	}
	ok(sum > 5000, "nothing takes nothing");
}

int main(void)
{
	test_clock("", "this machine");
	test_sources();
	test_frequency();
	test_overhead_is_subtracted();
	return done();
}
