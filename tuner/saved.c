/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "saved.h"
#include "why.h"

json_t *saved_read(const char *file, const char *expected, char **why)
{
	json_error_t at;
	json_t *json = json_load_file(file, JSON_REJECT_DUPLICATES, &at);

	if (!json && at.line < 0)
		why_set(why, 0, "cannot read '%s': %s", file, at.text);
	else if (!json)
		why_set(why, 0, "%s:%d: expected %s: %s", file, at.line,
			expected, at.text);
	return json;
}

int saved_record(const json_t *report, const char *name, struct record *record,
		 char **why)
{
	const char *program =
		json_string_value(json_object_get(report, "program"));
	const json_t *schema = json_object_get(report, "schema");
	char *fault;

	if (!json_is_integer(schema) || !program || strcmp(program, "tune"))
		return why_set(why, 0, "%s: expected a JSON report of tune",
			       name);
	if (json_integer_value(schema) != REPORT_SCHEMA)
		return why_set(
			why, 0,
			"%s: expected schema %d, got %" JSON_INTEGER_FORMAT,
			name, REPORT_SCHEMA, json_integer_value(schema));
	if (!json_is_object(json_object_get(report, "environment")))
		return why_set(why, 0, "%s: environment: expected an object",
			       name);
	if (record_load(json_object_get(report, "record"), record, &fault) <
	    0) {
		why_set(why, 0, "%s: %s", name, fault ? fault : "record");
		free(fault);
		return -1;
	}
	return 0;
}

uint64_t saved_seed(const json_t *report, const struct options_common *options)
{
	const json_t *seed =
		json_object_get(json_object_get(report, "options"), "seed");

	if (options->seeded || !json_is_integer(seed))
		return options->seed;
	return (uint64_t)json_integer_value(seed);
}
