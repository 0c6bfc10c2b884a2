/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate: the costs of simulated kernels lie in their intervals as often as
 * 95 % intervals promise, whatever the noise; the ceiling in force is found
 * wherever it is, and not found where there is none.
 *
 * Takes half a minute: the coverage of each scenario is over 1000 runs. All
 * seeds are fixed.
 */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>

#include "simkernel.h"
#include "tap.h"

/* Two machines: INVLPG cheap and the refill dear; INVLPG empties the TLB. */
static const struct sim_kernel sparing = {
	.a = 1000,
	.b = 15,
	.c_i = 40,
	.c_f = 215,
	.ceiling = 33,
	.r = 10.5,
	.warm_ns = 5,
};
static const struct sim_kernel emptying = {
	.a = 1230,
	.b = 17,
	.c_i = 103,
	.c_f = 20,
	.ceiling = 33,
	.r = 5,
	.warm_ns = 5,
	.empties = true,
};

/* Of a single operation, on a quiet machine. */
#define NOISE 0.025
#define OUTLIERS                                                               \
	.outliers = 0.02, .outlier_min_ns = 5000, .outlier_max_ns = 50000
#define BURSTS .bursts = 0.08, .burst_factor = 1.5, .burst_s = 0.02
#define REGIMES .regime_c_i = 55, .regime_min_s = 0.3, .regime_max_s = 15

static const struct sim_noise ordinary = { .sd = NOISE, OUTLIERS };

static gsl_rng *rng_new(unsigned long seed)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);

	gsl_rng_set(rng, seed);
	return rng;
}

/* What every fit of a run is given: the step as it is. */
static struct step known_step(unsigned int ceiling)
{
	return (struct step){ .kind = STEP_FOUND,
			      .ceiling = ceiling,
			      .below = ceiling,
			      .above = ceiling + 1 };
}

/* coverage ------------------------------------------------------------- */

#define CASES 1000
#define BLOCKS 24
#define SAMPLES 21
#define WORKING_SET 256

enum quantity { A, B, C_I, C_F, PAGES, QUANTITIES };

static const char *const quantity_name[QUANTITIES] = { "a", "b", "c_i", "c_f",
						       "n*" };

enum kind { STATIONARY, DRIFT, UNSTEADY };

struct scenario {
	const char *name;
	enum kind kind;
	const struct sim_kernel *kernel;
	struct sim_noise noise;
};

static const struct scenario scenarios[] = {
	{ "normal noise", STATIONARY, &sparing, { .sd = NOISE } },
	{ "INVLPG empties the TLB", STATIONARY, &emptying, { .sd = NOISE } },
	{ "outliers", STATIONARY, &sparing, { .sd = NOISE, OUTLIERS } },
	{ "bursts", STATIONARY, &sparing, { .sd = NOISE, BURSTS } },
	{ "placement",
	  STATIONARY,
	  &sparing,
	  { .sd = NOISE, .placement_a = 0.02, .placement_c_i = 0.02 } },
	{ "drift of c_i", DRIFT, &sparing, { .sd = NOISE, .drift_c_i = 0.2 } },
	{ "drift of all", DRIFT, &sparing, { .sd = NOISE, .drift_all = 0.1 } },
	{ "regimes of c_i", UNSTEADY, &sparing, { .sd = NOISE, REGIMES } },
	{ "regimes of all",
	  UNSTEADY,
	  &sparing,
	  { .sd = NOISE,
	    .regime_all = 1.2,
	    .regime_min_s = 0.3,
	    .regime_max_s = 15 } },
	{ "everything",
	  UNSTEADY,
	  &sparing,
	  { .sd = NOISE,
	    OUTLIERS,
	    BURSTS,
	    REGIMES,
	    .drift_all = 0.1,
	    .placement_a = 0.02,
	    .placement_c_i = 0.02 } },
};

/* What came of all cases of a scenario. */
struct tally {
	double covered[QUANTITIES]; /* share of the cases */
	double width[QUANTITIES];   /* median */
	double unknown;		    /* intervals */
	double regimes;		    /* share of the cases where found */
	double mixed;		    /* cases with a fair share of each regime */
	double mixed_found;	    /* ... where two were found */
	double wrong_levels;	    /* ... and a level is off by a tenth */
};

static bool is_near(double got, double want)
{
	return fabs(got - want) <= 0.1 * want;
}

static void tally_regimes(struct tally *tally, const struct scenario *scenario,
			  const struct sim_run *run, const struct fit *fit)
{
	const struct regimes *regimes = &fit->regimes;

	tally->regimes += regimes->found / (double)CASES;
	if (scenario->noise.regime_c_i == 0 || run->odd_share < 0.2 ||
	    run->odd_share > 0.8)
		return;
	tally->mixed++;
	tally->mixed_found += regimes->found;
	if (regimes->found)
		tally->wrong_levels +=
			!is_near(regimes->low, scenario->kernel->c_i) ||
			!is_near(regimes->high, scenario->noise.regime_c_i) ||
			fabs(regimes->high_share - run->odd_share) > 0.1;
}

/* One run; its intervals' widths go to width[][at]. */
static void run_case(const struct scenario *scenario, gsl_rng *rng,
		     struct tally *tally, double width[][CASES], int at)
{
	const unsigned int ceiling = scenario->kernel->ceiling;
	const struct step step = known_step(ceiling);
	size_t n_sizes;
	unsigned int *sizes = sim_sizes(ceiling, &n_sizes);
	const struct sim_plan plan = {
		.seconds = 7,
		.blocks = BLOCKS,
		.samples = SAMPLES,
		.n_sizes = n_sizes,
		.sizes = sizes,
		.w = WORKING_SET,
		.pairs = SAMPLES,
	};
	struct sim_run run;
	struct refill refill;
	struct fit fit;
	int q;

	sim_measure(scenario->kernel, &scenario->noise, &plan, rng, &run);
	if (estimate_fit(run.op, run.n_op, &step, &fit) < 0 ||
	    estimate_refill(&fit, run.refill, run.n_refill, PATTERN_CHASE,
			    WORKING_SET, &refill) < 0) {
		ok(false, "case %d of %s fits", at, scenario->name);
		return;
	}
	const struct estimate got[] = { fit.a, fit.b, fit.c_i, fit.c_f,
					refill.pages };
	const double truth[] = { run.truth.a, run.truth.b, run.truth.c_i,
				 run.truth.c_f, run.pages };

	for (q = 0; q < QUANTITIES; q++) {
		const struct interval *ci95 = &got[q].ci95;

		tally->covered[q] +=
			(ci95->lo <= truth[q] && truth[q] <= ci95->hi) /
			(double)CASES;
		tally->unknown += !isfinite(ci95->hi - ci95->lo);
		width[q][at] = ci95->hi - ci95->lo;
	}
	tally_regimes(tally, scenario, &run, &fit);
	estimate_refill_free(&refill);
	estimate_fit_free(&fit);
	sim_free(&run);
	free(sizes);
}

static void run_cases(const struct scenario *scenario, struct tally *tally)
{
	double(*width)[CASES] = calloc(QUANTITIES, sizeof(*width));
	gsl_rng *rng = rng_new((unsigned long)(scenario - scenarios) + 1);
	int i, q;

	*tally = (struct tally){ 0 };
	for (i = 0; i < CASES; i++)
		run_case(scenario, rng, tally, width, i);
	for (q = 0; q < QUANTITIES; q++)
		tally->width[q] = stats_median(width[q], CASES);
	gsl_rng_free(rng);
	free(width);
}

static void check_tally(const struct scenario *scenario,
			const struct tally *tally, const struct tally *normal)
{
	int q;

	for (q = 0; q < QUANTITIES; q++) {
		const char *what = quantity_name[q];

		diag("%s: %s: %.1f %% covered, median width %.3g",
		     scenario->name, what, 100 * tally->covered[q],
		     tally->width[q]);
		ok(tally->covered[q] >= 0.93, "%s: the interval of %s covers",
		   scenario->name, what);
		if (scenario->kind == STATIONARY)
			ok(tally->covered[q] <= 0.98,
			   "%s: ... and is no wider than it must be",
			   scenario->name);
		if (scenario->kind == DRIFT)
			ok(tally->width[q] <= 1.5 * normal->width[q],
			   "%s: ... and is hardly wider than without drift",
			   scenario->name);
	}
	is_double(tally->unknown, 0, 0, "%s: nothing is unknown",
		  scenario->name);
	diag("%s: regimes in %.1f %% of the runs", scenario->name,
	     100 * tally->regimes);
	if (scenario->kind == DRIFT ||
	    (scenario->kind == STATIONARY && scenario->noise.bursts == 0))
		ok(tally->regimes <= 0.01, "%s: no regimes are seen",
		   scenario->name);
	if (scenario->noise.regime_c_i > 0 && scenario->noise.bursts == 0) {
		ok(tally->mixed_found >= 0.95 * tally->mixed,
		   "%s: found in %g of %g runs", scenario->name,
		   tally->mixed_found, tally->mixed);
		ok(tally->wrong_levels <= 0.02 * tally->mixed,
		   "%s: ... with the right levels and share, but %g",
		   scenario->name, tally->wrong_levels);
	}
}

static void test_coverage(void)
{
	struct tally tally, normal = { 0 };
	size_t i;

	for (i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		run_cases(&scenarios[i], &tally);
		if (i == 0)
			normal = tally;
		check_tally(&scenarios[i], &tally, &normal);
	}
}

/* the ceiling ---------------------------------------------------------- */

static bool is_step(const struct step *step, unsigned int ceiling)
{
	return step->kind == STEP_FOUND && step->ceiling == ceiling &&
	       step->below == ceiling && step->above == ceiling + 1;
}

/* Search every ceiling of a kernel; returns how many are not found exactly. */
static int search_all(const struct sim_kernel *of,
		      const struct sim_noise *noise, gsl_rng *rng)
{
	struct sim_kernel kernel = *of;
	struct reaccess reaccess;
	struct step step;
	int bad = 0;

	for (kernel.ceiling = 1; kernel.ceiling < 512; kernel.ceiling++) {
		reaccess = sim_reaccess(&kernel, rng);
		sim_search(&kernel, noise, 100, &reaccess, rng, &step);
		if (is_step(&step, kernel.ceiling))
			continue;
		diag("ceiling %u: kind %d, %u..%u, %g sigma", kernel.ceiling,
		     step.kind, step.below, step.above, step.confidence);
		bad++;
	}
	return bad;
}

static void test_every_ceiling(void)
{
	const struct sim_noise placed = { .sd = NOISE,
					  OUTLIERS,
					  .placement_a = 0.015,
					  .placement_c_i = 0.015 };
	const struct sim_noise hard = { .sd = NOISE,
					OUTLIERS,
					BURSTS,
					.placement_a = 0.01,
					.placement_c_i = 0.01 };
	gsl_rng *rng = rng_new(11);
	int bad;

	is_int(search_all(&sparing, &ordinary, rng), 0,
	       "every ceiling from 1 to 511 is found");
	is_int(search_all(&emptying, &ordinary, rng), 0,
	       "... where INVLPG empties the TLB");
	is_int(search_all(&sparing, &placed, rng), 0,
	       "... and memory that is placed anew each time");
	bad = search_all(&sparing, &hard, rng);
	ok(bad <= 5, "... and in bursts that last for whole blocks, but %d",
	   bad);
	gsl_rng_free(rng);
}

/* Measure around the ceiling as the blocks of a run do, and find the step. */
static void find_dense(const struct sim_kernel *kernel,
		       const struct sim_noise *noise, gsl_rng *rng,
		       struct step *step)
{
	const struct reaccess reaccess = sim_reaccess(kernel, rng);
	size_t n_sizes;
	unsigned int *sizes = sim_sizes(kernel->ceiling, &n_sizes);
	const struct sim_plan plan = {
		.seconds = 7,
		.blocks = 20,
		.samples = 31,
		.n_sizes = n_sizes,
		.sizes = sizes,
	};
	struct sim_run run;

	sim_measure(kernel, noise, &plan, rng, &run);
	if (estimate_step(run.op, run.n_op, &reaccess, step) < 0)
		*step = (struct step){ .kind = STEP_NONE };
	sim_free(&run);
	free(sizes);
}

/* Where c_f is C*c_i the two ways cost the same at C: there is no jump. */
static void test_hidden_ceilings(void)
{
	const struct sim_noise noise = { .sd = NOISE,
					 OUTLIERS,
					 .placement_a = 0.01,
					 .placement_c_i = 0.01,
					 .drift_all = 0.05 };
	struct sim_kernel kernel = sparing;
	gsl_rng *rng = rng_new(12);
	struct step step;
	int bad = 0, far = 0, tall = 0;

	for (kernel.ceiling = 3; kernel.ceiling <= 33; kernel.ceiling++) {
		/* half a page past it: neither side has the point at C */
		kernel.c_f = (kernel.ceiling + 0.5) * kernel.c_i;
		find_dense(&kernel, &noise, rng, &step);
		bad += !is_step(&step, kernel.ceiling);
		tall += fabs(step.height_ns + kernel.c_i / 2) > kernel.c_i / 2;

		/* exactly: C and C - 1 are the same to every cost */
		kernel.c_f = kernel.ceiling * kernel.c_i;
		find_dense(&kernel, &noise, rng, &step);
		far += !is_step(&step, kernel.ceiling) &&
		       !is_step(&step, kernel.ceiling - 1);
	}
	is_int(bad, 0, "a ceiling at the break-even shows as a bend");
	is_int(tall, 0, "... of the right height");
	is_int(far, 0, "... and is not missed where it makes no difference");
	gsl_rng_free(rng);
}

static void test_height(void)
{
	struct sim_kernel kernel = sparing;
	gsl_rng *rng = rng_new(13);
	struct step step;

	find_dense(&kernel, &ordinary, rng, &step);
	is_double(step.height_ns, 33 * 40 - 215, 20, "T drops at 33");
	ok(step.confidence > 50, "... for sure: %g", step.confidence);
	kernel.ceiling = 2;
	find_dense(&kernel, &ordinary, rng, &step);
	is_double(step.height_ns, 2 * 40 - 215, 10, "it rises at 2");
	kernel.ceiling = 1;
	find_dense(&kernel, &ordinary, rng, &step);
	is_double(step.height_ns, 40 - 215, 10, "... and at 1");
	kernel.ceiling = 511;
	find_dense(&kernel, &ordinary, rng, &step);
	is_double(step.height_ns, 511 * 40 - 215, 200, "it drops at 511");
	gsl_rng_free(rng);
}

/* T(n) as it was seen to be: bent at both ends, and in steps of cache lines. */
static void bend(struct sim_kernel *kernel, int i)
{
	kernel->start_ns = i % 2 ? 0.05 * kernel->a : 0;
	kernel->line_ns = i % 3 == 0 ? 15 : 0;
	kernel->curve = i % 3 == 1 ? 0.1 : i % 3 == 2 ? -0.1 : 0;
}

/* CASES searches on a kernel without a step: how many of each kind. */
static void search_none(const struct sim_kernel *of, unsigned int ceiling,
			bool evidence, int count[4])
{
	const struct sim_noise noise = { .sd = NOISE,
					 OUTLIERS,
					 .placement_a = 0.01,
					 .placement_c_i = 0.01 };
	struct sim_kernel kernel = *of;
	gsl_rng *rng = rng_new(14 + ceiling);
	struct reaccess reaccess;
	struct step step;
	int i;

	kernel.ceiling = ceiling;
	memset(count, 0, 4 * sizeof(*count));
	for (i = 0; i < CASES; i++) {
		bend(&kernel, i);
		reaccess = sim_reaccess(&kernel, rng);
		sim_search(&kernel, &noise, 40, evidence ? &reaccess : NULL,
			   rng, &step);
		count[step.kind]++;
	}
	gsl_rng_free(rng);
}

static void test_no_step(void)
{
	const int false_alarms = CASES / 100;
	int count[4];

	search_none(&sparing, 0, true, count);
	ok(count[STEP_FOUND] <= false_alarms, "ceiling 0: no step, but %d",
	   count[STEP_FOUND]);
	is_int(count[STEP_ALL_FULL], CASES - count[STEP_FOUND],
	       "... and it is always full");

	search_none(&sparing, SIM_NO_CEILING, true, count);
	ok(count[STEP_FOUND] <= false_alarms, "no ceiling: no step, but %d",
	   count[STEP_FOUND]);
	is_int(count[STEP_ALL_PAGE], CASES - count[STEP_FOUND],
	       "... and it is never full");

	search_none(&emptying, SIM_NO_CEILING, true, count);
	ok(count[STEP_FOUND] <= false_alarms,
	   "never full where INVLPG empties the TLB: no step, but %d",
	   count[STEP_FOUND]);
	is_int(count[STEP_NONE], CASES - count[STEP_FOUND],
	       "... and it is not mistaken for always full");

	search_none(&sparing, 0, false, count);
	ok(count[STEP_FOUND] <= false_alarms,
	   "no evidence from re-access: no step, but %d", count[STEP_FOUND]);
	is_int(count[STEP_NONE], CASES - count[STEP_FOUND],
	       "... and which it is remains unknown");
}

/* Exact times of a kernel at sizes[n], in one block. */
static void exact_points(const struct sim_kernel *kernel,
			 const unsigned int *sizes, size_t n,
			 struct op_point *points)
{
	size_t i;

	for (i = 0; i < n; i++) {
		double pages = sizes[i];
		double flush = sizes[i] <= kernel->ceiling ?
				       pages * kernel->c_i :
				       kernel->c_f;

		points[i] = (struct op_point){
			.n = sizes[i],
			.count = 100,
			.ns = kernel->a + pages * kernel->b + flush,
		};
	}
}

static void test_reaccess(void)
{
	static const unsigned int sizes[] = {
		1, 2, 4, 8, 16, 32, 64, 128, 256
	};
	const size_t n = sizeof(sizes) / sizeof(*sizes);
	const double warm = 500, cold = 1500, noise = 10;
	const struct {
		const char *name;
		struct reaccess reaccess;
		enum step_kind kind;
	} cases[] = {
		{ "cold, cold", { warm, cold, cold, noise }, STEP_ALL_FULL },
		{ "warm, warm", { warm, warm, warm, noise }, STEP_ALL_PAGE },
		{ "a little slower",
		  { warm, 1.1 * warm, 1.1 * warm, noise },
		  STEP_ALL_PAGE },
		{ "warm, cold", { warm, warm, cold, noise }, STEP_NONE },
		{ "cold, warm", { warm, cold, warm, noise }, STEP_NONE },
		{ "noisy", { warm, cold, cold, 300 }, STEP_NONE },
		{ "noisy warm", { warm, warm, warm, 300 }, STEP_NONE },
		{ "unknown warm", { NAN, cold, cold, noise }, STEP_NONE },
		{ "unknown small", { warm, NAN, cold, noise }, STEP_NONE },
		{ "unknown large", { warm, warm, NAN, noise }, STEP_NONE },
		{ "unknown noise", { warm, warm, warm, NAN }, STEP_NONE },
	};
	struct sim_kernel kernel = sparing;
	struct op_point points[sizeof(sizes) / sizeof(*sizes)];
	struct step step;
	size_t i;

	kernel.ceiling = 0;
	exact_points(&kernel, sizes, n, points);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		is_int(estimate_step(points, n, &cases[i].reaccess, &step), 0,
		       "re-access %s", cases[i].name);
		is_int(step.kind, cases[i].kind, "... says what it can");
	}
}

/* What T(n) may do without a step. */
static void test_oddities(void)
{
	static const unsigned int sizes[] = { 1,  2,   3,   4,	 6,   8,
					      11, 16,  23,  32,	 45,  64,
					      91, 128, 181, 256, 362, 512 };
	const size_t n = sizeof(sizes) / sizeof(*sizes);
	struct op_point points[sizeof(sizes) / sizeof(*sizes)];
	struct sim_kernel kernel = sparing;
	struct step step;
	size_t i;

	kernel.ceiling = 0;
	exact_points(&kernel, sizes, n, points);
	for (i = 0; i < n; i++)
		points[i].count = 10000;
	points[0].ns *= 0.96;
	estimate_step(points, n, NULL, &step);
	is_int(step.kind, STEP_NONE, "the first page may be cheaper");
	points[0].ns /= 0.96;
	points[n - 1].ns *= 0.9;
	estimate_step(points, n, NULL, &step);
	is_int(step.kind, STEP_NONE, "the last size may be off");

	exact_points(&kernel, sizes, n, points);
	for (i = 0; i < n; i++)
		if (sizes[i] > 64)
			points[i].ns -= 0.25 * kernel.b * (sizes[i] - 64);
	estimate_step(points, n, NULL, &step);
	is_int(step.kind, STEP_NONE, "a bend by a quarter is no ceiling");
	exact_points(&kernel, sizes, n, points);
	for (i = 0; i < n; i++)
		if (sizes[i] > 64)
			points[i].ns += kernel.b * (sizes[i] - 64);
	estimate_step(points, n, NULL, &step);
	is_int(step.kind, STEP_NONE, "nor is a bend upwards");
}

static void test_sparse(void)
{
	static const unsigned int sizes[] = { 1,  2,   3,   4,	 6,   8,
					      11, 16,  23,  32,	 45,  64,
					      91, 128, 181, 256, 362, 512 };
	const size_t n = sizeof(sizes) / sizeof(*sizes);
	struct op_point points[sizeof(sizes) / sizeof(*sizes)], swap;
	struct sim_kernel kernel = sparing;
	struct step step, again;
	size_t i;
	int bad = 0;

	for (kernel.ceiling = 1; kernel.ceiling < 512; kernel.ceiling++) {
		exact_points(&kernel, sizes, n, points);
		estimate_step(points, n, NULL, &step);
		if (step.kind != STEP_FOUND || step.ceiling != step.below ||
		    step.below > kernel.ceiling || step.above <= kernel.ceiling)
			bad++;
	}
	is_int(bad, 0, "sparse sizes bracket every ceiling");

	kernel.ceiling = 33;
	exact_points(&kernel, sizes, n, points);
	estimate_step(points, n, NULL, &step);
	is_int(step.below, 32, "the largest size up to it");
	is_int(step.above, 45, "the smallest above it");
	for (i = 0; i < n / 2; i++) {
		swap = points[i];
		points[i] = points[n - 1 - i];
		points[n - 1 - i] = swap;
	}
	estimate_step(points, n, NULL, &again);
	is_double(again.height_ns, step.height_ns, 1e-6,
		  "the order of the points does not matter");
	is_int(again.below, 32, "... to where it is either");

	points[0].ns = NAN;
	points[1].count = 0;
	points[2].ns = 0;
	points[3].n = 0;
	is_int(estimate_step(points, n, NULL, &again), 0,
	       "unknown points are left out");
	is_int(again.below, 32, "... and change nothing");
	errno = 0;
	is_int(estimate_step(points, 11, NULL, &step), -1,
	       "seven sizes are too few");
	is_int(errno, EINVAL, "... which is EINVAL");
	is_int(step.kind, STEP_NONE, "... and no step");
	is_int(estimate_step(points, 12, NULL, &step), 0, "eight are enough");
	is_int(estimate_step(NULL, 0, NULL, &step), -1, "no point at all");
}

/* fit and refill ------------------------------------------------------- */

/* A run without any noise, 6 blocks, w = 256; to be freed. */
static void exact_run(const struct sim_kernel *kernel, struct sim_run *run)
{
	const struct sim_noise none = { 0 };
	gsl_rng *rng = rng_new(1);
	size_t n_sizes;
	unsigned int *sizes = sim_sizes(kernel->ceiling, &n_sizes);
	const struct sim_plan plan = {
		.seconds = 1,
		.blocks = 6,
		.samples = 5,
		.n_sizes = n_sizes,
		.sizes = sizes,
		.w = WORKING_SET,
		.pairs = 5,
	};

	sim_measure(kernel, &none, &plan, rng, run);
	gsl_rng_free(rng);
	free(sizes);
}

static void is_estimate(const struct estimate *got, double want,
			const char *what)
{
	is_double(got->value, want, 1e-6 * (fabs(want) + 1), "%s", what);
	is_double(got->ci95.hi - got->ci95.lo, 0, 1e-3, "... exactly");
}

static bool is_unknown(const struct estimate *estimate)
{
	return isnan(estimate->value) && isnan(estimate->ci95.lo) &&
	       isnan(estimate->ci95.hi);
}

static void test_exact(void)
{
	const struct step step = known_step(33);
	struct refill refill;
	struct sim_run run;
	struct fit fit;
	size_t i;

	exact_run(&sparing, &run);
	is_int(estimate_fit(run.op, run.n_op, &step, &fit), 0,
	       "times without noise");
	is_estimate(&fit.a, 1000, "a");
	is_estimate(&fit.b, 15, "b");
	is_estimate(&fit.c_i, 40, "c_i");
	is_estimate(&fit.c_f, 215, "c_f");
	is_double(fit.drift, 0, 1e-6, "no drift");
	ok(!fit.regimes.found && isnan(fit.regimes.low), "no regimes");
	is_int(fit.n_blocks, 6, "as many blocks as there were");
	for (i = 0; i < fit.n_blocks; i++)
		is_int(fit.blocks[i].block, i, "... in order");
	is_int(fit.step.ceiling, 33, "the step is kept");

	is_int(estimate_refill(&fit, run.refill, run.n_refill, PATTERN_CHASE,
			       WORKING_SET, &refill),
	       0, "... of the refill");
	is_estimate(&refill.warm, 5, "warm");
	is_estimate(&refill.refill, 10.5, "refill");
	is_estimate(&refill.step, 10.5, "step");
	is_estimate(&refill.pages, (215 + 256 * 10.5) / 40, "n*");
	is_int(refill.n_blocks, 6, "a step for each block");
	is_double(refill.block_step_ns[5], 256 * 10.5, 1e-6, "... in ns");
	estimate_refill_free(&refill);

	/* blocks without a point, or without a use */
	run.refill[1].block = 77;
	run.refill[2].step_ns = NAN;
	run.refill[3].count = 0;
	estimate_refill(&fit, run.refill, run.n_refill, PATTERN_CHASE,
			WORKING_SET, &refill);
	ok(isnan(refill.block_step_ns[1]) && isnan(refill.block_step_ns[2]) &&
		   isnan(refill.block_step_ns[3]),
	   "blocks without a point are unknown");
	is_estimate(&refill.pages, (215 + 256 * 10.5) / 40,
		    "... and left out of n*");
	estimate_refill_free(&refill);
	run.refill[4].count = 0;
	estimate_refill(&fit, run.refill, run.n_refill, PATTERN_CHASE,
			WORKING_SET, &refill);
	ok(is_unknown(&refill.pages) && is_unknown(&refill.step),
	   "two blocks are too few");
	estimate_refill_free(&refill);

	errno = 0;
	is_int(estimate_refill(&fit, run.refill, run.n_refill, PATTERN_SEQ,
			       WORKING_SET, &refill),
	       -1, "a pattern that was not measured");
	is_int(errno, EINVAL, "... is EINVAL");
	is_int(estimate_refill(&fit, run.refill, run.n_refill, PATTERN_CHASE,
			       16, &refill),
	       -1, "and a working set");
	estimate_fit_free(&fit);
	sim_free(&run);
}

/* The same as one break-even: (c_f + D)/c_i may be 0 or below. */
static void test_no_gain(void)
{
	const struct step step = known_step(33);
	struct sim_kernel kernel = emptying;
	struct refill refill;
	struct sim_run run;
	struct fit fit;

	exact_run(&kernel, &run);
	estimate_fit(run.op, run.n_op, &step, &fit);
	estimate_refill(&fit, run.refill, run.n_refill, PATTERN_CHASE,
			WORKING_SET, &refill);
	is_estimate(&refill.pages, 20. / 103, "a break-even below one page");
	estimate_refill_free(&refill);
	estimate_fit_free(&fit);
	sim_free(&run);

	kernel.c_f = -50;
	exact_run(&kernel, &run);
	estimate_fit(run.op, run.n_op, &step, &fit);
	estimate_refill(&fit, run.refill, run.n_refill, PATTERN_CHASE,
			WORKING_SET, &refill);
	is_estimate(&fit.c_f, -50, "c_f may be negative");
	is_estimate(&refill.pages, -50. / 103, "... and n* with it");
	estimate_refill_free(&refill);
	estimate_fit_free(&fit);
	sim_free(&run);
}

/* n* of blocks whose costs differ: c_i[i], c_f = 0 and D = d[i]. */
static void break_even(const double *c_i, const double *d, size_t n,
		       struct estimate *pages)
{
	struct block_fit *blocks = calloc(n, sizeof(*blocks));
	struct refill_point *points = calloc(n, sizeof(*points));
	const struct fit fit = { .n_blocks = n, .blocks = blocks };
	struct refill refill;
	size_t i;

	for (i = 0; i < n; i++) {
		blocks[i] = (struct block_fit){ .block = (unsigned int)i,
						.c_i = c_i[i] };
		points[i] = (struct refill_point){ .block = (unsigned int)i,
						   .pattern = PATTERN_SEQ,
						   .w = 16,
						   .count = 1,
						   .step_ns = d[i] };
	}
	estimate_refill(&fit, points, n, PATTERN_SEQ, 16, &refill);
	*pages = refill.pages;
	estimate_refill_free(&refill);
	free(points);
	free(blocks);
}

static void test_ratio(void)
{
	double c_i[24], d[24];
	struct estimate pages;
	gsl_rng *rng = rng_new(17);
	size_t i;

	for (i = 0; i < 24; i++) {
		c_i[i] = 40 * (1 + gsl_ran_gaussian(rng, 0.2));
		d[i] = 3 * c_i[i];
	}
	break_even(c_i, d, 24, &pages);
	is_double(pages.value, 3, 1e-9, "costs that vary together");
	is_double(pages.ci95.hi - pages.ci95.lo, 0, 1e-6,
		  "... leave no doubt about their ratio");

	for (i = 0; i < 24; i++)
		d[i] = 120 + gsl_ran_gaussian(rng, 30);
	break_even(c_i, d, 24, &pages);
	ok(pages.ci95.hi - pages.value > pages.value - pages.ci95.lo,
	   "a poor c_i leaves more room upwards");
	for (i = 0; i < 24; i++)
		c_i[i] -= 39;
	break_even(c_i, d, 24, &pages);
	ok(is_unknown(&pages), "a c_i that may be 0 leaves no break-even");

	/* c_i of 30 in the first half, 60 in the second */
	for (i = 0; i < 24; i++) {
		c_i[i] = i < 12 ? 30 : 60;
		d[i] = 90;
	}
	break_even(c_i, d, 24, &pages);
	is_double(pages.value, 2, 1e-9, "a ratio of means, no mean of ratios");
	gsl_rng_free(rng);
}

static void test_undetermined(void)
{
	static const struct {
		unsigned int ceiling;
		bool page, full;
	} cases[] = {
		{ 1, false, true },   { 2, false, true },
		{ 3, false, true },   { 4, true, true },
		{ 508, true, true },  { 509, true, false },
		{ 510, true, false }, { 511, true, false },
	};
	struct sim_kernel kernel = sparing;
	struct refill refill;
	struct sim_run run;
	struct fit fit;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct step step = known_step(cases[i].ceiling);
		const bool both = cases[i].page && cases[i].full;

		kernel.ceiling = cases[i].ceiling;
		exact_run(&kernel, &run);
		is_int(estimate_fit(run.op, run.n_op, &step, &fit), 0,
		       "a fit with a ceiling of %u", kernel.ceiling);
		is_int(!is_unknown(&fit.a), cases[i].page, "a");
		is_int(!is_unknown(&fit.b), cases[i].full, "b");
		is_int(!is_unknown(&fit.c_i), both, "c_i");
		is_int(!is_unknown(&fit.c_f), both, "c_f");
		is_int(isfinite(fit.drift), both, "drift");
		estimate_refill(&fit, run.refill, run.n_refill, PATTERN_CHASE,
				WORKING_SET, &refill);
		is_int(!is_unknown(&refill.pages), both, "n*");
		ok(!is_unknown(&refill.step), "... but what a refill costs");
		estimate_refill_free(&refill);
		estimate_fit_free(&fit);
		sim_free(&run);
	}
}

/* The regimes that are found when the blocks have these c_i. */
static struct regimes regimes_of(const double *c_i, size_t n)
{
	static const unsigned int sizes[] = { 1,  4,  8,  16, 24,
					      33, 34, 45, 64, 128 };
	const size_t n_sizes = sizeof(sizes) / sizeof(*sizes);
	const struct step step = known_step(33);
	struct op_point *points = calloc(n * n_sizes, sizeof(*points));
	struct sim_kernel kernel = sparing;
	struct regimes regimes;
	struct fit fit;
	size_t i, j;

	for (i = 0; i < n; i++) {
		kernel.c_i = c_i[i];
		exact_points(&kernel, sizes, n_sizes, points + i * n_sizes);
		for (j = 0; j < n_sizes; j++)
			points[i * n_sizes + j].block = (unsigned int)i;
	}
	estimate_fit(points, n * n_sizes, &step, &fit);
	regimes = fit.regimes;
	estimate_fit_free(&fit);
	free(points);
	return regimes;
}

static void test_regimes(void)
{
	double c_i[24];
	struct regimes regimes;
	size_t i;

	for (i = 0; i < 24; i++)
		c_i[i] = (i % 2 ? 40 : 40.2) + (i < 6 ? 15 : 0);
	regimes = regimes_of(c_i, 24);
	ok(regimes.found, "two levels, once each");
	is_double(regimes.low, 40.1, 0.2, "... the lower");
	is_double(regimes.high, 55.1, 0.2, "... the higher");
	is_double(regimes.high_share, 0.25, 0.02, "... and its share");
	c_i[6] = 49; /* switched in the middle of a block */
	regimes = regimes_of(c_i, 24);
	ok(regimes.found, "a switch within a block");
	is_double(regimes.high_share, 0.275, 0.02, "... has a share in it");

	for (i = 0; i < 24; i++)
		c_i[i] = (i % 2 ? 40 : 40.2) + (i == 9 ? 15 : 0);
	ok(!regimes_of(c_i, 24).found, "a single block is no regime");
	c_i[10] = 55;
	ok(regimes_of(c_i, 24).found, "... two are");
	for (i = 0; i < 24; i++)
		c_i[i] = (i % 2 ? 40 : 40.01) + (i < 12 ? 1.5 : 0);
	ok(!regimes_of(c_i, 24).found, "levels 4 %% apart do not matter");
	for (i = 0; i < 24; i++)
		c_i[i] = (i % 2 ? 40 : 40.1) + 20 * (double)i / 24;
	ok(!regimes_of(c_i, 24).found, "a steady drift has no levels");
	for (i = 0; i < 24; i++)
		c_i[i] = 40 + 10 * exp(-(double)i / 2.4);
	ok(!regimes_of(c_i, 24).found, "nor has a machine that warms up");
	for (i = 0; i < 24; i++)
		c_i[i] = i < 3 ? 40 : 55;
	ok(!regimes_of(c_i, 6).found, "six blocks are too few to tell");
}

static void test_refusals(void)
{
	struct step step = known_step(33);
	struct sim_run run;
	struct fit fit;
	size_t i;

	exact_run(&sparing, &run);
	for (i = 0; i < run.n_op; i++)
		run.op[i].block %= 2;
	errno = 0;
	is_int(estimate_fit(run.op, run.n_op, &step, &fit), -1,
	       "two blocks are too few");
	is_int(errno, EINVAL, "... which is EINVAL");
	ok(!fit.blocks && fit.n_blocks == 0, "... and leaves nothing");
	is_int(estimate_fit(NULL, 0, &step, &fit), -1, "no point at all");
	for (i = 0; i < run.n_op; i++)
		run.op[i].block = UINT_MAX - (unsigned int)(i % 3);
	is_int(estimate_fit(run.op, run.n_op, &step, &fit), 0,
	       "the numbers of blocks may be anything");
	is_int(fit.n_blocks, 3, "... and be few");
	estimate_fit_free(&fit);
	estimate_fit_free(&fit); /* twice does no harm */
	step.kind = STEP_ALL_FULL;
	errno = 0;
	is_int(estimate_fit(run.op, run.n_op, &step, &fit), -1, "no step");
	is_int(errno, EINVAL, "... is EINVAL");
	sim_free(&run);
}

/* A point that is far off in one block, as no noise makes it. */
static void test_robust(void)
{
	const struct step step = known_step(33);
	struct sim_run run;
	struct fit fit;
	size_t i;

	exact_run(&sparing, &run);
	for (i = 0; i < run.n_op; i++) {
		run.op[i].ns *= 1 + 1e-4 * (double)(i % 7);
		if (run.op[i].n == 33 || run.op[i].n == 43)
			run.op[i].ns *= 3;
	}
	estimate_fit(run.op, run.n_op, &step, &fit);
	is_double(fit.a.value, 1000, 2, "a bad point on either side: a");
	is_double(fit.b.value, 15, 0.03, "b");
	is_double(fit.c_i.value, 40, 0.1, "c_i");
	is_double(fit.c_f.value, 215, 2, "c_f");
	estimate_fit_free(&fit);
	sim_free(&run);
}

static void handler(const char *reason, const char *file, int line, int code)
{
	diag("%s:%d: %s (%d)", file, line, reason, code);
	abort();
}

static void test_gsl_handler(void)
{
	gsl_error_handler_t *before = gsl_set_error_handler(handler);
	const struct step step = known_step(33);
	struct refill refill;
	struct step found;
	struct sim_run run;
	struct fit fit;

	exact_run(&sparing, &run);
	estimate_step(run.op, run.n_op, NULL, &found);
	ok(gsl_set_error_handler(handler) == handler,
	   "estimate_step restores GSL's error handler");
	estimate_fit(run.op, run.n_op, &step, &fit);
	ok(gsl_set_error_handler(handler) == handler, "so does estimate_fit");
	estimate_refill(&fit, run.refill, run.n_refill, PATTERN_CHASE,
			WORKING_SET, &refill);
	ok(gsl_set_error_handler(handler) == handler, "and estimate_refill");
	estimate_refill_free(&refill);
	estimate_fit_free(&fit);
	sim_free(&run);
	gsl_set_error_handler(before);
}

static void test_page_flush_empties(void)
{
	const struct sim_kernel *kernels[] = { &sparing, &emptying };
	const struct sim_plan plan = {
		.seconds = 7, .blocks = 20, .samples = 0, .w = 16, .pairs = 21
	};
	struct refill_point little[] = {
		{ .warm_ns = 100, .page_ns = 102, .full_ns = 102 },
		{ .warm_ns = 100, .page_ns = 102, .full_ns = 102 },
		{ .warm_ns = 100, .page_ns = 102, .full_ns = 102 },
		{ .warm_ns = NAN, .page_ns = 102, .full_ns = 102 },
	};
	struct sim_kernel no_tlb = sparing;
	gsl_rng *rng = rng_new(15);
	struct sim_run run;
	size_t i;
	int kind, got[3] = { 0 };

	no_tlb.r = 0; /* no flush is seen in the pass after it */
	for (i = 0; i < 100; i++)
		for (kind = 0; kind < 3; kind++) {
			sim_measure(kind < 2 ? kernels[kind] : &no_tlb,
				    &ordinary, &plan, rng, &run);
			got[kind] += estimate_page_flush_empties_tlb(
				run.refill, run.n_refill);
			sim_free(&run);
		}
	is_int(got[0], 0, "INVLPG that spares the TLB is told from");
	is_int(got[1], 100, "... one that empties it");
	is_int(got[2], 0, "... and from no evidence");
	ok(!estimate_page_flush_empties_tlb(NULL, 0), "... or no points");
	ok(!estimate_page_flush_empties_tlb(little, 4),
	   "2 %% of a pass are no evidence");
	little[0].warm_ns = little[1].warm_ns = 80;
	little[2].warm_ns = 80;
	ok(estimate_page_flush_empties_tlb(little, 4), "27 %% are");
	little[0].page_ns = little[1].page_ns = little[2].page_ns = 94;
	ok(!estimate_page_flush_empties_tlb(little, 4),
	   "... if three quarters of it are the page flush's");
	gsl_rng_free(rng);
}

static void test_typical(void)
{
	const double one[] = { 7 }, same[] = { 5, 5, 5, 5, 9 };
	double x[200], before[200];
	gsl_rng *rng = rng_new(16);
	double sum = 0;
	size_t i;

	ok(isnan(estimate_typical(one, 0)), "nothing is typical of nothing");
	is_double(estimate_typical(one, 1), 7, 0, "one sample");
	is_double(estimate_typical(same, 5), 5, 0, "mostly the same");
	for (i = 0; i < 200; i++) {
		x[i] = 100 + gsl_ran_gaussian(rng, 1);
		if (i < 180)
			sum += x[i];
		else
			x[i] = 200 + (double)i;
	}
	memcpy(before, x, sizeof(x));
	is_double(estimate_typical(x, 200), sum / 180, 0.02,
		  "a tenth of outliers leaves the mean of the others");
	ok(!memcmp(x, before, sizeof(x)), "... and the samples as they are");
	for (i = 0; i < 200; i++)
		x[i] = i % 4 ? 110 : 100;
	is_double(estimate_typical(x, 200), 110, 5,
		  "a clock in steps says something in between");
	gsl_rng_free(rng);
}

int main(void)
{
	test_typical();
	test_exact();
	test_no_gain();
	test_ratio();
	test_regimes();
	test_undetermined();
	test_refusals();
	test_robust();
	test_gsl_handler();
	test_page_flush_empties();
	test_reaccess();
	test_oddities();
	test_sparse();
	test_height();
	test_hidden_ceilings();
	test_every_ceiling();
	test_no_step();
	test_coverage();
	return done();
}
