/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "child.h"
#include "job.h"
#include "plan.h"
#include "random.h"
#include "sizes.h"
#include "why.h"

/* A step of the search; on usual machines 60 ms are 80 readings a size. */
#define SEARCH_BLOCKS 4
#define SEARCH_SECONDS 0.060
#define SEARCH_STEPS 6
#define REACCESS_PAGES 64
#define REACCESS_READINGS 101

struct search_job {
	const struct measure *measure;
	unsigned int block;
	const unsigned int *n;
	size_t n_sizes;
	/* results, shared */
	struct job_message *message;
	struct op_point *points; /* [n_sizes] */
};

static int search_block(void *context)
{
	struct search_job *job = context;
	const struct measure *m = job->measure;
	uint64_t seed = random_stream(m->seed, job->block);
	struct probe probe;
	struct sizes sizes;
	uint64_t start, round;
	char *why = NULL;

	if (probe_open(&probe, m->clock, 1, 0, seed, &why) < 0)
		return job_fails(job->message, why);
	if (sizes_open(&sizes, job->n, job->n_sizes) < 0 ||
	    sizes_warm_up(&sizes, &probe, seed) < 0)
		return job_fails(job->message, NULL);
	start = clock_now(m->clock);
	for (round = 0;
	     round < JOB_ROUNDS_MIN || !job_is_over(m, start, SEARCH_SECONDS);
	     round++)
		if (sizes_round(&sizes, &probe, random_stream(seed, round)) < 0)
			return job_fails(job->message, NULL);
	sizes_points(&sizes, job->block, job->points);
	sizes_close(&sizes);
	probe_close(&probe);
	return 0;
}

struct reaccess_job {
	const struct measure *measure;
	/* results, shared */
	struct job_message *message;
	struct reaccess *reaccess;
};

/* Standard error of a typical value, from the spread of its samples. */
static double standard_error(const struct samples *samples)
{
	/* 1.4826 * MAD estimates the standard deviation of a normal sample. */
	return 1.4826 * stats_mad(samples->x, samples->n) /
	       sqrt((double)samples->n);
}

static int reaccess_block(void *context)
{
	struct reaccess_job *job = context;
	const struct measure *m = job->measure;
	struct samples warm = { 0 }, small = { 0 }, large = { 0 };
	struct probe probe;
	struct access access;
	char *why = NULL;
	int i;

	if (probe_open(&probe, m->clock, REACCESS_PAGES, 0, m->seed, &why) < 0)
		return job_fails(job->message, why);
	if (access_open(&access, PATTERN_CHASE, false, probe.region.set,
			REACCESS_PAGES, probe.region.page, m->seed) < 0)
		return job_fails(job->message, NULL);
	for (i = 0; i < 2 * REACCESS_READINGS; i++) {
		unsigned int n = i % 2 ? PLAN_LARGEST : 1;
		struct probe_reading reading;

		if (probe_refill(&probe, &access, n, &reading) < 0 ||
		    samples_add(i % 2 ? &large : &small, reading.access_ns) <
			    0 ||
		    samples_add(&warm, reading.warm_ns) < 0)
			return job_fails(job->message, NULL);
	}
	*job->reaccess = (struct reaccess){
		.warm_ns = estimate_typical(warm.x, warm.n),
		.small_ns = estimate_typical(small.x, small.n),
		.large_ns = estimate_typical(large.x, large.n),
		.noise_ns =
			fmax(standard_error(&small), standard_error(&large)),
	};
	samples_free(&warm);
	samples_free(&small);
	samples_free(&large);
	access_close(&access);
	probe_close(&probe);
	return 0;
}

static int measure_reaccess(const struct measure *measure,
			    struct record *record, char **why)
{
	struct reaccess_job job = {
		.measure = measure,
		.message = child_share(sizeof(*job.message)),
		.reaccess = child_share(sizeof(*job.reaccess)),
	};
	int status;

	if (!job.message || !job.reaccess)
		return job_no_memory(why);
	status = job_run(reaccess_block, &job, job.measure, job.message, why);
	record->reaccess = *job.reaccess;
	child_unshare(job.message, sizeof(*job.message));
	child_unshare(job.reaccess, sizeof(*job.reaccess));
	return status;
}

/* Measure the sizes n[n_sizes]. */
static int search_sizes(const struct measure *measure, const unsigned int *n,
			size_t n_sizes, struct record *record, char **why)
{
	struct search_job job = {
		.measure = measure,
		.n = n,
		.n_sizes = n_sizes,
		.message = child_share(sizeof(*job.message)),
		.points = child_share(n_sizes * sizeof(*job.points)),
	};
	int status = 0;

	if (!job.message || !job.points)
		return job_no_memory(why);
	record->n_search = 0; /* what sparser sizes showed has served */
	for (; job.block < SEARCH_BLOCKS && status == 0 && !*measure->stop;
	     job.block++) {
		status = job_run(search_block, &job, job.measure, job.message,
				 why);
		if (status == 0 &&
		    record_append(&record->search, &record->n_search,
				  job.points, n_sizes, sizeof(*job.points)) < 0)
			status = job_no_memory(why);
	}
	child_unshare(job.message, sizeof(*job.message));
	child_unshare(job.points, n_sizes * sizeof(*job.points));
	return status;
}

int measure_search(const struct measure *measure, struct record *record,
		   struct step *step, char **why)
{
	unsigned int n[PLAN_SIZES];
	size_t n_sizes = plan_log_sizes(n);
	int i;

	*step = (struct step){ .kind = STEP_NONE };
	if (measure_reaccess(measure, record, why) < 0)
		return -1;
	for (i = 0; i < SEARCH_STEPS && !*measure->stop; i++) {
		if (search_sizes(measure, n, n_sizes, record, why) < 0)
			return -1;
		if (*measure->stop)
			return 0;
		if (estimate_step(record->search, record->n_search,
				  &record->reaccess, step) < 0)
			return errno == EINVAL ?
				       why_set(why, 0,
					       "no size takes a time that the "
					       "clock can tell from 0") :
				       job_no_memory(why);
		if (step->kind != STEP_FOUND || step->above - step->below <= 1)
			return 0;
		n_sizes = plan_gap_sizes(step->below, step->above, n);
	}
	return 0;
}
