/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hybrid: the costs of another core type of the same machine, from a report
 * that was saved there (tune --cpus), so that the one knob is chosen for both.
 */
#ifndef TLBTUNE_HYBRID_H
#define TLBTUNE_HYBRID_H

#include <jansson.h>
#include <stdio.h>

#include "derive.h"

struct hybrid {
	json_t *report; /* of the other type */
	struct record record;
	struct findings findings;
};

/*
 * Read and derive what file holds. 0, or -1 with *why: it is no report, or has
 * no costs.
 */
int hybrid_open(struct hybrid *hybrid, const char *file,
		const struct question *question, char **why);

/*
 * Add the member core_types: costs and choice of each type alone, that of
 * report first. 0; -1 with *why where the two are not of one machine.
 */
int hybrid_json(const struct hybrid *hybrid, const struct findings *findings,
		json_t *report, char **why);

void hybrid_close(struct hybrid *hybrid);

/* The member core_types, for people. */
void hybrid_text(const json_t *report, FILE *to);

#endif
