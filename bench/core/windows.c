/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gate.h"
#include "progress.h"
#include "stats.h"
#include "windows.h"

/*
 * A window lasts 15 ms, so that a block of three fits between two changes of
 * the machine's speed.
 */
#define WINDOW_NS 15e6
#define WARM_BATCH 16
#define WARM_BATCHES_MAX 200

int windows_fail(struct measurement *m, const char *what)
{
	int error = errno;

	if (asprintf(&m->why, "%s, %zu threads: %s", what, m->row->threads,
		     strerror(error)) < 0)
		m->why = NULL;
	errno = error;
	return -1;
}

/* What one operation took, and whether the bystanders ran meanwhile. */
struct reading {
	double op_ns, access_ns;
	bool ran;
};

/* Every bystander is seen to go on. */
static bool all_run(const struct measurement *m)
{
	return progress_of(m->team, m->row->threads, &m->run->clock,
			   GATE_LIMIT_NS);
}

/*
 * One operation, the accesses after it, and the reset. gated: see to it that
 * the bystanders run, as far as they do. 0 or -1.
 */
static int operate(struct measurement *m, bool gated, struct reading *reading)
{
	struct bench_run *run = m->run;
	uint64_t before, after, start, end;

	reading->ran = !gated || all_run(m);
	before = clock_now(&run->clock);
	if (m->bench->op(run) < 0)
		return windows_fail(m, m->bench->operation);
	after = clock_now(&run->clock);
	if (gated)
		reading->ran &= all_run(m);
	start = gated ? clock_now(&run->clock) : after;
	access_pass(&run->access);
	end = clock_now(&run->clock);
	if (m->bench->reset(run) < 0)
		return windows_fail(m, "reset");
	reading->op_ns = clock_ns(&run->clock, before, after);
	reading->access_ns =
		clock_ns(&run->clock, start, end) / (double)run->access.pages;
	return 0;
}

int windows_warm_up(struct measurement *m)
{
	double batch[WARM_BATCH], last = NAN;
	int batches, i;

	for (batches = 0; batches < WARM_BATCHES_MAX && !*m->stop; batches++) {
		struct reading reading;
		double median;

		for (i = 0; i < WARM_BATCH; i++) {
			if (operate(m, false, &reading) < 0)
				return -1;
			batch[i] = reading.op_ns;
		}
		median = stats_median(batch, WARM_BATCH);
		if (fabs(median / last - 1) < 0.02)
			break;
		last = median;
	}
	return 0;
}

static int add_reading(struct measurement *m, struct row_window *out,
		       const struct reading *reading)
{
	if (samples_add(&out->op, reading->op_ns) < 0 ||
	    samples_add(&out->access, reading->access_ns) < 0)
		return windows_fail(m, "samples");
	return 0;
}

/*
 * Operate for the time of a window, or loops times. Adds to ran what the gate
 * lets pass and to stopped the others; NULL: no gate. The cost per access of
 * all bystanders over the window becomes *bystander_ns, unless that is NULL.
 */
static int operating_window(struct measurement *m, size_t loops,
			    struct row_window *ran, struct row_window *stopped,
			    double *bystander_ns)
{
	const struct clock *clock = &m->run->clock;
	uint64_t rounds = team_rounds(m->team);
	uint64_t start = clock_now(clock), now = start;
	size_t i;

	for (i = 0; !*m->stop; i++) {
		struct reading reading;

		if (loops ? i >= loops :
			    clock_ns(clock, start, now) > WINDOW_NS)
			break;
		if (operate(m, stopped, &reading) < 0 ||
		    add_reading(m, reading.ran ? ran : stopped, &reading) < 0)
			return -1;
		now = clock_now(clock);
	}
	if (bystander_ns)
		*bystander_ns = bystanders_ns(m->bystanders,
					      team_rounds(m->team) - rounds,
					      clock_ns(clock, start, now));
	return 0;
}

/* The bystanders' cost per access while nothing is flushed. */
static double quiet_window(struct measurement *m)
{
	const struct clock *clock = &m->run->clock;
	uint64_t rounds = team_rounds(m->team);
	uint64_t start = clock_now(clock), now;

	do
		now = clock_now(clock);
	while (clock_ns(clock, start, now) < WINDOW_NS && !*m->stop);
	return bystanders_ns(m->bystanders, team_rounds(m->team) - rounds,
			     clock_ns(clock, start, now));
}

/* A block without a single round (threads that never ran) tells nothing. */
static int add_finite(struct samples *samples, double x)
{
	return isfinite(x) ? samples_add(samples, x) : 0;
}

int windows_measure(struct measurement *m, enum window window, size_t loops)
{
	struct row *row = m->row;
	double ns = NAN;
	int status = 0;

	if (window == WINDOW_ALONE)
		return operating_window(m, loops, &row->alone, NULL, NULL);
	bystanders_restart(m->bystanders, &m->run->access, NULL);
	if (team_run(m->team, m->stop) < 0)
		return errno == EINTR ? 0 : windows_fail(m, "threads");
	if (window == WINDOW_BUSY) {
		status = operating_window(m, loops, &row->busy,
					  row->gated ? &row->stopped : NULL,
					  &ns);
		if (status == 0)
			status = add_finite(&row->busy_bystander, ns);
	} else {
		status = add_finite(&row->quiet_bystander, quiet_window(m));
	}
	team_park(m->team);
	return status;
}
