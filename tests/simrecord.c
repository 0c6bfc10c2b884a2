/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdlib.h>

#include "simkernel.h"
#include "simrecord.h"

#define SAMPLES 40 /* per block and size, and pairs */

static const unsigned int sets[] = { 16, 64, 256, 1024, 2048 };

#define SETS (sizeof(sets) / sizeof(*sets))

static double refill(const struct sim_machine *p, enum pattern pattern)
{
	return pattern == PATTERN_CHASE ? p->r : p->r / 5;
}

/* Measure one working set and pattern; the operations only the first time. */
static void add_set(const struct sim_machine *p, unsigned int w,
		    enum pattern pattern, gsl_rng *rng, struct record *record)
{
	const struct sim_noise noise = {
		.sd = 0.03,
		.outliers = 0.01,
		.outlier_min_ns = 2000,
		.outlier_max_ns = 20000,
		.drift_c_i = p->drift,
		.placement_a = p->placement,
		.placement_c_i = p->placement,
	};
	struct sim_kernel kernel = {
		.a = p->a,
		.b = p->b,
		.c_i = p->c_i,
		.c_f = p->c_f,
		.ceiling = (unsigned int)p->ceiling,
		.r = refill(p, pattern),
		.warm_ns = 2,
		.empties = p->empties != 0,
	};
	size_t n_sizes, i;
	unsigned int *sizes = sim_sizes(kernel.ceiling, &n_sizes);
	const struct sim_plan plan = {
		.seconds = 7,
		.blocks = (unsigned int)p->blocks,
		.samples = SAMPLES,
		.n_sizes = record->n_op ? 2 : n_sizes,
		.sizes = sizes,
		.w = w,
		.pairs = SAMPLES,
	};
	struct sim_run run;

	sim_measure(&kernel, &noise, &plan, rng, &run);
	for (i = 0; i < run.n_refill; i++)
		run.refill[i].pattern = pattern;
	if (record->n_op == 0) {
		record->reaccess = sim_reaccess(&kernel, rng);
		if (record_append(&record->search, &record->n_search, run.op,
				  run.n_op, sizeof(*run.op)) < 0 ||
		    record_append(&record->op, &record->n_op, run.op, run.n_op,
				  sizeof(*run.op)) < 0)
			error(1, errno, "record");
	}
	if (record_append(&record->refill, &record->n_refill, run.refill,
			  run.n_refill, sizeof(*run.refill)) < 0)
		error(1, errno, "record");
	sim_free(&run);
	free(sizes);
}

/* One run at sizes up to 512 with the knob at ceiling. */
static void run_with(const struct sim_machine *p, unsigned int ceiling,
		     gsl_rng *rng, struct sim_run *run)
{
	static const unsigned int sizes[] = { 1,  2,   4,   8,	 16,  32,
					      64, 128, 192, 256, 384, 512 };
	const struct sim_noise noise = {
		.sd = 0.03,
		.outliers = 0.01,
		.outlier_min_ns = 2000,
		.outlier_max_ns = 20000,
	};
	const struct sim_kernel kernel = {
		.a = p->a,
		.b = p->b,
		.c_i = p->knob_c_i > 0 ? p->knob_c_i : p->c_i,
		.c_f = p->c_f,
		.ceiling = ceiling,
	};
	const struct sim_plan plan = {
		.seconds = 3,
		.blocks = 14,
		.samples = 40,
		.n_sizes = sizeof(sizes) / sizeof(*sizes),
		.sizes = sizes,
	};

	sim_measure(&kernel, &noise, &plan, rng, run);
}

static void add_both(const struct sim_machine *p, gsl_rng *rng,
		     struct record *record)
{
	unsigned int stuck = (unsigned int)p->ceiling;
	struct sim_run page, full;
	size_t i;

	run_with(p, p->knob > 1 ? stuck : SIM_NO_CEILING, rng, &page);
	run_with(p, p->knob > 1 ? stuck : 0, rng, &full);
	for (i = 0; i < page.n_op; i++) {
		const struct both_point point = {
			.block = page.op[i].block,
			.n = page.op[i].n,
			.count = page.op[i].count,
			.page_ns = page.op[i].ns,
			.full_ns = full.op[i].ns,
		};

		if (record_append(&record->both, &record->n_both, &point, 1,
				  sizeof(point)) < 0)
			error(1, errno, "record");
	}
	sim_free(&page);
	sim_free(&full);
}

/* A curve with knees at 64 pages and at entries. */
static void add_reach(const struct sim_machine *p, gsl_rng *rng,
		      struct record *record)
{
	size_t n, i;
	unsigned int *w = reach_grid(16384, &n);
	unsigned int block;

	for (block = 0; block < 5; block++)
		for (i = 0; w && i < n; i++) {
			double excess =
				2 * (w[i] > 64) + 20 * (w[i] > p->entries);
			struct reach_point point = {
				.block = block,
				.w = w[i],
				.dense_ns = 1.5,
				.spread_ns = 1.5 + excess +
					     0.02 * gsl_rng_uniform(rng),
			};

			if (record_append(&record->reach, &record->n_reach,
					  &point, 1, sizeof(point)) < 0)
				error(1, errno, "record");
		}
	free(w);
}

void sim_record(const struct sim_machine *machine, gsl_rng *rng,
		struct record *record)
{
	int pattern;
	size_t i;

	*record = (struct record)RECORD_EMPTY;
	for (pattern = 0; pattern < PATTERNS; pattern++)
		for (i = 0; i < SETS; i++)
			add_set(machine, sets[i], (enum pattern)pattern, rng,
				record);
	if (machine->entries > 0)
		add_reach(machine, rng, record);
	if (machine->knob > 0)
		add_both(machine, rng, record);
	record->in_force = (int)machine->in_force;
	record->knob_ceiling = (int)machine->knob_ceiling;
}

void sim_model_open(const struct sim_machine *machine, struct cost_model *model)
{
	int pattern;
	size_t i;

	*model = (struct cost_model){
		.a = machine->a,
		.b = machine->b,
		.c_i = machine->c_i,
		.c_f = machine->c_f,
		.n_sets = SETS,
		.w = calloc(SETS, sizeof(*model->w)),
		.step = calloc(SETS, sizeof(*model->step)),
	};
	if (!model->w || !model->step)
		error(1, errno, "model");
	for (i = 0; i < SETS; i++) {
		model->w[i] = sets[i];
		for (pattern = 0; pattern < PATTERNS && !machine->empties;
		     pattern++)
			model->step[i][pattern] =
				sets[i] *
				refill(machine, (enum pattern)pattern);
	}
}

void sim_model_close(struct cost_model *model)
{
	free(model->w);
	free(model->step);
}
