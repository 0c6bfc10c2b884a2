/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>

#include "place.h"
#include "random.h"
#include "windows.h"

/*
 * A row ends when it has 20 blocks and the interval of the operation is within
 * 1 % of its median on either side; or when its time is over and it has 3,
 * since starting and parking many threads on few CPUs takes longer than the
 * windows.
 */
#define ROW_SECONDS 3.0
#define ROW_SECONDS_QUICK 0.5
#define BLOCKS 20
#define BLOCKS_MIN 3
#define TIGHT 0.01
#define LOOP_BLOCKS 20 /* into which -l operations are divided */

/* The readings of a time block belong together. 0 or -1. */
static int end_block(struct measurement *m)
{
	struct row *row = m->row;
	struct samples *const all[] = {
		&row->alone.op,	       &row->alone.access, &row->busy.op,
		&row->busy.access,     &row->stopped.op,   &row->stopped.access,
		&row->apart.op,	       &row->apart.access, &row->busy_bystander,
		&row->quiet_bystander, &row->others_busy,  &row->others_apart,
		&row->rate_alone,      &row->rate_busy,	   &row->rate_apart,
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (samples_end_block(all[i]) < 0)
			return windows_fail(m, "samples");
	return 0;
}

/* The windows that there are here. Returns how many. */
static size_t choose_windows(const struct measurement *m,
			     uint32_t window[WINDOWS])
{
	size_t n = 0;

	window[n++] = WINDOW_ALONE;
	if (m->threads || m->row->threads)
		window[n++] = WINDOW_BUSY;
	if (m->row->threads)
		window[n++] = WINDOW_QUIET;
	if (m->processes)
		window[n++] = WINDOW_APART;
	return n;
}

/*
 * All windows in random order, in memory of their own, which must have stayed
 * what it was, or the numbers mean nothing.
 */
static int measure_block(struct measurement *m, size_t loops, uint64_t seed)
{
	uint32_t order[WINDOWS];
	size_t n = choose_windows(m, order);
	size_t i;
	int status;

	m->seed = seed;

	if (bench_map(m->bench, m->run, 1, seed, &m->why) < 0)
		return -1;
	status = windows_warm_up(m);
	random_shuffle(order, n, seed);
	for (i = 0; i < n && status == 0 && !*m->stop; i++)
		status = windows_measure(m, (enum window)order[i], loops);
	if (status == 0 && m->run->proof && !*m->stop)
		status = windows_trace(m);
	if (status == 0)
		status = place_check(m->placement, m->team, &m->why);
	if (status == 0)
		status = end_block(m);
	if (status == 0)
		status = region_verify(&m->run->region, &m->why);
	bench_unmap(m->bench, m->run);
	return status;
}

/* The interval of the operation is within TIGHT of its median. */
static bool is_tight(const struct row *row)
{
	const struct samples *op = row->apart.op.n ? &row->apart.op :
				   row->busy.op.n  ? &row->busy.op :
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

/* Processes first: they are forked. 0 or -1. */
static int open_others(struct measurement *m, const struct placement *placement)
{
	const struct options_work *work = m->run->work;
	size_t others = work->initiators - 1;

	if (others && work->mode != MODE_THREADS) {
		m->processes = initiators_open(others, true, placement, 1,
					       m->bench, m->run);
		if (!m->processes)
			return windows_fail(m, "processes");
	}
	if (others && work->mode != MODE_PROCESSES) {
		m->threads = initiators_open(others, false, placement, 1,
					     m->bench, m->run);
		if (!m->threads)
			return windows_fail(m, "initiators");
	}
	m->bystanders = bystanders_open(m->row->threads);
	if (m->bystanders)
		m->team = team_open(m->row->threads, placement,
				    work->initiators, bystanders_work,
				    m->bystanders);
	return m->team ? 0 : windows_fail(m, "threads");
}

int row_measure(const struct bench *bench, struct bench_run *run,
		const struct placement *placement, size_t threads, bool quick,
		uint64_t seed, const volatile int *stop, struct row *row,
		char **why)
{
	size_t working = run->work->initiators + threads;
	struct measurement m = {
		.bench = bench,
		.run = run,
		.placement = placement,
		.stop = stop,
		.row = row,
	};
	int status, error;

	*row = (struct row){
		.threads = threads,
		.oversubscribed = working > placement->n,
		.gated = working > 1 && working <= placement->n,
		.initiators = run->work->initiators,
	};
	status = open_others(&m, placement);
	if (status == 0)
		status = measure_blocks(&m, quick, seed);
	error = errno;
	team_close(m.team);
	bystanders_close(m.bystanders);
	initiators_close(m.threads);
	initiators_close(m.processes);
	errno = error;
	*why = m.why;
	return status;
}

void row_free(struct row *row)
{
	struct row_window *const windows[] = { &row->alone, &row->busy,
					       &row->stopped, &row->apart,
					       &row->apart_stopped };
	struct samples *const others[] = {
		&row->busy_bystander, &row->quiet_bystander, &row->others_busy,
		&row->others_apart,   &row->rate_alone,	     &row->rate_busy,
		&row->rate_apart,
	};
	size_t i;

	for (i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		samples_free(&windows[i]->op);
		samples_free(&windows[i]->access);
	}
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		samples_free(others[i]);
}
