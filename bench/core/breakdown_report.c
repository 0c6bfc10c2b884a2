/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>

#include "breakdown.h"
#include "environment.h"
#include "report.h"

static void append(json_t *results, size_t row, size_t threads,
		   const char *part, const struct estimate *estimate,
		   size_t blocks, const char *why)
{
	json_t *result = json_pack("{s:I, s:I, s:s, s:s, s:I, s:s?}", "row",
				   (json_int_t)row, "threads",
				   (json_int_t)threads, "part", part, "unit",
				   "ns", "n", (json_int_t)blocks, "why", why);

	json_object_update_new(result, report_estimate(estimate));
	json_array_append_new(results, result);
}

void breakdown_json(json_t *results, size_t row, size_t threads,
		    const struct breakdown *breakdown)
{
	int i;

	for (i = 0; i < BREAKDOWN_PARTS; i++)
		append(results, row, threads, breakdown_name[i],
		       &breakdown->part[i], breakdown->blocks,
		       breakdown->why[i]);
	append(results, row, threads, "sum", &breakdown->sum, breakdown->blocks,
	       NULL);
	append(results, row, threads, "whole", &breakdown->whole,
	       breakdown->blocks, NULL);
	append(results, row, threads, "unexplained", &breakdown->unexplained,
	       breakdown->blocks,
	       breakdown_explained(breakdown) ?
		       "nothing: 0 is in the interval" :
		       NULL);
}

static double number(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void print_result(FILE *to, const json_t *result)
{
	const json_t *ci95 = json_object_get(result, "ci95");
	const char *why = json_string_value(json_object_get(result, "why"));
	double ns = number(json_object_get(result, "estimate"));

	fprintf(to, "  %-14s",
		json_string_value(json_object_get(result, "part")));
	if (!isfinite(ns)) {
		fprintf(to, " %9s  %s\n", "n/a", why ? why : "too few blocks");
		return;
	}
	fprintf(to, " %9.1f", ns);
	if (json_is_array(ci95))
		fprintf(to, "  [%.1f, %.1f]", number(json_array_get(ci95, 0)),
			number(json_array_get(ci95, 1)));
	fprintf(to, "%s%s\n", why ? "  " : "", why ? why : "");
}

void breakdown_text(const json_t *report, FILE *to)
{
	const json_t *options = json_object_get(report, "options");
	json_int_t row = -1;
	json_t *result;
	size_t i;

	environment_print(json_object_get(report, "environment"), to);
	fprintf(to,
		"\n%s of %" JSON_INTEGER_FORMAT
		" pages, and the pass over %" JSON_INTEGER_FORMAT
		" pages (%s %s) after it:\nwhat it costs the caller, ns "
		"[95 %% interval]\n",
		json_string_value(json_object_get(options, "operation")),
		json_integer_value(json_object_get(options, "pages")),
		json_integer_value(json_object_get(options, "access")),
		json_string_value(json_object_get(options, "pattern")),
		json_is_true(json_object_get(options, "write")) ? "writes" :
								  "reads");
	json_array_foreach(json_object_get(report, "results"), i, result) {
		json_int_t of =
			json_integer_value(json_object_get(result, "row"));

		if (of != row)
			fprintf(to,
				"\n  %" JSON_INTEGER_FORMAT
				" threads beside, %" JSON_INTEGER_FORMAT
				" time blocks\n",
				json_integer_value(
					json_object_get(result, "threads")),
				json_integer_value(
					json_object_get(result, "n")));
		row = of;
		print_result(to, result);
	}
	fputs("\nfixed, pages: a line through the times of other sizes, threads "
	      "parked, less the\nflush. local flush: from the step of "
	      "mprotect at the kernel's ceiling. IPI wait:\nmembarrier(2) "
	      "beside running threads, less the same beside parked ones. "
	      "remote\nflush: what pages add to the difference that running "
	      "threads make; about 0 where\nCPUs flush at the same time. "
	      "refill: the pass after the call, less a warm one.\nunexplained: "
	      "the whole, measured apart from all this, less the sum.\n",
	      to);
	if (json_is_true(json_object_get(report, "partial")))
		fputs("PARTIAL: interrupted, this is what was measured until "
		      "then.\n",
		      to);
}
