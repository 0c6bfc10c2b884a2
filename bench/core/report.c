/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "output.h"
#include "report.h"

json_t *report_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

double report_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static json_t *interval(const struct interval *interval)
{
	if (!isfinite(interval->lo) || !isfinite(interval->hi))
		return json_null();
	return json_pack("[f, f]", interval->lo, interval->hi);
}

json_t *report_estimate(const struct estimate *estimate)
{
	return json_pack("{s:o, s:o}", "estimate",
			 report_number(estimate->value), "ci95",
			 interval(&estimate->ci95));
}

static json_t *blocks_json(const struct summary *summary)
{
	json_t *blocks = json_array();
	size_t i;

	for (i = 0; i < summary->blocks; i++)
		json_array_append_new(blocks, report_number(summary->block[i]));
	return blocks;
}

json_t *report_summary(const struct summary *summary, const char *unit)
{
	return json_pack(
		"{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o}",
		"unit", unit, "n", (json_int_t)summary->n, "median",
		report_number(summary->median), "mad",
		report_number(summary->mad), "p10", report_number(summary->p10),
		"p90", report_number(summary->p90), "p99",
		report_number(summary->p99), "min", report_number(summary->min),
		"max", report_number(summary->max), "ci95",
		interval(&summary->ci95), "blocks", blocks_json(summary));
}

static json_t *clock_json(const struct clock *clock)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "source",
			 clock->source == CLOCK_SOURCE_TSC ? "tsc" :
							     "clock_gettime",
			 "why", clock->why, "ns_per_tick",
			 report_number(clock->ns_per_tick), "overhead_ns",
			 report_number(clock->overhead_ns), "step_ns",
			 report_number(clock->step_ns), "drift_ppm",
			 report_number(clock->drift_ppm));
}

size_t report_rows(const json_t *results)
{
	size_t rows = 0, i;
	json_t *result;

	json_array_foreach(results, i, result) {
		size_t row = (size_t)json_integer_value(
			json_object_get(result, "row"));

		if (row >= rows)
			rows = row + 1;
	}
	return rows;
}

json_t *report_date(void)
{
	time_t now = time(NULL);
	struct tm utc;
	char date[32];

	gmtime_r(&now, &utc);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return json_string(date);
}

json_t *report_new(const char *program, bool partial, json_t *options,
		   const struct clock *clock, json_t *environment)
{
	return json_pack("{s:i, s:s, s:s, s:o, s:b, s:o, s:o, s:o}", "schema",
			 REPORT_SCHEMA, "program", program, "version",
			 PACKAGE_VERSION, "date", report_date(), "partial",
			 partial, "options", options, "clock",
			 clock_json(clock), "environment", environment);
}

/* CSV ------------------------------------------------------------------ */

static bool is_interval(const char *name)
{
	size_t len = strlen(name);

	return len >= 2 && !strcmp(name + len - 2, "95");
}

/* A column of the table: its name, and the row's value for it. */
struct column {
	char *name;
	const json_t *value;
};

struct row {
	struct column *columns;
	size_t n;
};

/* Append one column; name is copied. 0 or -1. */
static int add_column(struct row *row, const char *name, const json_t *value)
{
	struct column *columns =
		reallocarray(row->columns, row->n + 1, sizeof(*columns));
	char *copy = strdup(name);

	if (columns)
		row->columns = columns;
	if (!columns || !copy) {
		free(copy);
		return -1;
	}
	row->columns[row->n].name = copy;
	row->columns[row->n].value = value;
	row->n++;
	return 0;
}

/* Append the members of object to row, names joined with '.'. 0 or -1. */
static int flatten(const json_t *object, const char *prefix, struct row *row)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) {
		char *name;
		int status;

		if (json_is_array(value) && !is_interval(key))
			continue;
		if (asprintf(&name, "%s%s%s", prefix, *prefix ? "." : "", key) <
		    0)
			return -1;
		status = json_is_object(value) ? flatten(value, name, row) :
						 add_column(row, name, value);
		free(name);
		if (status < 0)
			return -1;
	}
	return 0;
}

static void row_free(struct row *row)
{
	size_t i;

	for (i = 0; i < row->n; i++)
		free(row->columns[i].name);
	free(row->columns);
	*row = (struct row){ 0 };
}

static void print_value(const json_t *value, FILE *to)
{
	const char *c;

	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_INTEGER:
		fprintf(to, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		fprintf(to, "%.17g", json_real_value(value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		fputs(json_is_true(value) ? "true" : "false", to);
		break;
	case JSON_STRING:
		/* RFC 4180: quoted, a quote is doubled. */
		fputc('"', to);
		for (c = json_string_value(value); *c; c++)
			fprintf(to, *c == '"' ? "\"\"" : "%c", *c);
		fputc('"', to);
		break;
	default: /* null, or not there: unknown */
		break;
	}
}

static void print_names(const struct row *row, FILE *to)
{
	size_t i;

	for (i = 0; i < row->n; i++) {
		const char *name = row->columns[i].name;

		fputs(i ? "," : "", to);
		if (is_interval(name))
			fprintf(to, "%s.lo,%s.hi", name, name);
		else
			fputs(name, to);
	}
	fputs("\r\n", to);
}

static void print_row(const struct row *row, FILE *to)
{
	size_t i;

	for (i = 0; i < row->n; i++) {
		const json_t *value = row->columns[i].value;

		fputs(i ? "," : "", to);
		if (is_interval(row->columns[i].name)) {
			if (json_is_array(value))
				print_value(json_array_get(value, 0), to);
			fputc(',', to);
			if (json_is_array(value))
				print_value(json_array_get(value, 1), to);
		} else {
			print_value(value, to);
		}
	}
	fputs("\r\n", to);
}

void report_csv(const json_t *report, FILE *to)
{
	json_t *result;
	size_t i;

	json_array_foreach(json_object_get(report, "results"), i, result) {
		struct row row = { 0 };

		if (flatten(result, "", &row) < 0 ||
		    add_column(&row, "partial",
			       json_object_get(report, "partial")) < 0)
			error(STATUS_FAILED, errno, "CSV");
		if (i == 0)
			print_names(&row, to);
		print_row(&row, to);
		row_free(&row);
	}
}

/* writing -------------------------------------------------------------- */

static int render(const json_t *report, enum format format, report_text text,
		  FILE *to)
{
	switch (format) {
	case FORMAT_JSON:
		if (json_dumpf(report, to, JSON_INDENT(2)) < 0)
			return -1;
		fputc('\n', to);
		break;
	case FORMAT_CSV:
		report_csv(report, to);
		break;
	case FORMAT_TEXT:
		text(report, to);
		break;
	}
	return ferror(to) ? -1 : 0;
}

int report_write(const json_t *report, const struct options_common *options,
		 report_text text)
{
	struct output output;

	if (json_is_true(json_object_get(report, "partial")))
		error(0, 0, "interrupted: the result is partial");
	if (output_open(&output, options->output) < 0)
		return -1;
	if (render(report, options->format, text, output.to) < 0) {
		output_abandon(&output);
		error(0, errno, "%s",
		      options->output ? options->output : "standard output");
		return -1;
	}
	return output_commit(&output);
}
