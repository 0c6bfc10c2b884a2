/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * models: what ./models says, as a JSON report and for people.
 */
#ifndef TLBTUNE_MODELS_H
#define TLBTUNE_MODELS_H

#include <jansson.h>
#include <stdio.h>

/*
 * The row of a record in results[]: the same flat members for each, unknown is
 * null. NULL on ENOMEM.
 */
json_t *models_row(const json_t *record);

/*
 * How a report's record agrees with the one on file: results[] with quantity,
 * unit, recorded, here, change and agrees. Quantities unknown on either side
 * are left out. NULL on ENOMEM.
 */
json_t *models_agreement(const json_t *recorded, const json_t *here);

/*
 * Print a report of models. Its member `action` says which: list, show, lookup,
 * record or merge.
 */
void models_text(const json_t *report, FILE *to);

#endif
