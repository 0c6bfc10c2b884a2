/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "child.h"
#include "cost.h"
#include "job.h"
#include "knobfile.h"
#include "plan.h"
#include "probe.h"
#include "random.h"
#include "sizes.h"

/* The two ways, in the order of a round's even ones. */
enum { PAGE, FULL, WAYS };

#define SET_PAGES 4096 /* the most that the costs are measured with */

struct both_job {
	const struct measure *measure;
	const struct both_plan *plan;
	struct knob_value way[WAYS];
	unsigned int block;
	double seconds;
	unsigned int n[PLAN_SIZES];
	size_t n_sizes;
	struct access access; /* to a set of SET_PAGES */
	/* results, shared */
	struct job_message *message;
	bool *complete;
	struct op_point *op[WAYS]; /* [n_sizes] each */
};

/* The values under which every size is flushed page by page, or fully. */
static void set_ways(enum knob_kind kind, struct knob_value way[WAYS])
{
	way[PAGE] = (struct knob_value){
		.kind = kind,
		.factor = 0,
		.entries = COST_CLAMP,
		.pages = COST_CLAMP,
	};
	way[FULL] = (struct knob_value){
		.kind = kind,
		.factor = COST_FACTOR_MIN,
		.entries = COST_CLAMP,
		.pages = 0,
	};
}

/*
 * All sizes one way, then all the other way; which one first is random. Before
 * each a pass over a working set, as there is one between the sizes where the
 * costs are measured without the knob: what a full flush costs may depend on
 * what it finds in the TLB.
 */
static int round_both(const struct both_job *job, const struct probe *probe,
		      struct sizes sizes[WAYS], uint64_t seed, char **why)
{
	int first = (int)(seed % 2), i;

	for (i = 0; i < WAYS; i++) {
		int way = i ? !first : first;

		if (knobfile_move(job->plan->root, &job->way[way], why) < 0)
			return -1;
		access_pass(&job->access);
		if (sizes_round(&sizes[way], probe,
				random_stream(seed, (uint64_t)way)) < 0)
			return -1;
	}
	return 0;
}

static int rounds(const struct both_job *job, const struct probe *probe,
		  struct sizes sizes[WAYS], char **why)
{
	const struct measure *m = job->measure;
	uint64_t seed = random_stream(m->seed, 7000 + job->block);
	uint64_t start = clock_now(m->clock), round;

	for (round = 0;
	     round < JOB_ROUNDS_MIN || !job_is_over(m, start, job->seconds);
	     round++) {
		if (*m->stop)
			return 0;
		if (round_both(job, probe, sizes, random_stream(seed, round),
			       why) < 0)
			return -1;
		*job->complete = round + 1 >= JOB_ROUNDS_MIN;
	}
	return 0;
}

static int both_block(void *context)
{
	struct both_job *job = context;
	const struct measure *m = job->measure;
	struct sizes sizes[WAYS] = { 0 };
	struct probe probe;
	char *why = NULL;
	int status = 0, way;

	/* One page more than any ceiling allows: always a full flush. */
	if (probe_open(&probe, m->clock, SET_PAGES, COST_CLAMP + 1,
		       random_stream(m->seed, 7000 + job->block), &why) < 0)
		return job_fails(job->message, why);
	if (access_open(&job->access, PATTERN_CHASE, false, probe.region.set,
			SET_PAGES, probe.region.page, m->seed) < 0)
		return job_fails(job->message, NULL);
	for (way = 0; way < WAYS && status == 0; way++)
		status = sizes_open(&sizes[way], job->n, job->n_sizes);
	if (status < 0 || sizes_warm_up(&sizes[PAGE], &probe, m->seed) < 0 ||
	    rounds(job, &probe, sizes, &why) < 0)
		status = job_fails(job->message, why);
	for (way = 0; way < WAYS; way++) {
		if (status == 0)
			sizes_points(&sizes[way], job->block, job->op[way]);
		sizes_close(&sizes[way]);
	}
	access_close(&job->access);
	probe_close(&probe);
	return status;
}

static int append(const struct both_job *job, struct record *record)
{
	size_t i;

	for (i = 0; i < job->n_sizes; i++) {
		const struct op_point *page = &job->op[PAGE][i];
		const struct op_point *full = &job->op[FULL][i];
		struct both_point point = {
			.block = job->block,
			.n = page->n,
			.count = page->count < full->count ? page->count :
							     full->count,
			.page_ns = page->ns,
			.full_ns = full->ns,
		};

		if (record_append(&record->both, &record->n_both, &point, 1,
				  sizeof(point)) < 0)
			return -1;
	}
	return 0;
}

/* Every block in turn, within the time. */
static int blocks(struct both_job *job, struct record *record, char **why)
{
	const struct measure *m = job->measure;
	uint64_t start = clock_now(m->clock);

	for (job->block = 0; job->block < job->plan->blocks; job->block++) {
		double left =
			job->plan->seconds -
			clock_seconds(m->clock, start, clock_now(m->clock));

		if (left <= 0 && job->block >= 3)
			break;
		job->seconds = left / (job->plan->blocks - job->block);
		*job->complete = false;
		if (job_run(both_block, job, job->measure, job->message, why) <
		    0)
			return -1;
		if (*job->complete && append(job, record) < 0)
			return job_no_memory(why);
		if (*m->stop)
			break;
	}
	return 0;
}

int measure_both(const struct measure *measure, const struct both_plan *plan,
		 struct record *record, char **why)
{
	struct both_job job = {
		.measure = measure,
		.plan = plan,
		.message = child_share(sizeof(*job.message)),
		.complete = child_share(sizeof(*job.complete)),
	};
	int status = -1, way;

	set_ways(plan->kind, job.way);
	job.n_sizes = plan_gap_sizes(32, PLAN_LARGEST, job.n);
	for (way = 0; way < WAYS; way++)
		job.op[way] = child_share(job.n_sizes * sizeof(*job.op[way]));
	if (!job.message || !job.complete || !job.op[PAGE] || !job.op[FULL])
		return job_no_memory(why);
	/* Once with reading back what the kernel makes of it. */
	if (knobfile_write(plan->root, &job.way[PAGE], why) == 0)
		status = blocks(&job, record, why);
	child_unshare(job.message, sizeof(*job.message));
	child_unshare(job.complete, sizeof(*job.complete));
	for (way = 0; way < WAYS; way++)
		child_unshare(job.op[way], job.n_sizes * sizeof(*job.op[way]));
	return status;
}
