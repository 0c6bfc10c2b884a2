/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "random.h"
#include "stats.h"
#include "victims_window.h"

#define WINDOW_SECONDS 0.015
#define ROW_SECONDS 3.0
#define ROW_SECONDS_QUICK 0.5
#define BLOCKS_MIN 3
#define PATIENCE 4 /* times as long, until as many blocks tell something */
#define TARGETS_MIN 2
#define TARGET_PAGES 16384 /* of all targets: 64 MiB */
#define WINDOWS 4	   /* quiet or flushed, timed or not */

/* Median of the readings since the last end of a block. */
static double block_median(const struct samples *samples)
{
	size_t from = samples->blocks ? samples->end[samples->blocks - 1] : 0;

	return from < samples->n ?
		       stats_median(samples->x + from, samples->n - from) :
		       NAN;
}

static int add_finite(struct samples *samples, double x)
{
	return isfinite(x) ? samples_add(samples, x) : 0;
}

/* What a thread lost, in this block. 0 or -1 with ENOMEM. */
static int add_loss(struct victims *victims)
{
	double quiet = block_median(&victims->ran[VICTIMS_QUIET].access);
	double flushed = block_median(&victims->ran[VICTIMS_FLUSHED].access);
	double share = 1 - quiet / flushed;

	if (add_finite(&victims->share, share) < 0)
		return -1;
	return add_finite(&victims->lost,
			  share * block_median(&victims->period));
}

static int end_class(struct victims_class *class)
{
	if (add_finite(&class->slice_median,
		       histogram_quantile(&class->slice_block, 0.5)) < 0)
		return -1;
	histogram_merge(&class->slice, &class->slice_block);
	histogram_clear(&class->slice_block);
	if (samples_end_block(&class->call) < 0 ||
	    samples_end_block(&class->access) < 0)
		return -1;
	return samples_end_block(&class->slice_median);
}

static int end_block(struct victims_session *s)
{
	struct victims *victims = s->victims;
	int window;

	if (add_loss(victims) < 0)
		return victims_fail(s, "samples");
	for (window = 0; window < VICTIMS_WINDOWS; window++)
		if (end_class(&victims->ran[window]) < 0 ||
		    end_class(&victims->stopped[window]) < 0)
			return victims_fail(s, "samples");
	if (samples_end_block(&victims->period) < 0 ||
	    samples_end_block(&victims->lost) < 0 ||
	    samples_end_block(&victims->share) < 0)
		return victims_fail(s, "samples");
	return 0;
}

static int measure_block(struct victims_session *s, uint64_t seed)
{
	uint32_t order[WINDOWS] = { 0, 1, 2, 3 };
	int status, i;

	if (bench_map(s->plan->bench, s->run, s->targets, seed, &s->why) < 0)
		return -1;
	s->victims->slice_pages =
		s->run->access.pages / access_slices(&s->run->access);
	status = victims_warm_up(s);
	random_shuffle(order, WINDOWS, seed);
	for (i = 0; i < WINDOWS && status == 0 && !*s->plan->stop; i++)
		status = victims_window(
			s, order[i] & 1 ? VICTIMS_FLUSHED : VICTIMS_QUIET,
			order[i] & 2);
	if (status == 0)
		status = place_check(s->placement, s->team, &s->why);
	if (status == 0)
		status = end_block(s);
	if (status == 0)
		status = region_verify(&s->run->region, &s->why);
	bench_unmap(s->plan->bench, s->run);
	return status;
}

/*
 * Whether a row of so many blocks is complete. Where the CPUs are busy with
 * other things there may be blocks in which no flush found its threads running.
 */
static bool is_over(const struct victims_session *s, size_t blocks,
		    uint64_t start)
{
	double limit = s->plan->quick ? ROW_SECONDS_QUICK : ROW_SECONDS;
	double seconds =
		clock_seconds(&s->run->clock, start, clock_now(&s->run->clock));

	if (s->run->work->loops)
		return victims_enough(s);
	return blocks >= BLOCKS_MIN && seconds > limit &&
	       (s->victims->lost.n >= BLOCKS_MIN || seconds > PATIENCE * limit);
}

static int measure_blocks(struct victims_session *s)
{
	uint64_t start = clock_now(&s->run->clock);
	size_t i;

	for (i = 0; !*s->plan->stop; i++) {
		if (is_over(s, i, start))
			return 0;
		if (measure_block(s, random_stream(s->plan->seed, i)) < 0)
			return -1;
	}
	return 1;
}

/* As many flushes as fit into a window, and their targets into memory. */
static size_t choose_targets(const struct options_work *work, double rate)
{
	double fit = rate * WINDOW_SECONDS;
	double pages = (double)work->pages * (work->huge ? 512 : 1);

	return (size_t)fmax(fmin(fit, TARGET_PAGES / pages), TARGETS_MIN);
}

int victims_measure(struct bench_run *run, const struct placement *placement,
		    const struct victims_plan *plan, struct victims *victims,
		    char **why)
{
	bool crowded = plan->threads + 1 > placement->n;
	struct victims_session s = {
		.run = run,
		.plan = plan,
		.placement = placement,
		.bystanders = bystanders_open(plan->threads),
		.victims = victims,
		.targets = choose_targets(run->work, plan->rate),
	};
	int status, error;

	*victims = (struct victims){
		.threads = plan->threads,
		.oversubscribed = crowded,
		.gated = !crowded,
	};
	if (s.bystanders)
		s.team = team_open(plan->threads, placement, 1, bystanders_work,
				   s.bystanders);
	status = s.team ? measure_blocks(&s) : victims_fail(&s, "threads");
	error = errno;
	team_close(s.team);
	bystanders_close(s.bystanders);
	errno = error;
	*why = s.why;
	return status;
}

static void free_class(struct victims_class *class)
{
	samples_free(&class->call);
	samples_free(&class->access);
	samples_free(&class->slice_median);
}

void victims_free(struct victims *victims)
{
	int window;

	for (window = 0; window < VICTIMS_WINDOWS; window++) {
		free_class(&victims->ran[window]);
		free_class(&victims->stopped[window]);
	}
	samples_free(&victims->period);
	samples_free(&victims->lost);
	samples_free(&victims->share);
}
