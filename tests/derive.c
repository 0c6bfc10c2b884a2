/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * derive: where the costs are to be measured. If that is not where the kernel's
 * ceiling is, what passes for a flush page by page is a full one in part of the
 * readings, and INVLPG seems to empty the TLB.
 */
#include <config.h>

#include <errno.h>
#include <error.h>

#include "derive.h"
#include "simrecord.h"
#include "tap.h"

#define SEEDS 20
#define TIMINGS 33 /* where the timings show a step */
#define KNOB 64

/* What there is when the search and the knob are done, but nothing else. */
static void until_search(struct record *record)
{
	record->n_op = 0;
	record->n_refill = 0;
	record->n_held_out = 0;
	record->n_reach = 0;
}

/* In how many of the simulated runs that ceiling is found. */
static int found(const struct sim_machine *machine, unsigned int ceiling)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	int seed, count = 0;

	for (seed = 0; seed < SEEDS; seed++) {
		struct record record = RECORD_EMPTY;
		struct step step;

		gsl_rng_set(rng, (unsigned long)seed);
		sim_record(machine, rng, &record);
		until_search(&record);
		if (derive_search_step(&record, &step) < 0)
			error(1, errno, "derive_search_step");
		count += step.kind == STEP_FOUND && step.ceiling == ceiling;
		record_free(&record);
	}
	gsl_rng_free(rng);
	return count;
}

int main(void)
{
	struct sim_machine machine = SIM_MACHINE_USUAL;
	struct record empty = RECORD_EMPTY;
	struct step step;

	is_int(found(&machine, TIMINGS), SEEDS, "the timings, without a knob");
	machine.knob_ceiling = KNOB;
	is_int(found(&machine, TIMINGS), SEEDS, "... or if it was not moved");
	machine.knob = 2;
	is_int(found(&machine, TIMINGS), SEEDS, "... or has no effect");
	machine.knob = 1;
	is_int(found(&machine, KNOB), SEEDS, "a knob that acts knows better");
	machine.c_i = 5;
	machine.knob_ceiling = TIMINGS;
	is_int(found(&machine, TIMINGS), SEEDS,
	       "... also where the timings show no step");

	errno = 0;
	ok(derive_search_step(&empty, &step) < 0 && errno == EINVAL,
	   "nothing was measured");
	return done();
}
