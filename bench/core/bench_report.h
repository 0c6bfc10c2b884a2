/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_report: what a benchmark reports of its options and rows, in JSON, and
 * the table made of that.
 */
#ifndef TLBTUNE_BENCH_REPORT_H
#define TLBTUNE_BENCH_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "bench.h"
#include "options.h"
#include "row.h"

struct bench_settings {
	const struct bench *bench; /* the operation chosen */
	struct options_common common;
	struct options_work work;
	bool breakdown; /* not rows */
	bool trace;
};

json_t *bench_options_json(const struct bench_settings *settings);

/* Append the results of a row, the index-th of the table. Exits on ENOMEM. */
void bench_add_row(json_t *results, size_t index, const struct row *row,
		   const struct options_work *work);

/*
 * What is known of flushes: the interrupts that anyone can count, and what was
 * traced if proof is not NULL. bench_add_flushes adds a row to it.
 */
json_t *bench_flushes_json(const struct proof *proof);
void bench_add_flushes(json_t *flushes, size_t index, const struct row *row,
		       const struct bench_run *run, const struct bench *bench);
void bench_print_flushes(const json_t *report, FILE *to);

/* The report for people. */
void bench_print_text(const json_t *report, FILE *to);

#endif
