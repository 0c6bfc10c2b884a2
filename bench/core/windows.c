/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gate.h"
#include "irqcount.h"
#include "operate.h"
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

/* Where the readings of a window in which the caller operates go. */
struct target {
	struct row_window *ran;	    /* what the gate lets pass */
	struct row_window *stopped; /* the others; NULL: no gate */
	struct samples *rate;	    /* of the caller and others */
	struct initiators *others;  /* that operate as well, or NULL */
};

/* Every other initiator goes on within a moment of now. */
static bool others_ran(const struct target *to, const struct clock *clock,
		       uint64_t now)
{
	uint64_t moment = (uint64_t)(INITIATORS_MOMENT_NS / clock->ns_per_tick);

	while (!initiators_went_on(to->others, now))
		if (clock_now(clock) - now > moment)
			return false;
	return true;
}

/*
 * One operation, the accesses after it, and the reset. With a gate it sees to
 * it that the bystanders run, as far as they do; other initiators are only
 * watched, since a call that waits for theirs would be in step with them. 0 or
 * -1.
 */
static int operate(struct measurement *m, const struct target *to,
		   struct reading *reading)
{
	bool gated = to && to->stopped, watched = gated && to->others;
	struct bench_run *run = m->run;
	uint64_t end = 0;

	reading->ran = !gated || all_run(m);
	if (watched)
		reading->ran &= initiators_went_on(
			to->others, clock_now(&run->clock) -
					    (uint64_t)(INITIATORS_MOMENT_NS /
						       run->clock.ns_per_tick));
	if (operate_call(m->bench, run, &reading->op_ns) < 0)
		return windows_fail(m, m->bench->operation);
	if (watched)
		end = clock_now(&run->clock);
	if (gated)
		reading->ran &= all_run(m);
	reading->access_ns = operate_access(run);
	if (m->bench->reset(run) < 0)
		return windows_fail(m, "reset");
	if (watched)
		reading->ran = reading->ran && others_ran(to, &run->clock, end);
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
			if (operate(m, NULL, &reading) < 0)
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

/* Interrupts for TLB flushes since boot; anyone may read them. */
static double interrupts(void)
{
	struct irqcount count;
	double sum;

	if (irqcount_read("", "TLB", &count) < 0)
		return NAN;
	sum = irqcount_sum(&count);
	irqcount_free(&count);
	return sum;
}

/* Operate for the time of a window, or loops times. 0 or -1. */
static int operating_window(struct measurement *m, size_t loops,
			    const struct target *to)
{
	const struct clock *clock = &m->run->clock;
	double received = interrupts();
	uint64_t others = to->others ? initiators_calls(to->others) : 0;
	uint64_t start = clock_now(clock), now = start;
	size_t i;

	for (i = 0; !*m->stop; i++) {
		struct reading reading;

		/* A window of many loops is long. */
		if (i % 1024 == 0 && initiators_lost(m->processes))
			break;
		if (loops ? i >= loops :
			    clock_ns(clock, start, now) > WINDOW_NS)
			break;
		if (operate(m, to, &reading) < 0 ||
		    add_reading(m, reading.ran ? to->ran : to->stopped,
				&reading) < 0)
			return -1;
		now = clock_now(clock);
	}
	to->ran->interrupts += interrupts() - received;
	if (to->others)
		others = initiators_calls(to->others) - others;
	if (m->row->initiators > 1 && i &&
	    samples_add(to->rate, (double)(i + others) /
					  clock_seconds(clock, start, now)) < 0)
		return windows_fail(m, "samples");
	return 0;
}

/* Let time go by. */
static void quiet_window(const struct measurement *m)
{
	const struct clock *clock = &m->run->clock;
	uint64_t start = clock_now(clock);

	while (clock_ns(clock, start, clock_now(clock)) < WINDOW_NS &&
	       !*m->stop)
		;
}

/* A block without a single round (threads that never ran) tells nothing. */
static int add_finite(struct samples *samples, double x)
{
	return isfinite(x) ? samples_add(samples, x) : 0;
}

/*
 * A window beside the bystanders. What they took per access goes to access, of
 * which there is nothing where there are none. 0 or -1.
 */
static int beside_bystanders(struct measurement *m, size_t loops,
			     const struct target *to, struct samples *access)
{
	const struct clock *clock = &m->run->clock;
	uint64_t rounds, start;
	int status = 0;
	double ns;

	bystanders_restart(m->bystanders, &m->run->access, NULL);
	if (team_run(m->team, m->stop) < 0)
		return errno == EINTR ? 0 : windows_fail(m, "threads");
	rounds = team_rounds(m->team);
	start = clock_now(clock);
	if (to)
		status = operating_window(m, loops, to);
	else
		quiet_window(m);
	ns = bystanders_ns(m->bystanders, team_rounds(m->team) - rounds,
			   clock_ns(clock, start, clock_now(clock)));
	team_park(m->team);
	if (status == 0 && add_finite(access, ns) < 0)
		return windows_fail(m, "samples");
	return status;
}

/* A window beside other initiators. What their calls took goes to calls. */
static int beside_initiators(struct measurement *m, size_t loops,
			     const struct target *to, struct samples *calls)
{
	int status;

	if (initiators_run(to->others, m->seed, m->stop, &m->why) < 0)
		return errno == EINTR ? 0 : -1;
	if (m->row->threads && to->others == m->threads)
		status = beside_bystanders(m, loops, to,
					   &m->row->busy_bystander);
	else
		status = operating_window(m, loops, to);
	if (initiators_park(to->others, calls, status ? NULL : &m->why) < 0)
		return -1;
	return status;
}

int windows_measure(struct measurement *m, enum window window, size_t loops)
{
	struct row *row = m->row;
	const struct target alone = {
		.ran = &row->alone,
		.rate = &row->rate_alone,
	};
	const struct target busy = {
		.ran = &row->busy,
		.stopped = row->gated ? &row->stopped : NULL,
		.rate = &row->rate_busy,
		.others = m->threads,
	};
	const struct target apart = {
		.ran = &row->apart,
		.stopped = row->gated ? &row->apart_stopped : NULL,
		.rate = &row->rate_apart,
		.others = m->processes,
	};

	switch (window) {
	case WINDOW_ALONE:
		if (operating_window(m, loops, &alone) < 0)
			return -1;
		return initiators_lost(m->processes) ?
			       initiators_park(m->processes, NULL, &m->why) :
			       0;
	case WINDOW_BUSY:
		if (m->threads)
			return beside_initiators(m, loops, &busy,
						 &row->others_busy);
		return beside_bystanders(m, loops, &busy, &row->busy_bystander);
	case WINDOW_APART:
		return beside_initiators(m, loops, &apart, &row->others_apart);
	default:
		return beside_bystanders(m, 0, NULL, &row->quiet_bystander);
	}
}

int windows_trace(struct measurement *m)
{
	struct proof *proof = m->run->proof;
	int status;

	if (proof_begin(proof, &m->why) < 0)
		return -1;
	status = proof_operate(proof, m->bench, m->run, PROOF_ALONE, m->stop,
			       &m->why);
	if (status == 0 && m->row->threads) {
		bystanders_restart(m->bystanders, &m->run->access, NULL);
		if (team_run(m->team, m->stop) == 0) {
			status = proof_operate(proof, m->bench, m->run,
					       PROOF_BUSY, m->stop, &m->why);
			team_park(m->team);
		} else if (errno != EINTR) {
			status = windows_fail(m, "threads");
		}
	}
	if (status == 0)
		status = proof_end(proof, m->bench, m->run, m->row->flushes,
				   &m->why);
	return status;
}
