/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate [KEY=NUMBER...]: print the JSON report that tune would have saved on
 * a simulated kernel, without what is derived: input for `tune --from`.
 *
 * Keys: a b c_i c_f (ns), r (ns/page of a chase; random and seq cost a fifth),
 * ceiling, entries (pages), empties (1: INVLPG empties the TLB), drift (of
 * c_i), placement, blocks, seed; knob (1: both ways at every size, 2: by a knob
 * without effect), knob_c_i (what c_i is then; 0: the same), in_force (pages;
 * -1: the ceiling), knob_ceiling (what the knob says; -1: nothing).
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "run.h"
#include "simrecord.h"

static double *parameter(struct sim_machine *p, const char *name, size_t len)
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
		{ "placement", &p->placement },
		{ "blocks", &p->blocks },
		{ "seed", &p->seed },
		{ "knob", &p->knob },
		{ "knob_c_i", &p->knob_c_i },
		{ "in_force", &p->in_force },
		{ "knob_ceiling", &p->knob_ceiling },
		{ "live", &p->live },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strlen(all[i].name) == len &&
		    !strncmp(all[i].name, name, len))
			return all[i].value;
	return NULL;
}

static void parse(int argc, char **argv, struct sim_machine *p)
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

int main(int argc, char **argv)
{
	struct sim_machine p = SIM_MACHINE_USUAL;
	const struct clock clock = { .source = CLOCK_SOURCE_TSC,
				     .why = "simulated",
				     .ns_per_tick = 1 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct record record;
	json_t *report;

	parse(argc, argv, &p);
	gsl_rng_set(rng, (unsigned long)p.seed);
	sim_record(&p, rng, &record);
	report = report_new("tune", false, json_object(), &clock,
			    p.live > 0 ? run_environment() : json_object());
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
