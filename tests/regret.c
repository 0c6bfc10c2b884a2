/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regret: simulated kernels of known costs, measured with noise, derived and
 * chosen for as tune does. How much worse than the best factor the chosen one
 * truly is, and whether "leave it alone" is said when, and only when, there is
 * truly nothing to be gained.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>

#include <gsl/gsl_randist.h>

#include "derive.h"
#include "simrecord.h"
#include "tap.h"

#define KERNELS 500

/* The regret of a factor over the best one's, that 95 % must not exceed. */
#define REGRET_MAX 0.03

/*
 * A gain this close to the threshold, in shares of a gain of 1, may be called
 * either: it is what the costs, known to a few percent, cannot tell.
 */
#define NEAR 0.01

static double log_uniform(gsl_rng *rng, double from, double to)
{
	return from * pow(to / from, gsl_rng_uniform(rng));
}

/* Costs from those of a fast CPU to those of a guest; any ceiling in force. */
static struct sim_machine machine_at_random(gsl_rng *rng, unsigned int seed)
{
	struct sim_machine machine = SIM_MACHINE_USUAL;

	machine.a = log_uniform(rng, 400, 3000);
	machine.b = log_uniform(rng, 5, 30);
	machine.c_i = log_uniform(rng, 25, 200);
	machine.c_f = log_uniform(rng, 60, 800);
	machine.r = log_uniform(rng, 1, 25);
	machine.entries = floor(log_uniform(rng, 512, 4096));
	machine.ceiling = floor(log_uniform(rng, 16, 128));
	machine.empties = seed % 10 == 0;
	machine.drift = gsl_ran_flat(rng, -0.2, 0.2);
	machine.placement = 0.05;
	machine.knob = seed % 2;
	machine.seed = seed;
	return machine;
}

/* The true regret of the factor of all that is truly the best. */
static struct regret best_of_all(const struct cost_model *truth,
				 const struct findings *findings)
{
	return choice_make(truth, &findings->grid, findings->entries).regret;
}

struct score {
	unsigned int chosen;	/* of the kernels, those with a choice */
	unsigned int within;	/* ... whose true regret is small enough */
	double worst;		/* true regret */
	unsigned int leave;	/* kernels that are truly to be left alone */
	unsigned int near;	/* ... and those near the threshold */
	unsigned int missed;	/* left alone though there was a gain */
	unsigned int needless;	/* changed though there was none */
	unsigned int wrong_far; /* of these two, not near the threshold */
};

static void judge(const struct cost_model *truth,
		  const struct findings *findings, struct score *score)
{
	const struct choice_grid *grid = &findings->grid;
	struct regret best = best_of_all(truth, findings);
	struct regret chosen =
		choice_regret(truth, grid, findings->choice.pages);
	struct regret now =
		choice_regret(truth, grid, findings->pages_in_force);
	double regret = choice_gain(&chosen, &best, grid->objective);
	double gain = choice_gain(&now, &best, grid->objective);
	bool leave = gain < CHOICE_GAIN_MIN;
	bool said = !(findings->gain.value >= CHOICE_GAIN_MIN);
	bool near = fabs(gain - CHOICE_GAIN_MIN) < NEAR;

	score->chosen++;
	score->within += regret <= REGRET_MAX;
	score->worst = fmax(score->worst, regret);
	score->leave += leave;
	score->near += near;
	score->missed += said && !leave;
	score->needless += !said && leave;
	score->wrong_far += said != leave && !near;
}

static struct score run(enum objective objective, unsigned int kernels)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct score score = { 0 };
	unsigned int seed;

	for (seed = 1; seed <= kernels; seed++) {
		const struct question question = {
			.seed = seed,
			.objective = objective,
			.bootstraps = 1,
		};
		struct sim_machine machine;
		struct findings findings;
		struct cost_model truth;
		struct record record;

		gsl_rng_set(rng, seed);
		machine = machine_at_random(rng, seed);
		sim_record(&machine, rng, &record);
		sim_model_open(&machine, &truth);
		if (derive(&record, &question, &findings) < 0)
			error(1, errno, "derive");
		if (!findings.reason)
			judge(&truth, &findings, &score);
		derive_free(&findings);
		sim_model_close(&truth);
		record_free(&record);
	}
	gsl_rng_free(rng);
	return score;
}

static void test(enum objective objective, unsigned int kernels)
{
	const char *name = objective_name[objective];
	struct score s = run(objective, kernels);

	diag("%s: a choice for %u of %u kernels; true regret within %.0f %% of "
	     "the best factor's for %u (%.1f %%), at worst %.1f %%",
	     name, s.chosen, kernels, 100 * REGRET_MAX, s.within,
	     100.0 * s.within / s.chosen, 100 * s.worst);
	diag("%s: %u are to be left alone, %u are within %.0f %% of the "
	     "threshold; gains missed %u (%.1f %%), needless changes %u (%.1f "
	     "%%), of these not near the threshold %u",
	     name, s.leave, s.near, 100 * NEAR, s.missed,
	     100.0 * s.missed / s.chosen, s.needless,
	     100.0 * s.needless / s.chosen, s.wrong_far);
	ok(s.chosen >= 0.9 * kernels, "%s: a choice for most kernels", name);
	ok(s.within >= 0.95 * s.chosen, "%s: true regret <= 3 %% in 95 %%",
	   name);
	ok(s.leave > kernels / 20 && s.leave < s.chosen - kernels / 20,
	   "%s: some are to be left alone, some are not", name);
	ok(s.missed + s.needless <= 0.05 * s.chosen,
	   "%s: 'leave it alone' is right in 95 %%", name);
	ok(s.wrong_far <= 0.01 * s.chosen,
	   "%s: and wrong near the threshold only", name);
}

int main(void)
{
	test(OBJECTIVE_MINIMAX, KERNELS);
	test(OBJECTIVE_LATENCY, KERNELS / 5);
	test(OBJECTIVE_THROUGHPUT, KERNELS / 5);
	return done();
}
