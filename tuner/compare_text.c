/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>

#include <gsl/gsl_sf_gamma.h>

#include "compare.h"
#include "conditions.h"
#include "contrast.h"

/* More rows than a screen holds: only those with something to say. */
#define ROWS_SHOWN 40
#define LABEL_WIDTH 42

static const char *string(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "n/a";
}

static void print_side(const char *name, const json_t *files, FILE *to)
{
	size_t n = json_array_size(files);

	fprintf(to, "%s  %s", name,
		json_string_value(json_array_get(files, 0)));
	if (n > 1)
		fprintf(to, " and %zu more", n - 1);
	fputc('\n', to);
}

static void print_conditions(const json_t *report, FILE *to)
{
	char a[CONDITIONS_TEXT], b[CONDITIONS_TEXT];
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(report, "conditions"), i, one)
		fprintf(to, "Warning  %s differs: A %s, B %s\n",
			string(one, "key"),
			conditions_text(json_object_get(one, "a"), a),
			conditions_text(json_object_get(one, "b"), b));
}

static void print_number(FILE *to, int width, const char *format,
			 const json_t *value)
{
	char text[32] = "n/a";

	if (json_is_number(value))
		/* One of the two formats below. */
		snprintf(text, sizeof(text), *format == 'r' ? "%.3f" : "%.5g",
			 json_number_value(value));
	fprintf(to, "%*s", width, text);
}

/* The ratio, or where there is none the difference, with the interval. */
static void print_shift(const json_t *result, FILE *to)
{
	const json_t *ratio = json_object_get(result, "ratio");
	bool is_ratio = json_is_number(ratio);
	const json_t *shift = is_ratio ? ratio :
					 json_object_get(result, "difference");
	const json_t *ci95 = json_object_get(
		result, is_ratio ? "ratio_ci95" : "difference_ci95");
	const char *format = is_ratio ? "r" : "d";

	print_number(to, 9, format, shift);
	if (!json_is_array(ci95)) {
		fprintf(to, "%21s", "");
		return;
	}
	fputs("  [", to);
	print_number(to, 7, format, json_array_get(ci95, 0));
	fputs(", ", to);
	print_number(to, 7, format, json_array_get(ci95, 1));
	fputs(is_ratio ? "] " : "]*", to);
}

static void print_result(const json_t *result, FILE *to)
{
	const json_t *p = json_object_get(result, "p_holm");

	fprintf(to, "%-*s", LABEL_WIDTH, string(result, "label"));
	print_number(to, 10, "d", json_object_get(result, "a"));
	print_number(to, 10, "d", json_object_get(result, "b"));
	print_shift(result, to);
	if (json_number_value(p) < 0.001 && json_is_number(p))
		fprintf(to, "%8s", "<0.001");
	else
		print_number(to, 8, "r", p);
	fprintf(to, "  %s%s\n", string(result, "verdict"),
		json_is_true(json_object_get(result, "above")) ?
			", above the limit" :
			"");
}

static bool differs(const json_t *result)
{
	const char *verdict = string(result, "verdict");

	return !strcmp(verdict, "lower") || !strcmp(verdict, "higher");
}

/* What tune is for is shown whatever comes out. */
static bool is_cost(const json_t *result)
{
	return !strncmp(string(result, "label"), "fit ", 4);
}

static void print_results(const json_t *results, FILE *to)
{
	size_t seen = 0, n = json_array_size(results), i;
	bool no_ratio = false;
	json_t *result;

	json_array_foreach(results, i, result) {
		seen += differs(result);
		no_ratio |=
			json_is_number(json_object_get(result, "difference"));
	}
	fprintf(to, "\n%-*s%10s%10s%9s  %-19s%8s\n", LABEL_WIDTH, "", "A", "B",
		"B / A", "95 % interval", "p");
	json_array_foreach(results, i, result)
		if (n <= ROWS_SHOWN || differs(result) || is_cost(result))
			print_result(result, to);
	if (no_ratio)
		fputs("*: B - A, where values of 0 and less make no ratio\n",
		      to);
	fprintf(to, "\n%zu results, %zu with a difference%s%s.\n", n, seen,
		seen ? "" : ": no difference seen",
		n > ROWS_SHOWN ? "; the others are not shown" : "");
}

/*
 * Say so where even runs without any overlap could not show a difference among
 * so many results.
 */
static void print_power(const json_t *results, FILE *to)
{
	const json_t *first = json_array_get(results, 0);
	unsigned int a = (unsigned int)json_integer_value(
		json_object_get(first, "values_a"));
	unsigned int b = (unsigned int)json_integer_value(
		json_object_get(first, "values_b"));
	double smallest = 2 * exp(-gsl_sf_lnchoose(a + b, a));
	size_t n = json_array_size(results);

	if (smallest * (double)n >= CONTRAST_ALPHA)
		fprintf(to,
			"%u and %u runs are too few to show a difference in "
			"one of %zu results.\n",
			a, b, n);
}

void compare_text(const json_t *report, FILE *to)
{
	const json_t *unmatched = json_object_get(report, "unmatched");
	bool runs = !strcmp(string(report, "values"), "runs");

	fprintf(to, "Compared: results of %s\n", string(report, "compared"));
	print_side("A", json_object_get(report, "a"), to);
	print_side("B", json_object_get(report, "b"), to);
	print_conditions(report, to);
	print_results(json_object_get(report, "results"), to);
	if (json_integer_value(unmatched) > 0)
		fprintf(to,
			"%" JSON_INTEGER_FORMAT
			" more are not in all of the files.\n",
			json_integer_value(unmatched));
	fprintf(to,
		"\nValues: %s. p: of a rank test, for all results together "
		"(Holm);\nwhere a result has no such values, by its "
		"interval.\n",
		runs ? "the medians of whole runs" :
		       "the medians of the time blocks of one run a side");
	if (runs)
		print_power(json_object_get(report, "results"), to);
	else
		fputs("One run a side: what differs from run to run anyway is "
		      "seen as a difference unless\nit shows within the runs "
		      "as well. Four or more a side, taken in turns, tell.\n",
		      to);
}
