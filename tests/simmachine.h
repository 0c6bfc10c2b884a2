/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simmachine: a simulated kernel with a TLB for each actor, as a subject of the
 * detector. It flushes rightly, or with one planted fault: what is not flushed
 * is served from the TLB on demand, where a real CPU might have dropped it.
 *
 * Steps of a group are performed one after the other, in an order drawn at
 * random among those that the program allows.
 */
#ifndef TLBTUNE_TEST_SIMMACHINE_H
#define TLBTUNE_TEST_SIMMACHINE_H

#include "subject.h"

enum plant {
	PLANT_NONE,
	PLANT_SKIP_FIRST,      /* page of a range */
	PLANT_SKIP_LAST,       /* page of a range */
	PLANT_ONE_PAGE,	       /* a range as if it were its first page */
	PLANT_SKIP_REMOTE,     /* the TLBs of other actors */
	PLANT_SKIP_ONE,	       /* that of the last actor */
	PLANT_SKIP_LOCAL,      /* the actor's own */
	PLANT_SKIP_LAZY,       /* who sleeps is not flushed when it wakes */
	PLANT_SKIP_FULL,       /* ranges above the threshold */
	PLANT_SKIP_VERB,       /* one operation does not flush at all */
	PLANT_SKIP_COPY,       /* copies on write */
	PLANT_SKIP_CONCURRENT, /* all but the first operation of a group */
	PLANTS,
};

struct simmachine;

/* verb: for PLANT_SKIP_VERB. NULL on ENOMEM. */
struct simmachine *simmachine_new(enum plant plant, enum verb verb,
				  unsigned int threshold, uint64_t seed);
struct subject simmachine_subject(struct simmachine *machine);

/* Draw orders anew from here on. */
void simmachine_seed(struct simmachine *machine, uint64_t seed);

void simmachine_free(struct simmachine *machine);

#endif
