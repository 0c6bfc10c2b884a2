/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simrecord: what tune would have measured on a simulated kernel, and the costs
 * that are the truth.
 */
#ifndef TLBTUNE_SIMRECORD_H
#define TLBTUNE_SIMRECORD_H

#include <gsl/gsl_rng.h>

#include "cost.h"
#include "record.h"

/* Numbers, so that a command line can set them. */
struct sim_machine {
	double a, b, c_i, c_f; /* ns, ns/page */
	double r;	       /* of a chase, ns/page; of others a fifth */
	double ceiling;	       /* pages */
	double entries;	       /* pages; 0: the curve shows none */
	double empties;	       /* 1: INVLPG empties the TLB */
	double drift;	       /* of c_i over the run, a share */
	double placement;      /* sd over blocks of a and c_i, a share */
	double blocks, seed;
	double knob;	 /* 1: both ways were measured, 2: by a stuck knob */
	double knob_c_i; /* c_i then; 0: the same */
	double live;	 /* for whom it interests: on this machine */
	double in_force; /* pages, -1: the ceiling */
	double knob_ceiling; /* what a knob says it is; -1: none does */
};

/* A machine like the first that was measured. */
#define SIM_MACHINE_USUAL                                                      \
	{                                                                      \
		.a = 1000, .b = 15, .c_i = 40, .c_f = 215, .r = 11,            \
		.ceiling = 33, .entries = 2048, .blocks = 20, .seed = 1,       \
		.in_force = -1, .knob_ceiling = -1                             \
	}

/* Fill record, to be freed. Exits on ENOMEM. */
void sim_record(const struct sim_machine *machine, gsl_rng *rng,
		struct record *record);

/* The true costs. Exits on ENOMEM. */
void sim_model_open(const struct sim_machine *machine,
		    struct cost_model *model);
void sim_model_close(struct cost_model *model);

#endif
