/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * race: the factor changes while two CPUs flush.
 *
 * Every ceiling that is ever in force lies between 32 and 512 pages, so 16
 * pages must always be decided page by page and 520 always in full: anything
 * else is a ceiling that nobody has set. What was discarded reads as zeros at
 * once, on the CPU that discarded it.
 */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "area.h"
#include "flush.h"
#include "guest.h"
#include "knob.h"
#include "spinner.h"
#include "tap.h"

#define SECONDS 1.0
#define CHANGES_MIN 20
#define STEP 5 /* pages are not looked at: the write after it flushes */

struct flusher {
	pthread_t thread;
	int cpu;
	size_t pages;
	bool stop;
	pid_t tid;
	long rounds, stale;
};

static void *flush(void *argument)
{
	struct flusher *flusher = argument;
	struct area area;

	spinner_pin(flusher->cpu);
	flusher->tid = (pid_t)syscall(SYS_gettid);
	area_open(&area, flusher->pages, false);
	while (!__atomic_load_n(&flusher->stop, __ATOMIC_ACQUIRE)) {
		area_prepare(&area, flusher->pages);
		area_operate(&area, AREA_MADVISE, flusher->pages);
		for (size_t i = 0; i < flusher->pages; i += STEP)
			flusher->stale +=
				*(volatile char *)(area.target + i * PAGE) != 0;
		flusher->rounds++;
	}
	area_close(&area);
	return NULL;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Change the factor by both files; the number of changes, -1 on an error. */
static long change(void)
{
	static const long factors[] = { 0, 4, -2, 1, 2, 3 };
	const double end = now() + SECONDS;
	long changes = 0;

	while (now() < end || changes < CHANGES_MIN) {
		const long factor = factors[changes % 6];
		const long want = (long)knob_ceiling_halving(factor, 512);

		if (knob_write(KNOB_FACTOR, factor) ||
		    knob_read(KNOB_PAGES) != want)
			return -1;
		if (changes++ % 7 == 0 &&
		    (knob_write(KNOB_CEILING, STOCK_CEILING) ||
		     knob_read(KNOB_FACTOR) != -2))
			return -1;
	}
	return changes;
}

/* Decisions of a flusher, and how many of them were wrong. */
static void judge(const struct flusher *flusher, bool full,
		  const struct flush_event *events, size_t count)
{
	long decisions = 0, wrong = 0;

	for (size_t i = 0; i < count; i++) {
		if (events[i].kind != FLUSH_RANGE ||
		    events[i].pid != flusher->tid ||
		    events[i].pages != (long)flusher->pages)
			continue;
		decisions++;
		wrong += events[i].full != full;
	}
	ok(decisions > 0 && flusher->rounds > 0,
	   "%zu pages on CPU %d: %ld rounds, %ld decisions", flusher->pages,
	   flusher->cpu, flusher->rounds, decisions);
	is_int(wrong, 0, "... all of them %s", full ? "full" : "page by page");
	is_int(flusher->stale, 0, "... and no page stale");
}

int test_race(int argc, char **argv)
{
	struct flusher flushers[2] = { { .cpu = 0, .pages = 16 },
				       { .cpu = 1, .pages = 520 } };
	struct flush_event *events;
	size_t count;
	long changes;

	(void)argc;
	(void)argv;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip_all("one CPU");
	is_int(knob_set(0, 512), 0, "factor 0, E 512");
	flush_trace();
	for (int i = 0; i < 2; i++)
		if (pthread_create(&flushers[i].thread, NULL, flush,
				   &flushers[i]))
			return EXIT_FAILURE;
	changes = change();
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(&flushers[i].stop, true, __ATOMIC_RELEASE);
		pthread_join(flushers[i].thread, NULL);
	}
	count = flush_stop(&events);
	ok(changes >= CHANGES_MIN, "%ld changes, each in force at once",
	   changes);
	judge(&flushers[0], false, events, count);
	judge(&flushers[1], true, events, count);
	free(events);
	is_int(knob_set(-2, 512), 0, "the default is back");
	return done();
}
