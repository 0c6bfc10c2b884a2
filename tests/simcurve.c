/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "random.h"
#include "simcurve.h"

double draw_uniform(uint64_t *state, double from, double to)
{
	*state = random_stream(*state, 0);
	return from + (to - from) * (double)(*state >> 11) * 0x1p-53;
}

double draw_normal(uint64_t *state)
{
	/* Box and Muller */
	return sqrt(-2 * log(1 - draw_uniform(state, 0, 1))) *
	       cos(2 * M_PI * draw_uniform(state, 0, 1));
}

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

struct misses misses_simulate(const struct geometry *geometry,
			      enum replacement replacement,
			      enum placement placement, unsigned int max,
			      uint64_t seed)
{
	struct misses out;
	size_t i;

	out.w = reach_grid(max, &out.n);
	if (!out.w)
		abort();
	out.l1 = allocate(out.n, sizeof(*out.l1));
	out.last = allocate(out.n, sizeof(*out.last));
	for (i = 0; i < out.n; i++) {
		/* the mean over blocks, where luck matters */
		int times = placement == SCATTERED ?
				    1 + (int)(1000 / out.w[i]) :
				    1,
		    k;

		for (k = 0; k < times; k++) {
			double l1, last;

			chase_misses(geometry, replacement, placement, out.w[i],
				     random_stream(seed, i * 100 + (size_t)k),
				     &l1, &last);
			out.l1[i] += l1 / times;
			out.last[i] += last / times;
		}
	}
	return out;
}

void misses_free(struct misses *misses)
{
	free(misses->w);
	free(misses->l1);
	free(misses->last);
}

struct machine machine_random(uint64_t seed)
{
	uint64_t state = random_stream(seed, 42);
	struct machine machine = {
		.ghz = draw_uniform(&state, 2, 5),
		.hit_next = draw_uniform(&state, 6, 9),
		.walk = draw_uniform(&state, 22, 60),
		.growth = draw_uniform(&state, 0, 0.6),
		.growth_power = draw_uniform(&state, 0.7, 1.5),
		.caches = { 5, draw_uniform(&state, 12, 16),
			    draw_uniform(&state, 35, 60) },
		.lines = { seed % 2 ? 512 : 768, seed % 3 ? 16384 : 32768 },
		.shift = draw_uniform(&state, 0, 0.03),
		.noise = draw_uniform(&state, 0.01, 0.05),
		.outliers = 0.02,
		.blocks = (unsigned int)draw_uniform(&state, 5, 21),
	};

	machine.slow_block = (unsigned int)(seed % (2 * machine.blocks));
	return machine;
}

/* Cycles of a load from the caches when that many lines go round in them. */
static double cache_cycles(const struct machine *machine, double lines)
{
	double cycles = machine->caches[0] + 15 / lines; /* and of a pass */
	int i;

	for (i = 0; i < 2; i++) {
		double over = log(lines / machine->lines[i]) / 0.1;

		/* all of it over 10 % of the size */
		over = over < 0 ? 0 : over > 1 ? 1 : over;
		cycles += over * (machine->caches[i + 1] - machine->caches[i]);
	}
	return cycles;
}

double machine_walk_cycles(const struct machine *machine, double load)
{
	double doublings = load > 0.25 ? log2(load / 0.25) / 2 : 0;
	double factor = 1 + 2 * machine->growth *
				    (pow(doublings, machine->growth_power) - 1);

	/* growth says how much it grows from E to 2 E, about */
	return machine->walk * (factor > 0.3 ? factor : 0.3);
}

/* The share that misses where others hold so much of the last level. */
static double share_beside(const struct misses *misses, size_t i, double taken)
{
	double w = misses->w[i] * (1 + taken);

	while (i + 1 < misses->n && misses->w[i + 1] <= w)
		i++;
	if (i + 1 == misses->n)
		return misses->last[i];
	return misses->last[i] +
	       (w - misses->w[i]) / (misses->w[i + 1] - misses->w[i]) *
		       (misses->last[i + 1] - misses->last[i]);
}

/* What others hold: never less than nothing, and seldom much. */
static double draw_taken(const struct machine *machine, uint64_t *state)
{
	if (machine->taken <= 0)
		return 0;
	return -machine->taken * log(1 - draw_uniform(state, 0, 1));
}

static bool draw_chance(uint64_t *state, double chance)
{
	return chance > 0 && draw_uniform(state, 0, 1) < chance;
}

/* A point, with access and control in cycles, as it comes out. */
static struct reach_point disturb(const struct machine *machine,
				  unsigned int block, unsigned int w,
				  double spread, double dense, uint64_t *state)
{
	double slow = block == machine->slow_block ? 1.3 : 1;

	dense *= slow * (1 + machine->noise * draw_normal(state));
	spread *= slow * (1 + machine->noise * draw_normal(state));
	if (draw_uniform(state, 0, 1) < machine->outliers)
		spread *= draw_uniform(state, 1.2, 2);
	if (draw_uniform(state, 0, 1) < machine->outliers)
		dense *= draw_uniform(state, 1.2, 2);
	return (struct reach_point){
		.block = block,
		.w = w,
		.spread_ns = spread / machine->ghz,
		.dense_ns = dense / machine->ghz,
	};
}

struct reach_point *machine_measure(const struct misses *misses,
				    const struct machine *machine,
				    double last_entries, uint64_t seed,
				    size_t *n)
{
	struct reach_point *points =
		allocate(machine->blocks * misses->n, sizeof(*points));
	uint64_t state = seed;
	unsigned int block;
	size_t i;

	*n = 0;
	for (block = 0; block < machine->blocks; block++) {
		double scale = draw_chance(&state, machine->cheap) ? 2 / 3.0 :
								     1;
		double taken = draw_taken(machine, &state);

		for (i = 0; i < misses->n; i++) {
			double w = misses->w[i];
			double last = share_beside(
				misses, i, taken + draw_taken(machine, &state));
			double walk =
				scale *
				machine_walk_cycles(machine, w / last_entries);
			double dense = cache_cycles(machine, w);
			double spread = cache_cycles(machine,
						     w * (1 + machine->shift)) +
					misses->l1[i] * machine->hit_next +
					last * (walk - machine->hit_next);

			if (draw_chance(&state, machine->missed))
				continue;
			points[(*n)++] = disturb(machine, block, misses->w[i],
						 spread, dense, &state);
		}
	}
	return points;
}

double misses_half(const struct misses *misses, const double *share)
{
	size_t i;

	for (i = 1; i < misses->n; i++)
		if (share[i] >= 0.5)
			return misses->w[i - 1] +
			       (misses->w[i] - misses->w[i - 1]) *
				       (0.5 - share[i - 1]) /
				       (share[i] - share[i - 1]);
	return NAN;
}
