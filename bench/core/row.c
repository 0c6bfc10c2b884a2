/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "row.h"
#include "stats.h"
#include "team.h"

/*
 * A window lasts 15 ms, so that a block of three fits between two changes of
 * the machine's speed. A row ends when it has 20 blocks and the interval of the
 * operation is within 1 % of its median on either side; or when its time is
 * over and it has 3, since starting and parking many threads on few CPUs takes
 * longer than the windows.
 */
#define WINDOW_NS 15e6
#define ROW_SECONDS 3.0
#define ROW_SECONDS_QUICK 0.5
#define BLOCKS 20
#define BLOCKS_MIN 3
#define TIGHT 0.01
#define LOOP_BLOCKS 20 /* into which -l operations are divided */
#define WARM_BATCH 16
#define WARM_BATCHES_MAX 200

enum window { WINDOW_ALONE, WINDOW_BUSY, WINDOW_QUIET, WINDOWS };

struct measurement {
	const struct bench *bench;
	struct bench_run *run;
	struct team *team;
	const volatile int *stop;
	struct row *row;
	char *why;
};

/* Say what failed, as errno has it; returns -1. */
static int fail(struct measurement *m, const char *what)
{
	int error = errno;

	if (asprintf(&m->why, "%s, %zu threads: %s", what, m->row->threads,
		     strerror(error)) < 0)
		m->why = NULL;
	errno = error;
	return -1;
}

static void bystander(void *context, size_t index)
{
	const struct bench_run *run = context;

	(void)index;
	access_pass(&run->access);
}

/* One operation, the accesses after it, and the reset. ns; 0 or -1. */
static int operate(struct measurement *m, double *op_ns, double *access_ns)
{
	struct bench_run *run = m->run;
	uint64_t before, between, after;

	before = clock_now(&run->clock);
	if (m->bench->op(run) < 0)
		return fail(m, m->bench->name);
	between = clock_now(&run->clock);
	access_pass(&run->access);
	after = clock_now(&run->clock);
	if (m->bench->reset(run) < 0)
		return fail(m, "reset");
	*op_ns = clock_ns(&run->clock, before, between);
	*access_ns = clock_ns(&run->clock, between, after) /
		     (double)run->access.pages;
	return 0;
}

/* Operate until two batches in a row take the same within 2 %. */
static int warm_up(struct measurement *m)
{
	double batch[WARM_BATCH], last = NAN, access_ns;
	int batches, i;

	for (batches = 0; batches < WARM_BATCHES_MAX && !*m->stop; batches++) {
		double median;

		for (i = 0; i < WARM_BATCH; i++)
			if (operate(m, &batch[i], &access_ns) < 0)
				return -1;
		median = stats_median(batch, WARM_BATCH);
		if (fabs(median / last - 1) < 0.02)
			break;
		last = median;
	}
	return 0;
}

/*
 * Operate for the time of a window, or loops times. Adds to out, and the cost
 * per access of all bystanders over the window to *bystander_ns.
 */
static int operating_window(struct measurement *m, size_t loops,
			    struct row_window *out, double *bystander_ns)
{
	const struct clock *clock = &m->run->clock;
	uint64_t rounds = team_rounds(m->team);
	uint64_t start = clock_now(clock), now = start;
	size_t i;

	for (i = 0; !*m->stop; i++) {
		double op_ns, access_ns;

		if (loops ? i >= loops :
			    clock_ns(clock, start, now) > WINDOW_NS)
			break;
		if (operate(m, &op_ns, &access_ns) < 0)
			return -1;
		if (samples_add(&out->op, op_ns) < 0 ||
		    samples_add(&out->access, access_ns) < 0)
			return fail(m, "samples");
		now = clock_now(clock);
	}
	rounds = team_rounds(m->team) - rounds;
	*bystander_ns = (double)m->row->threads * clock_ns(clock, start, now) /
			((double)rounds * (double)m->run->access.pages);
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
	rounds = team_rounds(m->team) - rounds;
	return (double)m->row->threads * clock_ns(clock, start, now) /
	       ((double)rounds * (double)m->run->access.pages);
}

/* A block without a single round (threads that never ran) tells nothing. */
static int add_finite(struct samples *samples, double x)
{
	return isfinite(x) ? samples_add(samples, x) : 0;
}

static int measure_window(struct measurement *m, enum window window,
			  size_t loops)
{
	struct row *row = m->row;
	double ns = NAN;
	int status = 0;

	if (window == WINDOW_ALONE)
		return operating_window(m, loops, &row->alone, &ns);
	if (team_run(m->team, m->stop) < 0)
		return errno == EINTR ? 0 : fail(m, "threads");
	if (window == WINDOW_BUSY) {
		status = operating_window(m, loops, &row->busy, &ns);
		if (status == 0)
			status = add_finite(&row->busy_bystander, ns);
	} else {
		status = add_finite(&row->quiet_bystander, quiet_window(m));
	}
	team_park(m->team);
	return status;
}

/* The readings of a time block belong together. 0 or -1. */
static int end_block(struct measurement *m)
{
	struct row *row = m->row;
	struct samples *const all[] = {
		&row->alone.op,	   &row->alone.access,	 &row->busy.op,
		&row->busy.access, &row->busy_bystander, &row->quiet_bystander,
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (samples_end_block(all[i]) < 0)
			return fail(m, "samples");
	return 0;
}

/*
 * All windows in random order, in memory of their own, which must have stayed
 * what it was, or the numbers mean nothing.
 */
static int measure_block(struct measurement *m, size_t loops, uint64_t seed)
{
	uint32_t order[WINDOWS] = { WINDOW_ALONE, WINDOW_BUSY, WINDOW_QUIET };
	size_t n = m->row->threads ? WINDOWS : 1;
	size_t i;
	int status;

	if (bench_map(m->run, seed, &m->why) < 0)
		return -1;
	status = warm_up(m);
	random_shuffle(order, n, seed);
	for (i = 0; i < n && status == 0 && !*m->stop; i++)
		status = measure_window(m, (enum window)order[i], loops);
	if (status == 0)
		status = end_block(m);
	if (status == 0)
		status = region_verify(&m->run->region, &m->why);
	bench_unmap(m->run);
	return status;
}

/* The interval of the operation is within TIGHT of its median. */
static bool is_tight(const struct row *row)
{
	const struct samples *op = row->threads ? &row->busy.op :
						  &row->alone.op;
	struct summary summary;

	if (samples_summarise(op, 1, &summary) < 0)
		return false;
	return summary.ci95.hi - summary.ci95.lo < 2 * TIGHT * summary.median;
}

static int measure_blocks(struct measurement *m, bool quick, uint64_t seed)
{
	size_t loops = m->run->work->loops;
	size_t blocks = loops < LOOP_BLOCKS ? loops : LOOP_BLOCKS;
	double seconds = quick ? ROW_SECONDS_QUICK : ROW_SECONDS;
	uint64_t start = clock_now(&m->run->clock);
	size_t i;

	for (i = 0; !*m->stop; i++) {
		size_t share = 0;

		if (loops) {
			if (i == blocks)
				return 0;
			share = (i + 1) * loops / blocks - i * loops / blocks;
		} else if ((i >= BLOCKS && is_tight(m->row)) ||
			   (i >= BLOCKS_MIN &&
			    clock_seconds(&m->run->clock, start,
					  clock_now(&m->run->clock)) >
				    seconds)) {
			return 0;
		}
		if (measure_block(m, share, random_stream(seed, i)) < 0)
			return -1;
	}
	return 1;
}

int row_measure(const struct bench *bench, struct bench_run *run,
		const struct placement *placement, size_t threads, bool quick,
		uint64_t seed, const volatile int *stop, struct row *row,
		char **why)
{
	struct measurement m = {
		.bench = bench,
		.run = run,
		.stop = stop,
		.row = row,
	};
	int status, error;

	*row = (struct row){
		.threads = threads,
		.oversubscribed = threads + 1 > placement->n,
	};
	m.team = team_open(threads, placement, 1, bystander, run);
	status = m.team ? measure_blocks(&m, quick, seed) : fail(&m, "threads");
	error = errno;
	team_close(m.team);
	errno = error;
	*why = m.why;
	return status;
}

void row_free(struct row *row)
{
	samples_free(&row->alone.op);
	samples_free(&row->alone.access);
	samples_free(&row->busy.op);
	samples_free(&row->busy.access);
	samples_free(&row->busy_bystander);
	samples_free(&row->quiet_bystander);
}
