/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hybrid: one choice for the two core types of a made-up hybrid machine.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdlib.h>

#include "derive.h"
#include "run.h"
#include "setting.h"
#include "simrecord.h"
#include "tap.h"

/* A core type: what is true of it, and what was measured. */
struct type {
	struct sim_machine machine;
	struct cost_model truth;
	struct record record;
	struct findings alone;
};

static void derive_for(const struct record *record, const struct findings *also,
		       struct findings *out)
{
	const struct question question = {
		.seed = 1,
		.entries = 2048,
		.also = also,
	};

	if (derive(record, &question, out) < 0)
		error(1, errno, "derive");
}

static void type_open(struct type *type, gsl_rng *rng)
{
	gsl_rng_set(rng, (unsigned long)type->machine.seed);
	sim_record(&type->machine, rng, &type->record);
	sim_model_open(&type->machine, &type->truth);
	derive_for(&type->record, NULL, &type->alone);
	ok(!type->alone.reason, "a choice for this type alone: %u pages",
	   type->alone.choice.pages);
}

static void type_close(struct type *type)
{
	derive_free(&type->alone);
	sim_model_close(&type->truth);
	record_free(&type->record);
}

/* The choice is what knowing the costs of both would choose. */
static void test_choice(struct type *fast, struct type *slow)
{
	struct findings both, other;
	struct choice truth;
	struct cost_model chain = fast->truth;

	derive_for(&fast->record, &slow->alone, &both);
	derive_for(&slow->record, &fast->alone, &other);
	chain.next = &slow->truth;
	truth = choice_make(&chain, &both.grid, both.entries);
	is_int(both.choice.factor, truth.factor,
	       "the factor is that of the true costs of both");
	ok(both.choice.pages > slow->alone.choice.pages &&
		   both.choice.pages < fast->alone.choice.pages,
	   "its pages, %u, are between those for each alone, %u and %u",
	   both.choice.pages, slow->alone.choice.pages,
	   fast->alone.choice.pages);
	is_int(other.choice.factor, both.choice.factor,
	       "the factor is the same whichever type comes first");
	is_int(other.choice.best_pages, both.choice.best_pages,
	       "... and so is the best ceiling");
	is_double(other.in_force.worst, both.in_force.worst, 1e-9,
		  "... and the regret of what is in force");
	derive_free(&both);
	derive_free(&other);
}

/*
 * The blocks of one type tell its costs well, those of the other do not: the
 * choice for both is as uncertain as the second makes it.
 */
static void test_bootstrap(struct type *sure, struct type *unsure)
{
	struct findings both, other;

	derive_for(&sure->record, &unsure->alone, &both);
	derive_for(&unsure->record, &sure->alone, &other);
	diag("choose the same: %.0f %% and %.0f %% alone, %.0f %% and %.0f %% "
	     "together",
	     100 * sure->alone.agreement, 100 * unsure->alone.agreement,
	     100 * both.agreement, 100 * other.agreement);
	is_double(sure->alone.agreement, 1, 0, "one type is sure");
	ok(unsure->alone.agreement < 0.9, "... the other is not");
	ok(both.agreement < 0.97, "... so the choice for both is not");
	is_double(other.agreement, both.agreement, 0.1,
		  "... whichever comes first");
	ok(both.pages_lo < both.pages_hi, "... as its interval says");
	ok(both.gain.ci95.hi - both.gain.ci95.lo >
		   1.5 * (sure->alone.gain.ci95.hi - sure->alone.gain.ci95.lo),
	   "... and that of its gain");
	derive_free(&both);
	derive_free(&other);
}

static char *mismatch(const json_t *then, const json_t *now)
{
	char *why = setting_mismatch(then, now);

	if (why)
		diag("%s", why);
	return why;
}

/* What was chosen on one core type is for a machine, wherever asked. */
static void test_mismatch(void)
{
	json_t *then = run_environment(), *now = json_deep_copy(then);
	json_t *cpu = json_object_get(now, "cpu");
	char *why;

	json_object_set_new(json_object_get(then, "cpu"), "core_type",
			    json_string("performance"));
	json_object_set_new(cpu, "core_type", json_string("performance"));
	why = mismatch(then, now);
	ok(!why, "the same core type matches");
	free(why);
	json_object_set_new(cpu, "core_type", json_string("efficiency"));
	why = mismatch(then, now);
	ok(!why, "another core type of the same part matches");
	free(why);
	json_object_set_new(cpu, "core_type", json_null());
	why = mismatch(then, now);
	ok(why, "a part that is not hybrid does not");
	free(why);
	json_decref(then);
	json_decref(now);
}

int main(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct type fast = { .machine = SIM_MACHINE_USUAL };
	struct type slow = { .machine = SIM_MACHINE_USUAL };
	struct type unsure;

	slow.machine.a = 2000;
	slow.machine.c_i = 200;
	slow.machine.c_f = 300;
	slow.machine.r = 3;
	slow.machine.seed = 7;
	unsure = slow;
	unsure.machine.placement = 0.6;
	unsure.machine.blocks = 6;
	type_open(&fast, rng);
	type_open(&slow, rng);
	type_open(&unsure, rng);
	test_choice(&fast, &slow);
	test_bootstrap(&fast, &unsure);
	test_mismatch();
	type_close(&fast);
	type_close(&slow);
	type_close(&unsure);
	gsl_rng_free(rng);
	return done();
}
