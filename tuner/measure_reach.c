/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "child.h"
#include "job.h"
#include "probe.h"
#include "random.h"

/*
 * Who else runs on the core takes TLB entries and time, and gives none back. So
 * there are many readings, the more the shorter they are, and a low one counts.
 */
#define READINGS_MIN 3
#define READINGS_MAX 9
#define READINGS_PAGES 18432 /* in all of them, beyond the fewest */
#define UNDISTURBED 0.1	     /* the quantile */

#define LINE 64

/*
 * One of so many blocks has the whole grid, so that what was taken for the knee
 * too early does not stay so.
 */
#define WHOLE 7

struct reach_job {
	const struct measure *measure;
	const struct reach_plan *plan;
	unsigned int block;
	unsigned int *w; /* [n_sets] ascending */
	size_t n_sets;
	/* results, shared */
	struct job_message *message;
	struct reach_point *points; /* [n_sets]; w = 0: not measured */
};

/* Where the accesses of a block go, and how to flush before them. */
struct ground {
	struct probe probe;
	struct region huge; /* unless the pages are of 4 KiB */
	char *spread, *dense;
	size_t stride;
};

static size_t divide_up(size_t size, size_t unit)
{
	return (size + unit - 1) / unit;
}

static int ground_open(const struct reach_job *job, struct ground *ground,
		       char **why)
{
	const struct measure *m = job->measure;
	const struct reach_plan *plan = job->plan;
	uint64_t seed = random_stream(m->seed, job->block);
	size_t pages = job->w[job->n_sets - 1];
	size_t small = plan->memory == REACH_4K ? pages : 0;
	size_t bytes =
		pages * (plan->memory == REACH_2M ? REGION_HUGE : REGION_PAGE);

	*ground = (struct ground){ .stride = REGION_PAGE };
	if (probe_open(&ground->probe, m->clock,
		       small + divide_up(pages * LINE, REGION_PAGE),
		       plan->flush, seed, why) < 0)
		return -1;
	ground->spread = ground->probe.region.set;
	ground->dense = ground->spread + small * REGION_PAGE;
	if (membind_verify_region(m->memory, 0, &ground->probe.region, why) < 0)
		return -1;
	if (plan->memory == REACH_4K)
		return 0;
	if (region_open(&ground->huge, 1, divide_up(bytes, REGION_HUGE),
			plan->huge ? plan->huge : REGION_THP, seed, why) < 0)
		return -1;
	ground->spread = ground->huge.set;
	if (plan->memory == REACH_2M)
		ground->stride = REGION_HUGE;
	return membind_verify_region(m->memory, 0, &ground->huge, why);
}

/* Huge pages must not have been split meanwhile. */
static int ground_close(struct ground *ground, char **why)
{
	int status = 0;

	if (ground->huge.map)
		status = region_verify(&ground->huge, why);
	region_close(&ground->huge);
	probe_close(&ground->probe);
	return status;
}

static size_t readings_for(unsigned int w)
{
	size_t n = READINGS_PAGES / w;

	if (n < READINGS_MIN)
		return READINGS_MIN;
	return n < READINGS_MAX ? n : READINGS_MAX;
}

/* ns per access to w lines, stride bytes apart, when little disturbs it. */
static int reach_reading(const struct reach_job *job,
			 const struct ground *ground, char *base,
			 unsigned int w, size_t stride, double *ns)
{
	const struct measure *m = job->measure;
	double readings[READINGS_MAX];
	size_t n = readings_for(w), i;
	struct access access;

	if (access_open(&access, job->plan->pattern, false, base, w, stride,
			random_stream(m->seed,
				      (uint64_t)job->block << 32 | w)) < 0)
		return -1;
	for (i = 0; i < n; i++)
		if (probe_reach(&ground->probe, &access, &readings[i]) < 0)
			return -1;
	access_close(&access);
	*ns = stats_quantile(readings, n, UNDISTURBED);
	return 0;
}

static int reach_block(void *context)
{
	struct reach_job *job = context;
	const struct measure *m = job->measure;
	uint64_t start;
	struct ground ground;
	uint32_t *order;
	char *why = NULL;
	size_t i;

	if (ground_open(job, &ground, &why) < 0)
		return job_fails(job->message, why);
	order = calloc(job->n_sets, sizeof(*order));
	if (!order)
		return job_fails(job->message, NULL);
	for (i = 0; i < job->n_sets; i++)
		order[i] = (uint32_t)i;
	random_shuffle(order, job->n_sets, random_stream(m->seed, job->block));
	start = clock_now(m->clock);
	for (i = 0;
	     i < job->n_sets && !job_is_over(m, start, job->plan->seconds);
	     i++) {
		unsigned int w = job->w[order[i]];
		struct reach_point point = { .block = job->block, .w = w };

		if (reach_reading(job, &ground, ground.spread, w, ground.stride,
				  &point.spread_ns) < 0 ||
		    reach_reading(job, &ground, ground.dense, w, LINE,
				  &point.dense_ns) < 0)
			return job_fails(job->message, NULL);
		job->points[order[i]] = point;
	}
	free(order);
	if (ground_close(&ground, &why) < 0)
		return job_fails(job->message, why);
	return 0;
}

/* Append those points of a block that were measured. 0 or -1 with ENOMEM. */
static int keep(const struct reach_job *job, struct reach_point **points,
		size_t *n)
{
	size_t kept = 0, i;

	for (i = 0; i < job->n_sets; i++)
		if (job->points[i].w)
			job->points[kept++] = job->points[i];
	return record_append(points, n, job->points, kept,
			     sizeof(*job->points));
}

unsigned int measure_flush(const struct step *step)
{
	return step->kind == STEP_FOUND ? step->above : PLAN_LARGEST;
}

/*
 * The sets of the next block: where E is known roughly, most of the time goes
 * there. 0 or -1 with ENOMEM.
 */
static int choose_sets(struct reach_job *job, const struct reach_point *points,
		       size_t n)
{
	const struct reach_plan *plan = job->plan;
	struct reach reach = reach_unknown();

	if (job->block % WHOLE && plan->pattern == PATTERN_CHASE &&
	    reach_find(points, n, &reach) < 0 && errno != EINVAL)
		return -1;
	free(job->w);
	job->w = reach_grid_near(plan->pages, reach.last_knee.value,
				 &job->n_sets);
	return job->w ? 0 : -1;
}

/* Sets up to so many pages; 0 on ENOMEM. */
static size_t count_sets(unsigned int pages)
{
	size_t n = 0;

	free(reach_grid(pages, &n));
	return n;
}

int measure_reach(const struct measure *measure, const struct reach_plan *plan,
		  struct reach_point **points, size_t *n, char **why)
{
	struct reach_job job = {
		.measure = measure,
		.plan = plan,
		.message = child_share(sizeof(*job.message)),
	};
	size_t most = count_sets(plan->pages), i;
	unsigned int end = plan->first_block + plan->blocks;
	int status = 0;

	job.points = child_share(most * sizeof(*job.points));
	if (!most || !job.message || !job.points)
		return job_no_memory(why);
	for (job.block = plan->first_block;
	     job.block < end && status == 0 && !*measure->stop; job.block++) {
		for (i = 0; i < most; i++)
			job.points[i].w = 0;
		if (choose_sets(&job, *points, *n) < 0)
			status = job_no_memory(why);
		else
			status = job_run(reach_block, &job, job.measure,
					 job.message, why);
		if (status == 0 && keep(&job, points, n) < 0)
			status = job_no_memory(why);
	}
	child_unshare(job.message, sizeof(*job.message));
	child_unshare(job.points, most * sizeof(*job.points));
	free(job.w);
	return status;
}
