/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "why.h"

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

/* Append to *text what format says, a blank before it. 0 or -1. */
__attribute__((format(printf, 2, 3))) static int append(char **text,
							const char *format, ...)
{
	char *more, *both;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&more, format, args);
	va_end(args);
	if (len < 0)
		return -1;
	len = asprintf(&both, "%s%s%s", *text ? *text : "", *text ? " " : "",
		       more);
	free(more);
	if (len < 0)
		return -1;
	free(*text);
	*text = both;
	return 0;
}

/* Another quantity, all unknown, with a copy of unit; NULL on ENOMEM. */
static struct quantity *add(struct quantities *to, const char *unit)
{
	struct quantity *of = reallocarray(to->of, to->n + 1, sizeof(*to->of));

	if (!of)
		return NULL;
	to->of = of;
	of += to->n;
	*of = (struct quantity){
		.unit = strdup(unit),
		.value = NAN,
		.ci95 = { NAN, NAN },
	};
	if (!of->unit)
		return NULL;
	to->n++;
	return of;
}

/* A number, or NAN for null; false for all else. */
static bool read_number(const json_t *json, double *x)
{
	*x = json_is_number(json) ? json_number_value(json) : NAN;
	return json_is_number(json) || json_is_null(json);
}

static bool read_interval(const json_t *json, struct interval *out)
{
	if (json_is_null(json))
		return true;
	return json_array_size(json) == 2 &&
	       read_number(json_array_get(json, 0), &out->lo) &&
	       read_number(json_array_get(json, 1), &out->hi);
}

/* The medians of the time blocks; reports of the first version have none. */
static bool read_blocks(const json_t *json, struct quantity *out)
{
	if (!json)
		return true;
	if (!json_is_array(json) || json_array_size(json) > STATS_BLOCKS)
		return false;
	for (; out->blocks < json_array_size(json); out->blocks++)
		if (!read_number(json_array_get(json, out->blocks),
				 &out->block[out->blocks]))
			return false;
	return true;
}

/* What the members before `unit`, which says *unit, call the result. 0 or -1.
 */
static int read_label(const json_t *result, char **label, const char **unit)
{
	const char *key;
	json_t *value;
	int failed = 0;

	*unit = NULL;
	json_object_foreach((json_t *)result, key, value) {
		if (!strcmp(key, "unit")) {
			*unit = json_string_value(value);
			break;
		}
		if (json_is_string(value))
			failed |= append(label, "%s", json_string_value(value));
		else if (json_is_integer(value))
			failed |= append(label, "%s %" JSON_INTEGER_FORMAT, key,
					 json_integer_value(value));
		else if (json_is_true(value))
			failed |= append(label, "%s", key);
	}
	return failed;
}

static int read_result(const json_t *result, size_t i, struct quantities *out,
		       char **why)
{
	struct quantity *quantity = NULL;
	char *label = NULL;
	const json_t *value;
	const char *unit;
	int failed = read_label(result, &label, &unit);

	if (!unit || !label) {
		free(label);
		return why_set(why, 0,
			       "results[%zu]: expected labels and then a unit",
			       i);
	}
	if (failed || !(quantity = add(out, unit))) {
		free(label);
		*why = NULL;
		return -1;
	}
	quantity->label = label;
	value = json_object_get(result, "median");
	if (!value) /* a part of a breakdown */
		value = json_object_get(result, "estimate");
	if (!read_number(value, &quantity->value))
		return why_set(why, 0,
			       "results[%zu].median: expected a number or null",
			       i);
	if (!read_interval(json_object_get(result, "ci95"), &quantity->ci95))
		return why_set(
			why, 0,
			"results[%zu].ci95: expected two numbers or null", i);
	if (!read_blocks(json_object_get(result, "blocks"), quantity))
		return why_set(why, 0,
			       "results[%zu].blocks: expected up to %d numbers",
			       i, STATS_BLOCKS);
	return 0;
}

static const char *estimate_unit(const char *name)
{
	if (ends_in(name, "_entries"))
		return "entries";
	if (ends_in(name, "_pages") || !strcmp(name, "ceiling"))
		return "pages";
	if (!strcmp(name, "b") || !strcmp(name, "c_i"))
		return "ns/page";
	return "ns";
}

/* The estimates among the members of report's object group, if it has it. */
static int read_estimates(const json_t *report, const char *group,
			  struct quantities *out, char **why)
{
	const char *key;
	json_t *value;

	json_object_foreach(json_object_get(report, group), key, value) {
		const json_t *estimate = json_object_get(value, "estimate");
		struct quantity *quantity;

		if (!estimate)
			continue;
		quantity = add(out, estimate_unit(key));
		if (!quantity ||
		    append(&quantity->label, "%s %s", group, key) < 0) {
			*why = NULL;
			return -1;
		}
		if (!read_number(estimate, &quantity->value) ||
		    !read_interval(json_object_get(value, "ci95"),
				   &quantity->ci95))
			return why_set(why, 0, "%s.%s: expected an estimate",
				       group, key);
	}
	return 0;
}

static int read_break_even(const json_t *report, struct quantities *out,
			   char **why)
{
	json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(report, "break_even"), i, entry) {
		struct quantity *quantity = add(out, "pages");
		const char *pattern;
		json_int_t set;

		if (!quantity) {
			*why = NULL;
			return -1;
		}
		if (json_unpack(entry, "{s:I, s:s}", "working_set", &set,
				"pattern", &pattern) < 0 ||
		    !read_number(json_object_get(entry, "pages"),
				 &quantity->value) ||
		    !read_interval(json_object_get(entry, "ci95"),
				   &quantity->ci95))
			return why_set(why, 0,
				       "break_even[%zu]: expected working_set, "
				       "pattern, pages and ci95",
				       i);
		if (append(&quantity->label,
			   "break_even working_set %" JSON_INTEGER_FORMAT " %s",
			   set, pattern) < 0) {
			*why = NULL;
			return -1;
		}
	}
	return 0;
}

static int read_all(const json_t *report, struct quantities *out, char **why)
{
	static const char *const groups[] = { "fit", "tlb", "tlb_2m",
					      "tlb_4k_of_2m" };
	const json_t *results = json_object_get(report, "results");
	json_t *result;
	size_t i;

	if (!json_is_array(results))
		return why_set(why, 0, "results: expected an array");
	for (i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (read_estimates(report, groups[i], out, why) < 0)
			return -1;
	if (read_break_even(report, out, why) < 0)
		return -1;
	json_array_foreach(results, i, result)
		if (read_result(result, i, out, why) < 0)
			return -1;
	return 0;
}

int quantities_read(const json_t *report, struct quantities *out, char **why)
{
	*out = (struct quantities){ 0 };
	if (read_all(report, out, why) == 0)
		return 0;
	quantities_free(out);
	return -1;
}

const struct quantity *quantities_find(const struct quantities *in,
				       const char *label, const char *unit)
{
	size_t i;

	for (i = 0; i < in->n; i++)
		if (!strcmp(in->of[i].label, label) &&
		    !strcmp(in->of[i].unit, unit))
			return &in->of[i];
	return NULL;
}

void quantities_free(struct quantities *quantities)
{
	size_t i;

	for (i = 0; i < quantities->n; i++) {
		free(quantities->of[i].label);
		free(quantities->of[i].unit);
	}
	free(quantities->of);
	*quantities = (struct quantities){ 0 };
}
