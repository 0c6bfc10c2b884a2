/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: one JSON object per run is the model; text and CSV are renderings of
 * it. Locale-proof: no program of tlbtune calls setlocale.
 */
#ifndef TLBTUNE_REPORT_H
#define TLBTUNE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "clock.h"
#include "options.h"
#include "stats.h"

/* Changes when a reader of the reports would break; data/schema.json. */
#define REPORT_SCHEMA 1

/* x as a JSON number, null where it is not finite. */
json_t *report_number(double x);

/* The member of an object as a number, NAN for all that is not one. */
double report_get(const json_t *object, const char *key);

/* {"estimate": .., "ci95": [lo, hi]} */
json_t *report_estimate(const struct estimate *estimate);

/*
 * {"unit", "n", "median", "mad", "p10", .., "ci95": [lo, hi], "blocks": [..]};
 * the last are the medians of the time blocks.
 */
json_t *report_summary(const struct summary *summary, const char *unit);

/* How many rows results[] are of: each has the number of its "row". */
size_t report_rows(const json_t *results);

/* Now, UTC, "2026-11-30T21:36:37Z". NULL on ENOMEM. */
json_t *report_date(void);

/*
 * {"schema", "program", "version", "date", "partial", "options", "clock",
 * "environment"}; takes over the references to options and environment. The
 * caller adds results[] and what else it has. NULL on ENOMEM.
 */
json_t *report_new(const char *program, bool partial, json_t *options,
		   const struct clock *clock, json_t *environment);

/* Render the report for people. */
typedef void (*report_text)(const json_t *report, FILE *to);

/*
 * Write the report in the format asked for to stdout, or atomically to the file
 * of -o: a temporary file beside it that is renamed when complete, or nothing.
 * Returns 0, or -1 after one line on stderr.
 */
int report_write(const json_t *report, const struct options_common *options,
		 report_text text);

/*
 * CSV of report's results[]: one header line, one line a result, in each last
 * whether the run was cut short; objects are flattened with '.', an interval to
 * .lo and .hi; unknown is an empty field. Other arrays are left out.
 */
void report_csv(const json_t *report, FILE *to);

#endif
