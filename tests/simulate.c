/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate [KEY=NUMBER...]: print the JSON report that tune would have saved on
 * a simulated kernel, without what is derived: input for `tune --from`.
 *
 * Keys: a b c_i c_f (ns), r (ns/page of a chase; random and seq cost a fifth),
 * ceiling, entries (pages), empties (1: INVLPG empties the TLB), drift (of
 * c_i), blocks, seed; knob (1: both ways at every size, 2: by a knob without
 * effect), knob_c_i (what c_i is then; 0: the same), in_force (pages; -1: the
 * ceiling).
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "report.h"
#include "simkernel.h"

struct parameters {
	double a, b, c_i, c_f, r, ceiling, entries, empties, drift, blocks,
		seed, knob, knob_c_i, in_force;
};

static double *parameter(struct parameters *p, const char *name, size_t len)
{
	const struct {
		const char *name;
		double *value;
	} all[] = {
		{ "a", &p->a },
		{ "b", &p->b },
		{ "c_i", &p->c_i },
		{ "c_f", &p->c_f },
		{ "r", &p->r },
		{ "ceiling", &p->ceiling },
		{ "entries", &p->entries },
		{ "empties", &p->empties },
		{ "drift", &p->drift },
		{ "blocks", &p->blocks },
		{ "seed", &p->seed },
		{ "knob", &p->knob },
		{ "knob_c_i", &p->knob_c_i },
		{ "in_force", &p->in_force },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strlen(all[i].name) == len &&
		    !strncmp(all[i].name, name, len))
			return all[i].value;
	return NULL;
}

static void parse(int argc, char **argv, struct parameters *p)
{
	int i;

	for (i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		double *value = NULL;

		if (equals)
			value = parameter(p, argv[i],
					  (size_t)(equals - argv[i]));
		if (!value)
			error(2, 0, "'%s': expected KEY=NUMBER", argv[i]);
		*value = strtod(equals + 1, NULL);
	}
}

/* Measure one working set and pattern; the operations only the first time. */
static void add_set(const struct parameters *p, unsigned int w,
		    enum pattern pattern, gsl_rng *rng, struct record *record)
{
	const struct sim_noise noise = {
		.sd = 0.03,
		.outliers = 0.01,
		.outlier_min_ns = 2000,
		.outlier_max_ns = 20000,
		.drift_c_i = p->drift,
	};
	struct sim_kernel kernel = {
		.a = p->a,
		.b = p->b,
		.c_i = p->c_i,
		.c_f = p->c_f,
		.ceiling = (unsigned int)p->ceiling,
		.r = pattern == PATTERN_CHASE ? p->r : p->r / 5,
		.warm_ns = 2,
		.empties = p->empties != 0,
	};
	size_t n_sizes, i;
	unsigned int *sizes = sim_sizes(kernel.ceiling, &n_sizes);
	const struct sim_plan plan = {
		.seconds = 7,
		.blocks = (unsigned int)p->blocks,
		.samples = 40,
		.n_sizes = record->n_op ? 2 : n_sizes,
		.sizes = sizes,
		.w = w,
		.pairs = 40,
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
static void run_with(const struct parameters *p, unsigned int ceiling,
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

static void add_both(const struct parameters *p, gsl_rng *rng,
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
static void add_reach(const struct parameters *p, gsl_rng *rng,
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

int main(int argc, char **argv)
{
	struct parameters p = {
		.a = 1000,
		.b = 15,
		.c_i = 40,
		.c_f = 215,
		.r = 11,
		.ceiling = 33,
		.entries = 2048,
		.blocks = 20,
		.seed = 1,
		.in_force = -1,
	};
	static const unsigned int sets[] = { 16, 64, 256, 1024, 2048 };
	const struct clock clock = { .source = CLOCK_SOURCE_TSC,
				     .why = "simulated",
				     .ns_per_tick = 1 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct record record = RECORD_EMPTY;
	json_t *report;
	size_t i;
	int pattern;

	parse(argc, argv, &p);
	gsl_rng_set(rng, (unsigned long)p.seed);
	for (pattern = 0; pattern < PATTERNS; pattern++)
		for (i = 0; i < sizeof(sets) / sizeof(*sets); i++)
			add_set(&p, sets[i], (enum pattern)pattern, rng,
				&record);
	if (p.entries > 0)
		add_reach(&p, rng, &record);
	if (p.knob > 0)
		add_both(&p, rng, &record);
	record.in_force = (int)p.in_force;
	report =
		report_new("tune", false, json_object(), &clock, json_object());
	if (!report ||
	    json_object_set_new(report, "record", record_json(&record)) < 0 ||
	    json_dumpf(report, stdout, JSON_COMPACT) < 0)
		error(1, ENOMEM, "report");
	putchar('\n');
	json_decref(report);
	record_free(&record);
	gsl_rng_free(rng);
	return 0;
}
