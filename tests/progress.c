/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress: threads that run are seen to run, threads that are stopped are not,
 * and only the threads asked for are in a window.
 */
#include <config.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/progress.h"
#include "tap.h"

#define THREADS 5
#define FOREVER_NS 20e9
#define SHORT_NS 2e6

/* Thread index stops in the middle of a round while stuck is its index. */
struct work {
	atomic_int stuck;
	atomic_int waiting;
	atomic_ulong rounds[THREADS];
};

static void run_or_stick(void *context, size_t index)
{
	struct work *work = context;

	while (work->stuck == (int)index) {
		work->waiting = 1;
		usleep(100);
	}
	work->rounds[index]++;
}

static void test_progress(struct team *team, struct work *work,
			  const struct clock *clock)
{
	unsigned long before;

	team_run(team, NULL);
	ok(progress_of(team, THREADS, clock, FOREVER_NS), "all threads run");
	before = work->rounds[THREADS - 1];
	progress_of(team, THREADS, clock, FOREVER_NS);
	ok(work->rounds[THREADS - 1] >= before + 2,
	   "the last has finished a round that began after the question");
	work->waiting = 0;
	work->stuck = THREADS - 1;
	while (!work->waiting)
		usleep(100);
	ok(!progress_of(team, THREADS, clock, SHORT_NS),
	   "one thread that does not go on is found");
	ok(progress_of(team, THREADS - 1, clock, FOREVER_NS),
	   "the others do run");
	work->stuck = -1;
	ok(progress_of(team, THREADS, clock, FOREVER_NS),
	   "and so do all again");
	team_park(team);
	ok(!progress_of(team, 1, clock, SHORT_NS), "parked threads don't run");
	ok(progress_of(team, 0, clock, 0), "no thread: nothing to wait for");
}

/* Windows of the first threads only: the others must not do a single round. */
static void test_some(struct team *team, const struct work *work,
		      const struct clock *clock)
{
	size_t active, i;

	for (active = 0; active <= THREADS; active++) {
		unsigned long before[THREADS], idle = 0, busy = 0;
		uint64_t counted = 0;

		for (i = 0; i < THREADS; i++)
			before[i] = work->rounds[i];
		ok(team_run_some(team, active, NULL) == 0,
		   "a window of %zu threads", active);
		ok(progress_of(team, active, clock, FOREVER_NS), "they run");
		usleep(2000);
		team_park(team);
		for (i = 0; i < THREADS; i++) {
			unsigned long rounds = work->rounds[i] - before[i];

			busy += i < active && rounds > 0;
			idle += i >= active && rounds == 0;
			counted += team_rounds_of(team, i);
		}
		is_int(busy, active, "each of them");
		is_int(idle, THREADS - active, "and none of the others");
		is_int(counted, team_rounds(team), "the parts make the sum");
	}
}

int main(void)
{
	struct placement placement;
	struct work work = { .stuck = -1 };
	struct clock clock;
	struct team *team;
	char *why;

	if (placement_open(&placement, NULL, &why) < 0)
		skip_all("no placement: %s", why ? why : "?");
	clock_init(&clock, "");
	team = team_open(THREADS, &placement, 1, run_or_stick, &work);
	if (!team)
		skip_all("no room for %d threads", THREADS);
	test_progress(team, &work, &clock);
	test_some(team, &work, &clock);
	team_close(team);
	placement_close(&placement);
	return done();
}
