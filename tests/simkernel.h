/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simkernel: a kernel of known costs and ceiling, timed on a machine of known
 * noise. Produces what the measuring program does, sample by sample and with
 * the same aggregation, and the truth to compare with.
 *
 * Everything that is noise comes on top of the costs: outliers and bursts are
 * not part of the truth, drift and regimes are (as their average over the time
 * of the run), placement is with its expectation.
 */
#ifndef TLBTUNE_SIMKERNEL_H
#define TLBTUNE_SIMKERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_rng.h>

#include "estimate.h"

#define SIM_NO_CEILING 1000000u

struct sim_kernel {
	double a, b, c_i, c_f; /* ns */
	unsigned int ceiling;
	double r;	 /* refill, ns per page */
	double warm_ns;	 /* a page of a warm pass */
	bool empties;	 /* INVLPG empties the TLB */
	double curve;	 /* T(n) bends down by this share of b*n at n = 512 */
	double line_ns;	 /* step in T(n) every 8 pages, around the line */
	double start_ns; /* the first page takes so much less, soon none */
};

struct sim_noise {
	double sd; /* of a sample, share of its time */

	/* this share of the samples takes so much longer, uniformly */
	double outliers, outlier_min_ns, outlier_max_ns;

	/* this share of the time everything takes so many times as long */
	double bursts, burst_factor;
	double burst_s; /* how long at a time */

	/* change over the run, as a share, around the kernel's cost */
	double drift_c_i, drift_all;

	/* sd over blocks, share of the cost */
	double placement_a, placement_c_i;

	/* spells with another c_i, or with all taking so many times as long
	 * (another CPU, say); 0: none */
	double regime_c_i, regime_all;
	double regime_min_s, regime_max_s; /* of a spell, uniform in its log */
};

struct sim_plan {
	double seconds; /* of the run */
	unsigned int blocks;
	unsigned int samples; /* per block and n */
	size_t n_sizes;
	const unsigned int *sizes; /* [n_sizes] */
	unsigned int w;		   /* working set; 0: no refill points */
	unsigned int pairs;	   /* per block */
};

struct sim_run {
	struct op_point *op; /* [n_op] */
	size_t n_op;
	struct refill_point *refill; /* [n_refill], PATTERN_CHASE */
	size_t n_refill;
	struct block_fit truth; /* averages over the time */
	double step_ns;		/* ... of D(W) */
	double pages;		/* n*(W) of those averages */
	double odd_share;	/* of the time, in the other regime */
};

/* Measure. Exits on ENOMEM, as everything here does. */
void sim_measure(const struct sim_kernel *kernel, const struct sim_noise *noise,
		 const struct sim_plan *plan, gsl_rng *rng,
		 struct sim_run *out);
void sim_free(struct sim_run *run);

/*
 * The sizes of a run: about half log-spaced in 1 .. 512, the rest dense within
 * 9 of the ceiling. malloc'ed, ascending, distinct.
 */
unsigned int *sim_sizes(unsigned int ceiling, size_t *n);

/*
 * Search the ceiling: log-spaced sizes first, then with them those in the gap
 * that is left, until none is, each time in five short blocks of so many
 * samples at each size.
 */
void sim_search(const struct sim_kernel *kernel, const struct sim_noise *noise,
		unsigned int samples, const struct reaccess *reaccess,
		gsl_rng *rng, struct step *out);

/* What the re-access of 256 pages shows on that kernel. */
struct reaccess sim_reaccess(const struct sim_kernel *kernel, gsl_rng *rng);

#endif
