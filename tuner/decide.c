/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "decide.h"
#include "random.h"

/* the cost model -------------------------------------------------------- */

/*
 * The model of a resample of the blocks: pick[n] are indexes into fit.blocks,
 * NULL takes every block once. Means over the blocks that know the cost.
 */
struct mean {
	double sum;
	size_t n;
};

static void add(struct mean *mean, double x)
{
	if (!isfinite(x))
		return;
	mean->sum += x;
	mean->n++;
}

static double mean_value(const struct mean *mean)
{
	return mean->n ? mean->sum / (double)mean->n : NAN;
}

/* True if the costs with the knob are to be relied on. */
static bool knows_both(const struct findings *findings)
{
	return findings->both.verdict == BOTH_AGREES ||
	       findings->both.verdict == BOTH_DISAGREES;
}

static void resample(const struct findings *findings, const size_t *pick,
		     struct cost_model *model)
{
	const struct both *both = &findings->both;
	const struct fit *fit = &findings->fit;
	struct mean a = { 0 }, b = { 0 }, c_i = { 0 }, c_f = { 0 };
	size_t i, set, n_sets = model->n_sets;
	int pattern;

	for (i = 0; i < fit->n_blocks; i++) {
		size_t at = pick ? pick[i] : i;
		/* What was seen at every n, both ways, is extrapolated to none.
		 */
		const struct block_fit *block =
			knows_both(findings) ?
				&both->blocks[at % both->n_blocks] :
				&fit->blocks[at];

		if (knows_both(findings) && !pick && i >= both->n_blocks)
			break;
		add(&a, block->a);
		add(&b, block->b);
		add(&c_i, block->c_i);
		add(&c_f, block->c_f);
	}
	model->a = mean_value(&a);
	model->b = mean_value(&b);
	model->c_i = mean_value(&c_i);
	model->c_f = mean_value(&c_f);
	for (pattern = 0; pattern < PATTERNS; pattern++)
		for (set = 0; set < n_sets; set++) {
			const struct refill *refill =
				&findings->refill[(size_t)pattern *
							  (n_sets + 1) +
						  set + 1];
			struct mean step = { 0 };

			for (i = 0; i < refill->n_blocks; i++)
				add(&step,
				    refill->block_step_ns[pick ? pick[i] : i]);
			model->step[set][pattern] = mean_value(&step);
		}
}

void decide_model(struct findings *findings)
{
	resample(findings, NULL, &findings->model);
}

bool decide_knows(const struct cost_model *model)
{
	size_t set;
	int pattern;

	for (set = 0; set < model->n_sets; set++)
		for (pattern = 0; pattern < PATTERNS; pattern++)
			if (!isfinite(model->step[set][pattern]))
				return false;
	return model->n_sets && isfinite(model->a) && isfinite(model->b) &&
	       isfinite(model->c_i) && isfinite(model->c_f);
}

/* the choice ------------------------------------------------------------ */

/* The gain of the choice of all blocks, under the costs of a resample. */
static void gains(const struct findings *findings,
		  const struct cost_model *model, double *factor, double *pages)
{
	const struct choice_grid *grid = &findings->grid;
	const struct choice *choice = &findings->choice;
	struct regret now =
		choice_regret(model, grid, findings->pages_in_force);
	struct regret by_factor = choice_regret(model, grid, choice->pages);
	struct regret by_pages = choice_regret(model, grid, choice->best_pages);

	*factor = choice_gain(&now, &by_factor, grid->objective);
	*pages = choice_gain(&now, &by_pages, grid->objective);
}

static struct interval middle(const double *x, size_t n)
{
	return (struct interval){ stats_quantile(x, n, 0.025),
				  stats_quantile(x, n, 0.975) };
}

/* Resamples of one core type, and after it of the others. */
struct draw {
	const struct findings *findings;
	uint64_t seed;
	size_t *pick; /* [blocks] */
	struct cost_model model;
};

#define DRAWS 2 /* core types that a choice can be for */

static void draws_close(struct draw draws[DRAWS])
{
	size_t i;

	for (i = 0; i < DRAWS; i++) {
		free(draws[i].pick);
		free(draws[i].model.step);
	}
}

/* 0, or -1 with ENOMEM. */
static int draws_open(struct draw draws[DRAWS], const struct findings *findings,
		      const struct question *question)
{
	const struct findings *const types[DRAWS] = { findings,
						      question->also };
	size_t i;

	for (i = 0; i < DRAWS && types[i]; i++) {
		struct draw *draw = &draws[i];

		*draw = (struct draw){
			.findings = types[i],
			.seed = random_stream(question->seed, i),
			.pick = calloc(types[i]->fit.n_blocks,
				       sizeof(*draw->pick)),
			.model = types[i]->model,
		};
		draw->model.step =
			calloc(draw->model.n_sets, sizeof(*draw->model.step));
		draw->model.next = NULL;
		if (!draw->pick || !draw->model.step)
			return -1;
		if (i > 0)
			draws[i - 1].model.next = &draw->model;
	}
	return 0;
}

/* Number k of the resamples of all types, in the model of the first. */
static void draws_next(struct draw draws[DRAWS], uint64_t k)
{
	size_t i, at;

	for (i = 0; i < DRAWS && draws[i].findings; i++) {
		size_t blocks = draws[i].findings->fit.n_blocks;

		for (at = 0; at < blocks; at++)
			draws[i].pick[at] =
				random_stream(draws[i].seed, k * blocks + at) %
				blocks;
		resample(draws[i].findings, draws[i].pick, &draws[i].model);
	}
}

/*
 * How often a bootstrap over time blocks, of all core types, chooses the same
 * factor, and what the choice gains in it.
 */
static int bootstrap(struct findings *out, const struct question *question)
{
	size_t times = question->bootstraps ? question->bootstraps :
					      DERIVE_BOOTSTRAPS;
	struct draw draws[DRAWS] = { 0 };
	double *pages = calloc(3 * times, sizeof(*pages));
	double *gain, *gain_pages;
	size_t same = 0, k;
	int status = -1;

	if (!pages || draws_open(draws, out, question) < 0)
		goto out;
	gain = pages + times;
	gain_pages = gain + times;
	for (k = 0; k < times; k++) {
		const struct cost_model *model = &draws[0].model;
		struct choice choice;

		draws_next(draws, k);
		choice = choice_make(model, &out->grid, out->entries);
		same += choice.factor == out->choice.factor;
		pages[k] = choice.pages;
		gains(out, model, &gain[k], &gain_pages[k]);
	}
	out->agreement = (double)same / (double)times;
	out->pages_lo = middle(pages, times).lo;
	out->pages_hi = middle(pages, times).hi;
	out->gain.ci95 = middle(gain, times);
	out->gain_pages.ci95 = middle(gain_pages, times);
	status = 0;
out:
	draws_close(draws);
	free(pages);
	return status;
}

int decide(const struct record *record, const struct question *question,
	   struct findings *out)
{
	out->pages_in_force = record->in_force < 0 ?
				      out->step.ceiling :
				      (unsigned int)record->in_force;
	out->grid = choice_grid(out->entries);
	out->grid.objective = question->objective;
	out->choice = choice_make(&out->model, &out->grid, out->entries);
	out->in_force =
		choice_regret(&out->model, &out->grid, out->pages_in_force);
	out->stock =
		choice_regret(&out->model, &out->grid, DERIVE_STOCK_CEILING);
	out->measured = knows_both(out) ? COST_CLAMP : out->step.ceiling;
	out->extrapolated =
		choice_extrapolated(&out->model, &out->grid, out->measured);
	gains(out, &out->model, &out->gain.value, &out->gain_pages.value);
	return bootstrap(out, question);
}
