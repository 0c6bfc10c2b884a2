/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdbool.h>
#include <string.h>

#include "core/environment.h"
#include "core/membind.h"
#include "core/report.h"
#include "under_text.h"

/* A class of readings: how its column is headed, and where it is. */
struct column {
	const char *name, *window, *bystanders;
};

static const char *member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "n/a";
}

static json_int_t integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* The result with these labels, or NULL; bystanders "any" is as good as ran. */
static const json_t *find(const json_t *results, size_t row, const char *what,
			  const struct column *column)
{
	json_t *result;
	size_t i;

	json_array_foreach(results, i, result) {
		const char *bystanders = member(result, "bystanders");

		if (!strcmp(bystanders, "any"))
			bystanders = "ran";
		if (integer(result, "row") == (json_int_t)row &&
		    !strcmp(member(result, "what"), what) &&
		    !strcmp(member(result, "window"), column->window) &&
		    !strcmp(bystanders, column->bystanders))
			return result;
	}
	return NULL;
}

static void print_number(FILE *to, const json_t *value, int digits)
{
	if (json_is_number(value))
		fprintf(to, " %14.*f", digits, json_number_value(value));
	else
		fprintf(to, " %14s", "n/a");
}

/* A line of the table: key of what, in each column. */
static void print_line(FILE *to, const json_t *results, size_t row,
		       const struct column columns[3], const char *title,
		       const char *what, const char *key, int digits)
{
	int i;

	fprintf(to, "  %-26s", title);
	for (i = 0; i < 3; i++)
		print_number(
			to,
			json_object_get(find(results, row, what, &columns[i]),
					key),
			digits);
	fputc('\n', to);
}

static void print_table(FILE *to, const json_t *results, size_t row)
{
	static const struct column columns[3] = {
		{ "quiet", "quiet", "ran" },
		{ "flushed", "flushed", "ran" },
		{ "stopped", "flushed", "stopped" },
	};
	static const struct {
		const char *title, *what, *key;
		int digits;
	} line[] = {
		{ "ns per access, median", "access", "median", 2 },
		{ "  nine of ten below", "access", "p90", 2 },
		{ "slice of accesses, median", "slice", "median", 0 },
		{ "  p90", "slice", "p90", 0 },
		{ "  p99", "slice", "p99", 0 },
		{ "  p99.9", "slice", "p999", 0 },
		{ "  max", "slice", "max", 0 },
		{ "caller's call, median", "call", "median", 0 },
		{ "  p99", "call", "p99", 0 },
		{ "  calls", "call", "n", 0 },
	};
	size_t i;

	fprintf(to, "  %-26s", "ns");
	for (i = 0; i < 3; i++)
		fprintf(to, " %14s", columns[i].name);
	fputc('\n', to);
	for (i = 0; i < sizeof(line) / sizeof(*line); i++)
		print_line(to, results, row, columns, line[i].title,
			   line[i].what, line[i].key, line[i].digits);
}

static double value(const json_t *result, const char *key)
{
	return json_number_value(json_object_get(result, key));
}

static void print_estimate(FILE *to, const json_t *result, double scale,
			   int digits)
{
	const json_t *ci95 = json_object_get(result, "ci95");

	if (!result) {
		fputs("n/a", to);
		return;
	}
	fprintf(to, "%.*f", digits, scale * value(result, "median"));
	if (json_is_array(ci95))
		fprintf(to, " [%.*f, %.*f]", digits,
			scale * json_number_value(json_array_get(ci95, 0)),
			digits,
			scale * json_number_value(json_array_get(ci95, 1)));
}

static void print_row(FILE *to, const json_t *results, size_t row)
{
	static const struct column flushed = { NULL, "flushed", "ran" };
	static const struct column stopped = { NULL, "flushed", "stopped" };
	const json_t *period = find(results, row, "period", &flushed);
	const json_t *ran_call = find(results, row, "call", &flushed);
	const json_t *rest_call = find(results, row, "call", &stopped);
	const json_t *call = ran_call ? ran_call : rest_call;
	json_int_t threads = integer(call, "threads");
	double ran = value(ran_call, "n"), rest = value(rest_call, "n");

	if (!call)
		return; /* interrupted before this row */
	fputc('\n', to);
	membind_text(call, to);
	fprintf(to, "%" JSON_INTEGER_FORMAT " thread%s, ", threads,
		threads == 1 ? "" : "s");
	if (period)
		fprintf(to, "%.0f flushes a second: ",
			1e9 / value(period, "median"));
	fputs("a flush costs each of them ", to);
	print_estimate(to, find(results, row, "lost", &flushed), 1, 0);
	fputs(" ns,\nall flushes ", to);
	print_estimate(to, find(results, row, "share", &flushed), 100, 1);
	fputs(" % of their time\n\n", to);
	print_table(to, results, row);
	if (!strcmp(member(ran_call, "bystanders"), "any"))
		fputs("  ! more threads than CPUs: they take turns, an access "
		      "includes waiting, and\n  no flush is known to have "
		      "found them running\n",
		      to);
	else
		fprintf(to,
			"  in %.1f %% of the flushes a thread was stopped just "
			"before or just after\n",
			100 * rest / (ran + rest));
}

void under_text(const json_t *report, FILE *to)
{
	const json_t *results = json_object_get(report, "results");
	const json_t *options = json_object_get(report, "options");
	size_t rows = report_rows(results), i;

	environment_print(json_object_get(report, "environment"), to);
	fprintf(to,
		"\n%" JSON_INTEGER_FORMAT " %s %s in turn, one cache line a "
		"page, under %s of %" JSON_INTEGER_FORMAT " %spages\n",
		integer(options, "access"), member(options, "pattern"),
		json_is_true(json_object_get(options, "write")) ? "writes" :
								  "reads",
		member(options, "under"), integer(options, "pages"),
		json_is_string(json_object_get(options, "huge")) ? "2 MiB " :
								   "");
	for (i = 0; i < rows; i++)
		print_row(to, results, i);
	fputs("\nquiet: nothing is flushed. flushed: every thread ran just "
	      "before the flush and just\nafter it. stopped: one of them did "
	      "not (preempted, or its CPU halted). ns per access:\nof a "
	      "thread, from one flush to the next. A slice is up to 64 "
	      "accesses; a thread times\nits own, one after the other. What a "
	      "flush costs is the time that the accesses from\nit to the next "
	      "took longer than quiet ones.\n",
	      to);
	if (json_is_true(json_object_get(report, "partial")))
		fputs("PARTIAL: interrupted, this is what was measured until "
		      "then.\n",
		      to);
}
