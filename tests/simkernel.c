/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>

#include "simkernel.h"

static void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (!memory)
		fail("simkernel");
	return memory;
}

static void *grow(void *memory, size_t size)
{
	memory = realloc(memory, size);
	if (!memory)
		fail("simkernel");
	return memory;
}

/* Alternating spells from time 0; even ones are the ordinary state. */
struct spells {
	double *end_s; /* [n] */
	size_t n;
	size_t now; /* the spell that was asked for last */
};

static bool spells_is_odd(struct spells *spells, double s)
{
	while (spells->now + 1 < spells->n && s >= spells->end_s[spells->now])
		spells->now++;
	return spells->now % 2;
}

/* Share of the time until seconds that is in odd spells. */
static double spells_odd_share(const struct spells *spells, double seconds)
{
	double from = 0, odd = 0;
	size_t i;

	for (i = 0; i < spells->n; i++) {
		double to = fmin(spells->end_s[i], seconds);

		if (i % 2)
			odd += fmax(to - from, 0);
		from = to;
	}
	return odd / seconds;
}

static void spells_append(struct spells *spells, double length_s)
{
	double from = spells->n ? spells->end_s[spells->n - 1] : 0;

	spells->end_s =
		grow(spells->end_s, (spells->n + 1) * sizeof(*spells->end_s));
	spells->end_s[spells->n++] = from + length_s;
}

/* Spells of c_i; the run begins somewhere in the first one, of either kind. */
static struct spells regime_spells(const struct sim_noise *noise,
				   double seconds, gsl_rng *rng)
{
	struct spells spells = { 0 };
	double first = gsl_rng_uniform(rng);

	if (noise->regime_c_i == 0 && noise->regime_all == 0) {
		spells_append(&spells, seconds);
		return spells;
	}
	if (gsl_rng_uniform(rng) < 0.5)
		spells_append(&spells, 0);
	do {
		double length = noise->regime_min_s *
				pow(noise->regime_max_s / noise->regime_min_s,
				    gsl_rng_uniform(rng));

		spells_append(&spells, first * length);
		first = 1;
	} while (spells.end_s[spells.n - 1] < seconds);
	return spells;
}

static struct spells burst_spells(const struct sim_noise *noise, double seconds,
				  gsl_rng *rng)
{
	struct spells spells = { 0 };

	if (noise->bursts == 0) {
		spells_append(&spells, seconds);
		return spells;
	}
	do {
		double quiet = noise->burst_s * (1 / noise->bursts - 1);

		spells_append(&spells, gsl_ran_exponential(rng, quiet));
		spells_append(&spells,
			      gsl_ran_exponential(rng, noise->burst_s));
	} while (spells.end_s[spells.n - 1] < seconds);
	return spells;
}

/* The machine at work. */
struct machine {
	const struct sim_kernel *kernel;
	const struct sim_noise *noise;
	double seconds;
	gsl_rng *rng;
	struct spells regimes, bursts;
	double now_s;
	/* of this block */
	double placed_a, placed_c_i; /* times the cost */
};

/* What a reading of something that takes ns would be. */
static double reading(struct machine *m, double ns)
{
	const struct sim_noise *noise = m->noise;

	ns *= 1 + noise->drift_all * (m->now_s / m->seconds - 0.5);
	if (noise->regime_all > 0 && spells_is_odd(&m->regimes, m->now_s))
		ns *= noise->regime_all;
	if (noise->bursts > 0 && spells_is_odd(&m->bursts, m->now_s))
		ns *= noise->burst_factor;
	ns *= 1 + gsl_ran_gaussian_ziggurat(m->rng, noise->sd);
	if (noise->outliers > 0 && gsl_rng_uniform(m->rng) < noise->outliers)
		ns += gsl_ran_flat(m->rng, noise->outlier_min_ns,
				   noise->outlier_max_ns);
	return ns;
}

static double time_operation(struct machine *m, unsigned int n)
{
	const struct sim_kernel *k = m->kernel;
	const struct sim_noise *noise = m->noise;
	double ns = k->a * m->placed_a + k->b * n;

	ns -= k->curve * k->b * n * n / 512;
	ns -= k->start_ns * exp((1. - n) / 3);
	ns += k->line_ns * ((n - 1) / 8 + 1 - n / 8.0);
	if (n > k->ceiling) {
		ns += k->c_f;
	} else {
		double c_i = k->c_i;

		if (noise->regime_c_i > 0 &&
		    spells_is_odd(&m->regimes, m->now_s))
			c_i = noise->regime_c_i;
		c_i *= 1 + noise->drift_c_i * (m->now_s / m->seconds - 0.5);
		ns += n * c_i * m->placed_c_i;
	}
	return reading(m, ns);
}

/* One block of operations: every size once a round, in random order. */
static void measure_operations(struct machine *m, const struct sim_plan *plan,
			       unsigned int block, struct sim_run *out)
{
	const double start_s = m->seconds * block / plan->blocks;
	const double step_s = m->seconds / plan->blocks / plan->samples /
			      (double)plan->n_sizes;
	double *ns = allocate(plan->n_sizes * plan->samples, sizeof(*ns));
	unsigned int *order = allocate(plan->n_sizes, sizeof(*order));
	unsigned int sample;
	size_t i;

	for (i = 0; i < plan->n_sizes; i++)
		order[i] = (unsigned int)i;
	m->now_s = start_s;
	for (sample = 0; sample < plan->samples; sample++) {
		gsl_ran_shuffle(m->rng, order, plan->n_sizes, sizeof(*order));
		for (i = 0; i < plan->n_sizes; i++) {
			ns[order[i] * plan->samples + sample] =
				time_operation(m, plan->sizes[order[i]]);
			m->now_s += step_s;
		}
	}
	for (i = 0; i < plan->n_sizes; i++)
		out->op[out->n_op++] = (struct op_point){
			.block = block,
			.n = plan->sizes[i],
			.count = plan->samples,
			.ns = estimate_typical(ns + i * plan->samples,
					       plan->samples),
		};
	free(order);
	free(ns);
}

/* One block of passes over the working set. */
static void measure_passes(struct machine *m, const struct sim_plan *plan,
			   unsigned int block, struct sim_run *out)
{
	const struct sim_kernel *k = m->kernel;
	const double start_s = m->seconds * block / plan->blocks;
	const double warm = plan->w * k->warm_ns, cold = warm + plan->w * k->r;
	double *ns = allocate(4 * plan->pairs, sizeof(*ns));
	double *page = ns + plan->pairs, *full = page + plan->pairs;
	double *step = full + plan->pairs;
	unsigned int i;

	for (i = 0; i < plan->pairs; i++) {
		m->now_s = start_s +
			   m->seconds / plan->blocks * (i + 0.5) / plan->pairs;
		ns[i] = reading(m, warm);
		page[i] = reading(m, k->empties ? cold : warm);
		full[i] = reading(m, cold);
		step[i] = full[i] - page[i];
	}
	out->refill[out->n_refill++] = (struct refill_point){
		.block = block,
		.pattern = PATTERN_CHASE,
		.w = plan->w,
		.count = plan->pairs,
		.warm_ns = estimate_typical(ns, plan->pairs),
		.page_ns = estimate_typical(page, plan->pairs),
		.full_ns = estimate_typical(full, plan->pairs),
		.step_ns = estimate_typical(step, plan->pairs),
	};
	free(ns);
}

void sim_measure(const struct sim_kernel *kernel, const struct sim_noise *noise,
		 const struct sim_plan *plan, gsl_rng *rng, struct sim_run *out)
{
	struct machine m = {
		.kernel = kernel,
		.noise = noise,
		.seconds = plan->seconds,
		.rng = rng,
		.regimes = regime_spells(noise, plan->seconds, rng),
		.bursts = burst_spells(noise, plan->seconds, rng),
	};
	const double odd = spells_odd_share(&m.regimes, plan->seconds);
	const double slow = noise->regime_all > 0 ? noise->regime_all : 1;
	const double odd_c_i = noise->regime_c_i > 0 ? noise->regime_c_i :
						       kernel->c_i;
	const double all = 1 - odd + odd * slow; /* average of the factor */
	unsigned int block;

	*out = (struct sim_run){
		.op = allocate(plan->blocks * plan->n_sizes, sizeof(*out->op)),
		.refill = allocate(plan->blocks, sizeof(*out->refill)),
		.truth = { .a = all * kernel->a,
			   .b = all * kernel->b,
			   .c_i = (1 - odd) * kernel->c_i +
				  odd * slow * odd_c_i,
			   .c_f = all * kernel->c_f },
		.step_ns = kernel->empties ? 0 : all * plan->w * kernel->r,
		.odd_share = odd,
	};
	out->pages = (out->truth.c_f + out->step_ns) / out->truth.c_i;

	for (block = 0; block < plan->blocks; block++) {
		struct spells bursts = m.bursts, regimes = m.regimes;

		m.placed_a =
			1 + gsl_ran_gaussian_ziggurat(rng, noise->placement_a);
		m.placed_c_i = 1 + gsl_ran_gaussian_ziggurat(
					   rng, noise->placement_c_i);
		if (plan->n_sizes)
			measure_operations(&m, plan, block, out);
		if (plan->w) {
			/* the same time again: they are interleaved */
			m.bursts = bursts;
			m.regimes = regimes;
			measure_passes(&m, plan, block, out);
		}
	}
	free(m.regimes.end_s);
	free(m.bursts.end_s);
}

void sim_free(struct sim_run *run)
{
	free(run->op);
	free(run->refill);
}

static int ascending(const void *left, const void *right)
{
	const unsigned int *l = left, *r = right;

	return (*l > *r) - (*l < *r);
}

/* Sort x[n] and drop what is there twice. Returns how many are left. */
static size_t distinct(unsigned int *x, size_t n)
{
	size_t i, kept = 0;

	qsort(x, n, sizeof(*x), ascending);
	for (i = 0; i < n; i++)
		if (kept == 0 || x[kept - 1] != x[i])
			x[kept++] = x[i];
	return kept;
}

#define SIZE_MAX_PAGES 512

/* count sizes from 1 to 512, evenly spaced in their logarithm, into x. */
static size_t log_spaced(unsigned int *x, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		x[i] = (unsigned int)lround(
			pow(SIZE_MAX_PAGES, (double)i / (double)(count - 1)));
	return distinct(x, count);
}

unsigned int *sim_sizes(unsigned int ceiling, size_t *n)
{
	const size_t spaced = 30;
	const unsigned int around = 9;
	unsigned int *x = allocate(spaced + 2 * around + 2, sizeof(*x));
	unsigned int near;

	*n = log_spaced(x, spaced);
	for (near = ceiling > around ? ceiling - around : 1;
	     near <= ceiling + around + 1 && near <= SIZE_MAX_PAGES; near++)
		x[(*n)++] = near;
	*n = distinct(x, *n);
	return x;
}

#define SEARCH_LOG 19
#define SEARCH_DENSE 24
#define SEARCH_STEPS 8

/* SEARCH_DENSE sizes or less from below to above, and log-spaced ones. */
static size_t search_sizes(unsigned int *x, unsigned int below,
			   unsigned int above)
{
	size_t i, count = log_spaced(x, SEARCH_LOG);

	for (i = 0; i <= SEARCH_DENSE + 1; i++)
		x[count++] = below + (unsigned int)(i * (above - below) /
						    (SEARCH_DENSE + 1));
	return distinct(x, count);
}

void sim_search(const struct sim_kernel *kernel, const struct sim_noise *noise,
		unsigned int samples, const struct reaccess *reaccess,
		gsl_rng *rng, struct step *out)
{
	unsigned int sizes[SEARCH_LOG + SEARCH_DENSE + 2];
	struct sim_plan plan = {
		.seconds = 0.05,
		.blocks = 5,
		.samples = samples,
		.sizes = sizes,
		.n_sizes = log_spaced(sizes, SEARCH_LOG),
	};
	struct sim_run run;
	int i;

	for (i = 0; i < SEARCH_STEPS; i++) {
		sim_measure(kernel, noise, &plan, rng, &run);
		if (estimate_step(run.op, run.n_op, reaccess, out) < 0)
			fail("estimate_step");
		sim_free(&run);
		if (out->kind != STEP_FOUND || out->above == out->below + 1)
			break;
		plan.n_sizes = search_sizes(sizes, out->below, out->above);
	}
}

struct reaccess sim_reaccess(const struct sim_kernel *kernel, gsl_rng *rng)
{
	const double warm = 256 * kernel->warm_ns;
	const double cold = warm + 256 * kernel->r;
	const double noise = 0.01 * warm;
	bool small_cold = kernel->ceiling == 0 || kernel->empties;
	bool large_cold = kernel->ceiling < SIZE_MAX_PAGES || kernel->empties;

	return (struct reaccess){
		.warm_ns = warm + gsl_ran_gaussian(rng, noise),
		.small_ns = (small_cold ? cold : warm) +
			    gsl_ran_gaussian(rng, noise),
		.large_ns = (large_cold ? cold : warm) +
			    gsl_ran_gaussian(rng, noise),
		.noise_ns = noise,
	};
}
