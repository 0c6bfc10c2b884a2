/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "child.h"
#include "job.h"
#include "plan.h"
#include "probe.h"
#include "random.h"
#include "sizes.h"

/* One working set and pattern, and its readings in a block. */
struct cell {
	enum pattern pattern;
	unsigned int w;
	bool held_out;
	struct access access;
	struct samples warm, page, full, difference;
};

struct block_job {
	const struct measure *measure;
	const struct plan *plan;
	unsigned int block;
	double seconds;
	size_t n_cells, n_fitted; /* the fitted cells come first */
	/* results, shared */
	struct job_message *message;
	bool *complete;
	struct op_point *op;		 /* [plan->n_sizes] */
	struct refill_point *refill;	 /* [n_fitted] */
	struct held_out_point *held_out; /* [n_cells - n_fitted] */
};

/*
 * The cells: every pattern over the first w pages of the working set. Chases of
 * different length run over the same lines, each through a word of its own.
 * The held-out sets have pages of their own behind the others.
 */
static int cells_open(const struct block_job *job, const struct probe *probe,
		      struct cell *cells)
{
	const struct plan *plan = job->plan;
	size_t fitted_pages = plan->w[plan->n_sets - 1];
	size_t i;

	for (i = 0; i < job->n_cells; i++) {
		bool held_out = i >= job->n_fitted;
		size_t at = held_out ? i - job->n_fitted : i;
		size_t set = at / PATTERNS;
		char *base = probe->region.set + set * sizeof(void *);

		if (held_out)
			base += fitted_pages * probe->region.page;
		cells[i] = (struct cell){
			.pattern = (enum pattern)(at % PATTERNS),
			.w = held_out ? plan->held_out[set] : plan->w[set],
			.held_out = held_out,
		};
		if (access_open(&cells[i].access, cells[i].pattern, false, base,
				cells[i].w, probe->region.page,
				random_stream(job->measure->seed,
					      job->block * 1000u + i)) < 0)
			return -1;
	}
	return 0;
}

static void cells_close(struct cell *cells, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		access_close(&cells[i].access);
		samples_free(&cells[i].warm);
		samples_free(&cells[i].page);
		samples_free(&cells[i].full);
		samples_free(&cells[i].difference);
	}
	free(cells);
}

/*
 * A pair of readings, one on either side of the ceiling, in random order. The
 * sizes are at random within PLAN_NEAR of it; those of the held-out sets are
 * the ceiling itself and one page more.
 */
static int cell_pair(struct cell *cell, const struct block_job *job,
		     const struct probe *probe, uint64_t seed)
{
	unsigned int ceiling = job->plan->ceiling;
	unsigned int off =
		cell->held_out ? 0 : (unsigned int)(seed / 2 % PLAN_NEAR);
	unsigned int n[2] = {
		ceiling > off ? ceiling - off : 1,
		ceiling + 1 + off < PLAN_LARGEST ? ceiling + 1 + off :
						   PLAN_LARGEST,
	};
	struct probe_reading side[2];
	int first = (int)(seed % 2), i;
	double difference;

	for (i = 0; i < 2; i++) {
		int at = i ? !first : first;

		if (probe_refill(probe, &cell->access, n[at], &side[at]) < 0)
			return -1;
	}
	difference = side[1].access_ns - side[0].access_ns;
	if (cell->held_out)
		difference += side[1].op_ns - side[0].op_ns;
	if (samples_add(&cell->warm, side[first].warm_ns) < 0 ||
	    samples_add(&cell->page, side[0].access_ns) < 0 ||
	    samples_add(&cell->full, side[1].access_ns) < 0 ||
	    samples_add(&cell->difference, difference) < 0)
		return -1;
	return 0;
}

static double typical(const struct samples *samples)
{
	return estimate_typical(samples->x, samples->n);
}

static void cells_points(const struct cell *cells, const struct block_job *job)
{
	size_t i;

	for (i = 0; i < job->n_cells; i++) {
		const struct cell *cell = &cells[i];

		if (cell->held_out)
			job->held_out[i -
				      job->n_fitted] = (struct held_out_point){
				.block = job->block,
				.pattern = cell->pattern,
				.w = cell->w,
				.n = job->plan->ceiling,
				.count = (unsigned int)cell->difference.n,
				.difference_ns = typical(&cell->difference),
			};
		else
			job->refill[i] = (struct refill_point){
				.block = job->block,
				.pattern = cell->pattern,
				.w = cell->w,
				.count = (unsigned int)cell->difference.n,
				.warm_ns = typical(&cell->warm),
				.page_ns = typical(&cell->page),
				.full_ns = typical(&cell->full),
				.step_ns = typical(&cell->difference),
			};
	}
}

/* Rounds of one reading of everything until the block's time is over. */
static int block_rounds(const struct block_job *job, const struct probe *probe,
			struct sizes *sizes, struct cell *cells)
{
	const struct measure *m = job->measure;
	uint64_t seed = random_stream(m->seed, job->block);
	uint64_t start = clock_now(m->clock), round;
	size_t i;

	for (round = 0;
	     round < JOB_ROUNDS_MIN || !job_is_over(m, start, job->seconds);
	     round++) {
		uint64_t at = random_stream(seed, round);

		if (*m->stop)
			return 0;
		if (sizes_round(sizes, probe, at) < 0)
			return -1;
		for (i = 0; i < job->n_cells; i++)
			if (cell_pair(&cells[i], job, probe,
				      random_stream(at, i)) < 0)
				return -1;
		*job->complete = round + 1 >= JOB_ROUNDS_MIN;
	}
	return 0;
}

/* Measure and leave the points; the child's exit status. */
static int measure_cells(const struct block_job *job, struct probe *probe,
			 struct cell *cells)
{
	const struct plan *plan = job->plan;
	struct sizes sizes;
	char *why = NULL;

	if (sizes_open(&sizes, plan->n, plan->n_sizes) < 0 ||
	    cells_open(job, probe, cells) < 0 ||
	    sizes_warm_up(&sizes, probe, job->measure->seed) < 0 ||
	    block_rounds(job, probe, &sizes, cells) < 0)
		return job_fails(job->message, NULL);
	if (region_verify(&probe->region, &why) < 0)
		return job_fails(job->message, why);
	sizes_points(&sizes, job->block, job->op);
	cells_points(cells, job);
	sizes_close(&sizes);
	return 0;
}

static int cost_block(void *context)
{
	struct block_job *job = context;
	const struct measure *m = job->measure;
	const struct plan *plan = job->plan;
	size_t pages = plan->w[plan->n_sets - 1];
	struct cell *cells;
	struct probe probe;
	char *why = NULL;
	int status;

	if (plan->n_held_out)
		pages += plan->held_out[plan->n_held_out - 1];
	if (probe_open(&probe, m->clock, pages, plan->ceiling + 1,
		       random_stream(m->seed, job->block), &why) < 0)
		return job_fails(job->message, why);
	cells = calloc(job->n_cells, sizeof(*cells));
	status = cells ? measure_cells(job, &probe, cells) :
			 job_fails(job->message, NULL);
	if (cells)
		cells_close(cells, job->n_cells);
	probe_close(&probe);
	return status;
}

static int append_block(const struct block_job *job, struct record *record)
{
	if (record_append(&record->op, &record->n_op, job->op,
			  job->plan->n_sizes, sizeof(*job->op)) < 0 ||
	    record_append(&record->refill, &record->n_refill, job->refill,
			  job->n_fitted, sizeof(*job->refill)) < 0 ||
	    record_append(&record->held_out, &record->n_held_out, job->held_out,
			  job->n_cells - job->n_fitted,
			  sizeof(*job->held_out)) < 0)
		return -1;
	return 0;
}

int measure_blocks(const struct measure *measure, const struct plan *plan,
		   struct record *record, char **why)
{
	size_t n_fitted = plan->n_sets * PATTERNS;
	size_t n_held_out = plan->n_held_out * PATTERNS;
	struct block_job job = {
		.measure = measure,
		.plan = plan,
		.n_cells = n_fitted + n_held_out,
		.n_fitted = n_fitted,
		.message = child_share(sizeof(*job.message)),
		.complete = child_share(sizeof(*job.complete)),
		.op = child_share(plan->n_sizes * sizeof(*job.op)),
		.refill = child_share(n_fitted * sizeof(*job.refill)),
		.held_out =
			child_share((n_held_out + 1) * sizeof(*job.held_out)),
	};
	uint64_t start = clock_now(measure->clock);
	int status = 0;

	if (!job.message || !job.complete || !job.op || !job.refill ||
	    !job.held_out)
		return job_no_memory(why);
	for (job.block = 0; job.block < plan->blocks; job.block++) {
		double left = plan->seconds -
			      clock_seconds(measure->clock, start,
					    clock_now(measure->clock));

		if (left <= 0 && job.block >= 3)
			break;
		/* What setting up a block takes comes off the next ones. */
		job.seconds = left / (plan->blocks - job.block);
		*job.complete = false;
		status = job_run(cost_block, &job, job.measure, job.message,
				 why);
		if (status < 0)
			break;
		if (*job.complete && append_block(&job, record) < 0) {
			status = job_no_memory(why);
			break;
		}
		if (*measure->stop)
			break;
	}
	child_unshare(job.message, sizeof(*job.message));
	child_unshare(job.complete, sizeof(*job.complete));
	child_unshare(job.op, plan->n_sizes * sizeof(*job.op));
	child_unshare(job.refill, n_fitted * sizeof(*job.refill));
	child_unshare(job.held_out, (n_held_out + 1) * sizeof(*job.held_out));
	return status;
}
