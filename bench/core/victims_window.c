/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gate.h"
#include "operate.h"
#include "progress.h"
#include "victims_window.h"

#define PATIENCE_NS 10e6 /* between two looks at the stop flag */

/* A flush or, in a quiet window, the time of one. */
struct moment {
	uint64_t begin;	 /* ticks */
	uint64_t rounds; /* of all threads until then */
	bool ran;	 /* each thread did, before and after */
};

int victims_fail(struct victims_session *s, const char *what)
{
	int error = errno;

	if (asprintf(&s->why, "%s, %zu threads: %s", what, s->plan->threads,
		     strerror(error)) < 0)
		s->why = NULL;
	errno = error;
	return -1;
}

static bool all_run(const struct victims_session *s, double limit_ns)
{
	return progress_of(s->team, s->plan->threads, &s->run->clock, limit_ns);
}

static struct victims_class *class_of(const struct victims_session *s,
				      enum victims_window window, bool ran)
{
	return ran ? &s->victims->ran[window] : &s->victims->stopped[window];
}

bool victims_enough(const struct victims_session *s)
{
	return s->run->work->loops && s->flushes >= s->run->work->loops;
}

/* Spin until the time has come; returns when it was. */
static uint64_t wait_until(const struct victims_session *s, uint64_t due)
{
	uint64_t now;

	do
		now = clock_now(&s->run->clock);
	while ((int64_t)(due - now) > 0 && !*s->plan->stop);
	return now;
}

/* The operation on target number i. 0 or -1. */
static int flush(struct victims_session *s, size_t i)
{
	struct bench_run one = *s->run;

	one.region = region_target(&s->run->region, i);
	if (operate_call(s->plan->bench, &one, &s->call_ns) < 0)
		return victims_fail(s, s->plan->bench->operation);
	return 0;
}

/*
 * What a quiet window has instead: as much time. The threads' histograms change
 * hands at each moment, which costs them, so that must be as often.
 */
static void idle(const struct victims_session *s)
{
	const struct clock *clock = &s->run->clock;

	wait_until(s, clock_now(clock) +
			      (uint64_t)(s->call_ns / clock->ns_per_tick));
}

/* Undo the operation on the first n targets. */
static int restore(struct victims_session *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct bench_run one = *s->run;

		one.region = region_target(&s->run->region, i);
		if (s->plan->bench->reset(&one) < 0)
			return victims_fail(s, "reset");
	}
	return 0;
}

/*
 * The slices up to the turn just begun are those of the moment before it. A
 * thread that is stopped may be about to write to them: it is waited for.
 */
static void take_slices(struct victims_session *s, struct victims_class *before)
{
	struct histogram trash;

	while (!all_run(s, PATIENCE_NS) && !*s->plan->stop)
		;
	if (*s->plan->stop)
		return;
	histogram_clear(&trash);
	bystanders_take(s->bystanders, before ? &before->slice_block : &trash);
}

/*
 * Begin the moment number i. With timed the slices of the moment before it go
 * to the class before, NULL if there is none. 0 or -1.
 */
static int begin_moment(struct victims_session *s, enum victims_window window,
			bool timed, size_t i, struct victims_class *before,
			struct moment *moment)
{
	bool gated = s->victims->gated;
	bool ran;

	ran = !gated || all_run(s, GATE_LIMIT_NS);
	if (timed && gated)
		bystanders_turn(s->bystanders);
	moment->rounds = team_rounds(s->team);
	moment->begin = clock_now(&s->run->clock);
	if (window == VICTIMS_FLUSHED) {
		if (flush(s, i) < 0)
			return -1;
		s->flushes++;
	} else {
		idle(s);
	}
	moment->ran = (!gated || all_run(s, GATE_LIMIT_NS)) && ran;
	if (timed && gated)
		take_slices(s, before);
	if (window == VICTIMS_FLUSHED &&
	    samples_add(&class_of(s, window, moment->ran)->call, s->call_ns) <
		    0)
		return victims_fail(s, "samples");
	return 0;
}

/* What the threads did until now, since the moment began. 0 or -1. */
static int end_moment(struct victims_session *s, enum victims_window window,
		      const struct moment *moment, uint64_t now)
{
	double ns = clock_ns(&s->run->clock, moment->begin, now);
	double access_ns = bystanders_ns(
		s->bystanders, team_rounds(s->team) - moment->rounds, ns);

	/* Threads that did not finish a round tell nothing. */
	if (isfinite(access_ns) &&
	    samples_add(&class_of(s, window, moment->ran)->access, access_ns) <
		    0)
		return victims_fail(s, "samples");
	if (window == VICTIMS_FLUSHED &&
	    samples_add(&s->victims->period, ns) < 0)
		return victims_fail(s, "samples");
	return 0;
}

/* The moments of a window while the team runs; *n becomes their number. */
static int run_moments(struct victims_session *s, enum victims_window window,
		       bool timed, size_t *n)
{
	const struct clock *clock = &s->run->clock;
	uint64_t period = (uint64_t)(1e9 / s->plan->rate / clock->ns_per_tick);
	uint64_t due = clock_now(clock) + period;
	struct victims_class *before = NULL;
	struct moment moment = { 0 };

	for (*n = 0;; (*n)++) {
		uint64_t now = wait_until(s, due);

		if (*n && !timed && end_moment(s, window, &moment, now) < 0)
			return -1;
		if (*n == s->targets || *s->plan->stop ||
		    (window == VICTIMS_FLUSHED && victims_enough(s)))
			return 0;
		if (begin_moment(s, window, timed, *n, before, &moment) < 0)
			return -1;
		before = class_of(s, window, moment.ran);
		due = moment.begin + period;
	}
}

int victims_window(struct victims_session *s, enum victims_window window,
		   bool timed)
{
	size_t n = 0;
	int status;

	bystanders_restart(s->bystanders, &s->run->access,
			   timed ? &s->run->clock : NULL);
	if (team_run(s->team, s->plan->stop) < 0)
		return errno == EINTR ? 0 : victims_fail(s, "threads");
	status = run_moments(s, window, timed, &n);
	team_park(s->team);
	/* Without a gate all slices of a window are of one turn. */
	if (status == 0 && timed && !s->victims->gated) {
		bystanders_turn(s->bystanders);
		bystanders_take(s->bystanders,
				&s->victims->ran[window].slice_block);
	}
	if (window == VICTIMS_FLUSHED && restore(s, n) < 0)
		return -1;
	return status;
}

int victims_warm_up(struct victims_session *s)
{
	size_t i;

	for (i = 0; i < s->targets && !*s->plan->stop; i++)
		if (flush(s, i) < 0)
			return -1;
	return restore(s, i);
}
