/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "saved.h"

/* Set *why, NULL on ENOMEM. Always -1. */
__attribute__((format(printf, 2, 3))) static int because(char **why,
							 const char *format,
							 ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(why, format, args) < 0)
		*why = NULL;
	va_end(args);
	return -1;
}

json_t *saved_read(const char *file, const char *expected, char **why)
{
	json_error_t at;
	json_t *json = json_load_file(file, JSON_REJECT_DUPLICATES, &at);

	if (!json && at.line < 0)
		because(why, "cannot read '%s': %s", file, at.text);
	else if (!json)
		because(why, "%s:%d: expected %s: %s", file, at.line, expected,
			at.text);
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
		return because(why, "%s: expected a JSON report of tune", name);
	if (json_integer_value(schema) != REPORT_SCHEMA)
		return because(
			why,
			"%s: expected schema %d, got %" JSON_INTEGER_FORMAT,
			name, REPORT_SCHEMA, json_integer_value(schema));
	if (!json_is_object(json_object_get(report, "environment")))
		return because(why, "%s: environment: expected an object",
			       name);
	if (record_load(json_object_get(report, "record"), record, &fault) <
	    0) {
		because(why, "%s: %s", name, fault ? fault : "record");
		free(fault);
		return -1;
	}
	return 0;
}
