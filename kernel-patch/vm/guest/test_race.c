/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * race [TIMES]: the factor changes while CPUs flush.
 *
 * Two threads of one process flush first.
 *
 * Every ceiling that is ever in force lies between 32 and 512 pages, so 16
 * pages must always be decided page by page and 520 always in full: anything
 * else is a ceiling that nobody has set. What was discarded reads as zeros at
 * once, on the CPU that discarded it.
 *
 * Each round makes one decision. It is about everything where the other CPU was
 * in the midst of a flush of the same address space: the kernel then flushes
 * more than what it was asked for, as the other may have taken pages away that
 * it has not flushed yet.
 *
 * Then a process flushes on one CPU while another one switches between factors
 * that decide differently: what was decided is what is flushed. TIMES (2) 1000
 * rounds of it.
 */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "area.h"
#include "flush.h"
#include "guest.h"
#include "knob.h"
#include "spinner.h"
#include "tap.h"

#define SECONDS 0.5
#define CHANGES_MIN 20
#define STEP 5	 /* pages are not looked at: the write after it flushes */
#define MANY 100 /* rounds of which some are not disturbed by the other CPU */
#define ALONE 16 /* pages that one process flushes */
#define ALONE_ROUNDS 1000
#define ALONE_MOST 100 /* times that many, until both decisions were made */

struct flusher {
	pthread_t thread;
	pthread_barrier_t *barrier; /* for all flushers, and who judges them */
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
	pthread_barrier_wait(flusher->barrier); /* recording begins */
	pthread_barrier_wait(flusher->barrier);
	while (!__atomic_load_n(&flusher->stop, __ATOMIC_ACQUIRE)) {
		area_prepare(&area, flusher->pages);
		area_operate(&area, AREA_MADVISE, flusher->pages);
		for (size_t i = 0; i < flusher->pages; i += STEP)
			flusher->stale +=
				*(volatile char *)(area.target + i * PAGE) != 0;
		flusher->rounds++;
	}
	pthread_barrier_wait(flusher->barrier); /* recording ends */
	pthread_barrier_wait(flusher->barrier);
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

/* Every decision of a flusher was the right one. */
static void judge(const struct flusher *flusher, bool full,
		  const struct flush_event *events, size_t count)
{
	long decisions = 0, everything = 0, wrong = 0;

	for (size_t i = 0; i < count; i++) {
		if (events[i].kind != FLUSH_RANGE ||
		    events[i].pid != flusher->tid)
			continue;
		if (events[i].pages == -1) {
			everything++;
			wrong += !events[i].full;
		} else if (events[i].pages == (long)flusher->pages) {
			decisions++;
			wrong += events[i].full != full;
		}
	}
	ok(flusher->rounds > 0 && decisions + everything == flusher->rounds &&
		   (decisions > 0 || flusher->rounds < MANY),
	   "%zu pages on CPU %d: %ld rounds, %ld decisions, %ld of everything",
	   flusher->pages, flusher->cpu, flusher->rounds, decisions,
	   everything);
	is_int(wrong, 0, "... all of them %s, or of everything",
	       full ? "full" : "page by page");
	is_int(flusher->stale, 0, "... and no page stale");
}

/* Decisions of a process that flushes alone, and those that were not kept. */
struct kept {
	long partial, full, broken;
};

static void count_kept(const struct flush_event *events, size_t count,
		       struct kept *kept)
{
	const struct flush_event *decision = NULL;

	for (size_t i = 0; i < count; i++) {
		if (events[i].pid != getpid())
			continue;
		if (events[i].kind == FLUSH_RANGE) {
			decision = &events[i];
			kept->partial += !decision->full;
			kept->full += decision->full;
		} else if (events[i].kind == FLUSH_DONE && decision) {
			kept->broken += events[i].pages !=
					(decision->full ? -1 : decision->pages);
			decision = NULL;
		}
	}
}

static pid_t start_switching(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	spinner_pin(1);
	for (long i = 0;; i++)
		knob_write(KNOB_FACTOR, i % 2 ? 0 : -1);
}

static void test_alone(int times)
{
	struct kept kept = { 0 };
	pid_t pid = start_switching();
	struct area area;

	area_open(&area, ALONE, false);
	area_prepare(&area, ALONE);
	for (int i = 0;
	     i < times || (i < ALONE_MOST && !(kept.partial && kept.full));
	     i++) {
		struct flush_event *events;
		size_t count;

		flush_trace();
		for (int round = 0; round < ALONE_ROUNDS; round++) {
			area_operate(&area, AREA_MPROTECT, ALONE);
			area_restore(&area, AREA_MPROTECT, ALONE);
		}
		count = flush_stop(&events);
		count_kept(events, count, &kept);
		free(events);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	area_close(&area);
	ok(kept.partial > 0 && kept.full > 0,
	   "%d pages, the factor -1 or 0: %ld decisions page by page, %ld full",
	   ALONE, kept.partial, kept.full);
	is_int(kept.broken, 0, "... and each was kept");
}

int test_race(int argc, char **argv)
{
	struct flusher flushers[2] = { { .cpu = 0, .pages = 16 },
				       { .cpu = 1, .pages = 520 } };
	pthread_barrier_t barrier;
	struct flush_event *events;
	size_t count;
	long changes;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip_all("one CPU");
	is_int(knob_set(0, 512), 0, "factor 0, E 512");
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++) {
		flushers[i].barrier = &barrier;
		if (pthread_create(&flushers[i].thread, NULL, flush,
				   &flushers[i]))
			return EXIT_FAILURE;
	}
	pthread_barrier_wait(&barrier);
	flush_trace();
	pthread_barrier_wait(&barrier);
	changes = change();
	for (int i = 0; i < 2; i++)
		__atomic_store_n(&flushers[i].stop, true, __ATOMIC_RELEASE);
	pthread_barrier_wait(&barrier);
	count = flush_stop(&events);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2; i++)
		pthread_join(flushers[i].thread, NULL);
	pthread_barrier_destroy(&barrier);
	ok(changes >= CHANGES_MIN, "%ld changes, each in force at once",
	   changes);
	judge(&flushers[0], false, events, count);
	judge(&flushers[1], true, events, count);
	free(events);
	test_alone(argc > 1 ? atoi(argv[1]) : 2);
	is_int(knob_set(-2, 512), 0, "the default is back");
	return done();
}
