/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>

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
		&row->alone.op,	      &row->alone.access,
		&row->busy.op,	      &row->busy.access,
		&row->stopped.op,     &row->stopped.access,
		&row->busy_bystander, &row->quiet_bystander,
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (samples_end_block(all[i]) < 0)
			return windows_fail(m, "samples");
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

	if (bench_map(m->bench, m->run, 1, seed, &m->why) < 0)
		return -1;
	status = windows_warm_up(m);
	random_shuffle(order, n, seed);
	for (i = 0; i < n && status == 0 && !*m->stop; i++)
		status = windows_measure(m, (enum window)order[i], loops);
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
		.bystanders = bystanders_open(threads),
		.stop = stop,
		.row = row,
	};
	int status, error;

	*row = (struct row){
		.threads = threads,
		.oversubscribed = threads + 1 > placement->n,
		.gated = threads > 0 && threads + 1 <= placement->n,
	};
	if (m.bystanders)
		m.team = team_open(threads, placement, 1, bystanders_work,
				   m.bystanders);
	status = m.team ? measure_blocks(&m, quick, seed) :
			  windows_fail(&m, "threads");
	error = errno;
	team_close(m.team);
	bystanders_close(m.bystanders);
	errno = error;
	*why = m.why;
	return status;
}

void row_free(struct row *row)
{
	struct row_window *const windows[] = { &row->alone, &row->busy,
					       &row->stopped };
	size_t i;

	for (i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		samples_free(&windows[i]->op);
		samples_free(&windows[i]->access);
	}
	samples_free(&row->busy_bystander);
	samples_free(&row->quiet_bystander);
}
