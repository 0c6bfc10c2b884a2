/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock: nanoseconds from the TSC where it can be trusted, from
 * clock_gettime(CLOCK_MONOTONIC_RAW) where it cannot.
 */
#ifndef TLBTUNE_CLOCK_H
#define TLBTUNE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

enum clock_source { CLOCK_SOURCE_TSC, CLOCK_SOURCE_GETTIME };

struct clock {
	enum clock_source source;
	const char *why;     /* why this source, a string constant */
	double ns_per_tick;  /* 1 for clock_gettime */
	double overhead_ns;  /* of one clock_now pair, subtracted by clock_ns */
	double step_ns;	     /* smallest difference seen between readings */
	double drift_ppm;    /* calibration at the end against the start; NAN */
	uint64_t start_tick; /* of the calibration */
	uint64_t start_raw;  /* CLOCK_MONOTONIC_RAW at start_tick, ns */
};

/*
 * Choose the source and calibrate it against CLOCK_MONOTONIC_RAW for about
 * 20 ms. The TSC is trusted where CPUID says it is invariant and the kernel
 * (ROOT/sys/devices/system/clocksource) has not given it up. root is "" for the
 * machine itself.
 */
void clock_init(struct clock *clock, const char *root);

/* Compare the rate over the whole run with the first calibration. */
void clock_finish(struct clock *clock);

static inline uint64_t clock_raw_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * A reading in ticks. The fences keep the work that is timed between its two
 * readings: Intel SDM vol. 2, RDTSCP ("the LFENCE instruction").
 */
static inline uint64_t clock_now(const struct clock *clock)
{
	unsigned int aux;
	uint64_t tick;

	if (clock->source != CLOCK_SOURCE_TSC)
		return clock_raw_ns();
	_mm_lfence();
	tick = __rdtscp(&aux);
	_mm_lfence();
	return tick;
}

/* Nanoseconds between two readings, less the clock's own overhead. */
static inline double clock_ns(const struct clock *clock, uint64_t from,
			      uint64_t to)
{
	return (double)(int64_t)(to - from) * clock->ns_per_tick -
	       clock->overhead_ns;
}

/* Seconds between two readings. */
static inline double clock_seconds(const struct clock *clock, uint64_t from,
				   uint64_t to)
{
	return (double)(int64_t)(to - from) * clock->ns_per_tick * 1e-9;
}

/*
 * Effective core frequency in GHz from a loop of dependent one-cycle adds that
 * runs at least 5 us; the best of several, so that a preemption does not show.
 */
double clock_core_ghz(const struct clock *clock);

#endif
