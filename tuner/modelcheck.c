/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modelcheck: whether a database is one.
 */
#include <config.h>

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeldb_parts.h"
#include "why.h"

/* What a member may be; `expected` says it in words. */
enum type {
	TYPE_TEXT,
	TYPE_TEXT_OR_NULL,
	TYPE_DATE,
	TYPE_INDEX,
	TYPE_COUNT_OR_NULL,
	TYPE_TRUTH,
	TYPE_TRUTH_OR_NULL,
	TYPE_NUMBER_OR_NULL,
	TYPE_INTERVAL,
	TYPE_ESTIMATE,
	TYPE_FACTOR,
	TYPE_TEXTS,
	TYPE_CALLS,
};

static const char *const expected[] = {
	[TYPE_TEXT] = "printable text",
	[TYPE_TEXT_OR_NULL] = "printable text or null",
	[TYPE_DATE] = "a date such as 2026-01-31T12:00:00Z",
	[TYPE_INDEX] = "an integer from 0",
	[TYPE_COUNT_OR_NULL] = "an integer from 0, or null",
	[TYPE_TRUTH] = "true or false",
	[TYPE_TRUTH_OR_NULL] = "true, false or null",
	[TYPE_NUMBER_OR_NULL] = "a number or null",
	[TYPE_INTERVAL] = "null or [low, high]",
	[TYPE_ESTIMATE] =
		"an estimate: number or null, ci95: [low, high] or null",
	[TYPE_FACTOR] = "an integer from -1 to 63, or null",
	[TYPE_TEXTS] = "an array of printable text",
	[TYPE_CALLS] = "an array of pages, n, median, mad",
};

static const struct member {
	const char *path;
	enum type type;
} members[] = {
	{ "id", TYPE_TEXT },
	{ "identity.vendor", TYPE_TEXT },
	{ "identity.brand", TYPE_TEXT_OR_NULL },
	{ "identity.family", TYPE_INDEX },
	{ "identity.model", TYPE_INDEX },
	{ "identity.stepping", TYPE_INDEX },
	{ "identity.core_type", TYPE_TEXT_OR_NULL },
	{ "condition.guest", TYPE_TRUTH_OR_NULL },
	{ "condition.hypervisor", TYPE_TEXT_OR_NULL },
	{ "condition.pti", TYPE_TRUTH_OR_NULL },
	{ "condition.pcid", TYPE_TRUTH_OR_NULL },
	{ "condition.invpcid", TYPE_TRUTH_OR_NULL },
	{ "condition.invlpgb", TYPE_TRUTH_OR_NULL },
	{ "condition.pv_tlb_flush", TYPE_TRUTH_OR_NULL },
	{ "kernel", TYPE_TEXT_OR_NULL },
	{ "microcode", TYPE_TEXT_OR_NULL },
	{ "version", TYPE_TEXT },
	{ "date", TYPE_DATE },
	{ "entries", TYPE_ESTIMATE },
	{ "ceiling", TYPE_COUNT_OR_NULL },
	{ "a", TYPE_ESTIMATE },
	{ "b", TYPE_ESTIMATE },
	{ "c_i", TYPE_ESTIMATE },
	{ "c_f", TYPE_ESTIMATE },
	{ "page_flush_empties_tlb", TYPE_TRUTH_OR_NULL },
	{ "r.working_set", TYPE_INDEX },
	{ "r.seq", TYPE_ESTIMATE },
	{ "r.random", TYPE_ESTIMATE },
	{ "r.chase", TYPE_ESTIMATE },
	{ "break_even.working_set", TYPE_INDEX },
	{ "break_even.seq", TYPE_ESTIMATE },
	{ "break_even.random", TYPE_ESTIMATE },
	{ "break_even.chase", TYPE_ESTIMATE },
	{ "choice.factor", TYPE_FACTOR },
	{ "choice.pages", TYPE_COUNT_OR_NULL },
	{ "choice.ci95", TYPE_INTERVAL },
	{ "choice.regret_worst", TYPE_NUMBER_OR_NULL },
	{ "choice.reason", TYPE_TEXT_OR_NULL },
	{ "raw.partial", TYPE_TRUTH },
	{ "raw.quick", TYPE_TRUTH },
	{ "raw.blocks", TYPE_INDEX },
	{ "raw.samples", TYPE_INDEX },
	{ "raw.drift", TYPE_NUMBER_OR_NULL },
	{ "raw.two_regimes", TYPE_TRUTH },
	{ "raw.calls", TYPE_CALLS },
	{ "raw.warnings", TYPE_TEXTS },
};

/* Not empty, and nothing in it that would move a terminal's cursor. */
static bool is_text(const json_t *value)
{
	const char *c = json_string_value(value);

	if (!c || !*c || strlen(c) != json_string_length(value))
		return false;
	for (; *c; c++)
		if (iscntrl((unsigned char)*c))
			return false;
	return true;
}

static bool is_date(const json_t *value)
{
	static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
	const char *text = json_string_value(value);
	size_t i;

	if (!text || json_string_length(value) != strlen(form))
		return false;
	for (i = 0; form[i]; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) :
				     text[i] != form[i])
			return false;
	return true;
}

static bool is_integer(const json_t *value, json_int_t min, json_int_t max)
{
	return json_is_integer(value) && json_integer_value(value) >= min &&
	       json_integer_value(value) <= max;
}

static bool is_number(const json_t *value)
{
	return json_is_null(value) || json_is_number(value);
}

static bool is_interval(const json_t *value)
{
	double lo = modeldb_number(json_array_get(value, 0));
	double hi = modeldb_number(json_array_get(value, 1));

	return json_is_null(value) || (json_array_size(value) == 2 && lo <= hi);
}

static bool is_estimate(const json_t *value)
{
	return is_number(json_object_get(value, "estimate")) &&
	       is_interval(json_object_get(value, "ci95"));
}

static bool is_texts(const json_t *value)
{
	size_t i;

	for (i = 0; i < json_array_size(value); i++)
		if (!is_text(json_array_get(value, i)))
			return false;
	return json_is_array(value);
}

static bool is_calls(const json_t *value)
{
	size_t i;

	for (i = 0; i < json_array_size(value); i++) {
		const json_t *call = json_array_get(value, i);

		if (!is_integer(json_object_get(call, "pages"), 1, INT32_MAX) ||
		    !is_integer(json_object_get(call, "n"), 1, INT32_MAX) ||
		    !is_number(json_object_get(call, "median")) ||
		    !is_number(json_object_get(call, "mad")))
			return false;
	}
	return json_is_array(value);
}

static bool has_type(const json_t *value, enum type type)
{
	switch (type) {
	case TYPE_TEXT:
		return is_text(value);
	case TYPE_TEXT_OR_NULL:
		return json_is_null(value) || is_text(value);
	case TYPE_DATE:
		return is_date(value);
	case TYPE_INDEX:
		return is_integer(value, 0, INT32_MAX);
	case TYPE_COUNT_OR_NULL:
		return json_is_null(value) || is_integer(value, 0, INT32_MAX);
	case TYPE_TRUTH:
		return json_is_boolean(value);
	case TYPE_TRUTH_OR_NULL:
		return json_is_null(value) || json_is_boolean(value);
	case TYPE_NUMBER_OR_NULL:
		return is_number(value);
	case TYPE_INTERVAL:
		return is_interval(value);
	case TYPE_ESTIMATE:
		return is_estimate(value);
	case TYPE_FACTOR:
		return json_is_null(value) || is_integer(value, -1, 63);
	case TYPE_TEXTS:
		return is_texts(value);
	case TYPE_CALLS:
		return is_calls(value);
	}
	return false;
}

int modeldb_check_machine(const json_t *machine, char **why)
{
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(*members); i++) {
		const char *path = members[i].path;

		if (strncmp(path, "identity.", 9) != 0 &&
		    strncmp(path, "condition.", 10) != 0)
			continue;
		if (!has_type(modeldb_at(machine, path), members[i].type))
			return why_set(why, 0,
				       "unknown machine: %s: expected %s", path,
				       expected[members[i].type]);
	}
	return 0;
}

int modeldb_check_record(const json_t *record, const char *name, char **why)
{
	const char *id = modeldb_text(record, "id");
	char *should;
	size_t i;
	int status = 0;

	for (i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (!has_type(modeldb_at(record, members[i].path),
			      members[i].type))
			return why_set(why, 0, "%s%s: expected %s", name,
				       members[i].path,
				       expected[members[i].type]);
	should = modeldb_id(json_object_get(record, "identity"),
			    json_object_get(record, "condition"));
	if (!should || strcmp(id, should) != 0)
		status = why_set(why, 0,
				 "%sid: expected '%s' by its identity and "
				 "condition, got '%s'",
				 name, should ? should : "", id);
	free(should);
	return status;
}

static int check_element(const json_t *records, size_t i, char **why)
{
	const json_t *record = json_array_get(records, i);
	char name[48];
	size_t j;

	snprintf(name, sizeof(name), "records[%zu].", i);
	if (modeldb_check_record(record, name, why) < 0)
		return -1;
	for (j = 0; j < i; j++)
		if (!strcmp(modeldb_text(json_array_get(records, j), "id"),
			    modeldb_text(record, "id")))
			return why_set(why, 0,
				       "%sid: expected each ID once, '%s' is "
				       "that of records[%zu] too",
				       name, modeldb_text(record, "id"), j);
	return 0;
}

int modeldb_check(const json_t *json, char **why)
{
	const json_t *schema = json_object_get(json, "schema");
	const json_t *records = json_object_get(json, "records");
	const char *kind = modeldb_text(json, "kind");
	size_t i;

	if (!kind || strcmp(kind, "tlbtune-cpus") != 0)
		return why_set(why, 0,
			       "kind: expected \"tlbtune-cpus\" (is this a "
			       "database of CPU models?)");
	if (!json_is_integer(schema))
		return why_set(why, 0, "schema: expected %d", MODELDB_SCHEMA);
	if (json_integer_value(schema) != MODELDB_SCHEMA)
		return why_set(why, 0,
			       "schema: expected %d, got %" JSON_INTEGER_FORMAT,
			       MODELDB_SCHEMA, json_integer_value(schema));
	if (!json_is_array(records))
		return why_set(why, 0, "records: expected an array");
	for (i = 0; i < json_array_size(records); i++)
		if (check_element(records, i, why) < 0)
			return -1;
	return 0;
}
