/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain: the findings of tune as JSON members of its report, and the report
 * for people.
 */
#ifndef TLBTUNE_EXPLAIN_H
#define TLBTUNE_EXPLAIN_H

#include <jansson.h>
#include <stdio.h>

#include "derive.h"

/*
 * Add tlb, fit, break_even, choice, verify and results to report. 0, or -1
 * with ENOMEM.
 */
int explain_json(json_t *report, const struct record *record,
		 const struct findings *findings);

/* A regret, and the ceiling in pages that has it. */
json_t *explain_regret_json(const struct regret *regret, unsigned int pages);

/* Print a report of tune, from its JSON alone. */
void explain_text(const json_t *report, FILE *to);

/*
 * The reach of the TLB alone, the member tlb; and the same for people, whose
 * heading names the pages.
 */
json_t *explain_tlb_json(const struct reach *reach);
void explain_tlb_text(const json_t *tlb, const char *heading, FILE *to);

/* What was measured by moving the knob, the member both; null without one. */
json_t *explain_both_json(const struct both *both);
void explain_both_text(const json_t *both, FILE *to);

/* The member choice of a report, for people. */
void explain_choice_text(const json_t *report, FILE *to);

/* The member knob of a report, for people. */
void explain_knob_text(const json_t *report, FILE *to);

#endif
