/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quantity: the numbers of a report, each with what it is called, whatever
 * program wrote it. Pure.
 *
 * A result is called what its members before `unit` say ("threads 1 caller call
 * busy"); an estimate of `fit` or `tlb`, its name there ("fit c_i").
 */
#ifndef TLBTUNE_QUANTITY_H
#define TLBTUNE_QUANTITY_H

#include <jansson.h>

#include "stats.h"

struct quantity {
	char *label;
	char *unit;
	double value;	      /* median or estimate; NAN: unknown */
	struct interval ci95; /* NAN: unknown */
	size_t blocks;	      /* 0 for an estimate */
	double block[STATS_BLOCKS];
};

struct quantities {
	size_t n;
	struct quantity *of;
};

/*
 * Read all numbers of a report. 0, or -1 with *why a malloc'ed sentence on what
 * was expected where (NULL on ENOMEM).
 */
int quantities_read(const json_t *report, struct quantities *out, char **why);

/* The first with that label and unit, or NULL. */
const struct quantity *quantities_find(const struct quantities *in,
				       const char *label, const char *unit);

void quantities_free(struct quantities *quantities);

#endif
