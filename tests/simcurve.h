/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simcurve: latency against pages on a simulated machine.
 *
 * The misses are counted, not modelled: a chase goes round its pages through a
 * set-associative L1 and last level. What they cost, the caches below and the
 * noise are then drawn at random around what machines show.
 */
#ifndef TLBTUNE_SIMCURVE_H
#define TLBTUNE_SIMCURVE_H

#include <stddef.h>
#include <stdint.h>

#include "reach.h"
#include "simulated_tlb.h"

/* The share of accesses that miss the L1, and both levels, by w. */
struct misses {
	size_t n;
	unsigned int *w;
	double *l1, *last;
};

/* What it all costs, in cycles, and what disturbs the measurement. */
struct machine {
	double ghz;
	double hit_next, walk; /* beyond an L1 hit; walk at w = E */
	double growth;	       /* of the walk per doubling of w, relative */
	double growth_power;   /* 1: straight in log w */
	double caches[3];      /* latency of L1D, L2, L3 */
	double lines[2];       /* of L1D and L2 */
	double shift;	 /* how much earlier the spread lines leave them */
	double noise;	 /* relative, of each point */
	double outliers; /* share of points */
	unsigned int blocks;
	unsigned int slow_block; /* scaled by 1.3; none if >= blocks */
	/* none of these on a machine of machine_random(): */
	double cheap;  /* share of blocks in which a walk takes a third less */
	double taken;  /* entries that others hold, relative, in the mean */
	double missed; /* share of points for which there was no time */
};

double draw_uniform(uint64_t *state, double from, double to);
double draw_normal(uint64_t *state);

/* Count the misses at each w of the grid up to max. */
struct misses misses_simulate(const struct geometry *geometry,
			      enum replacement replacement,
			      enum placement placement, unsigned int max,
			      uint64_t seed);
void misses_free(struct misses *misses);

/* Pages of which half the accesses miss; share is l1 or last of misses. */
double misses_half(const struct misses *misses, const double *share);

struct machine machine_random(uint64_t seed);

/* What a walk takes where w is load times the entries of the last level. */
double machine_walk_cycles(const struct machine *machine, double load);

/* Blocks of measurements; malloc'ed, *n of them. */
struct reach_point *machine_measure(const struct misses *misses,
				    const struct machine *machine,
				    double last_entries, uint64_t seed,
				    size_t *n);

#endif
