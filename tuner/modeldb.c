/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeldb.h"
#include "report.h"
#include "why.h"

#define AGREE 0.12 /* what two runs on one machine should keep within */

const char *const modeldb_level_name[] = {
	[MODELDB_NONE] = "none",
	[MODELDB_FAMILY] = "family",
	[MODELDB_MODEL] = "model",
};

json_t *modeldb_new(void)
{
	return json_pack("{s:i, s:s, s:[]}", "schema", MODELDB_SCHEMA, "kind",
			 "tlbtune-cpus", "records");
}

/* reading --------------------------------------------------------------- */

const json_t *modeldb_at(const json_t *json, const char *path)
{
	while (json) {
		size_t len = strcspn(path, ".");
		char *key = strndup(path, len);

		json = key ? json_object_get(json, key) : NULL;
		free(key);
		if (!path[len])
			return json;
		path += len + 1;
	}
	return NULL;
}

static const char *text_at(const json_t *json, const char *path)
{
	return json_string_value(modeldb_at(json, path));
}

static double number(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : NAN;
}

double modeldb_value(const json_t *record, const char *path)
{
	return number(json_object_get(modeldb_at(record, path), "estimate"));
}

/* An end of the interval of an {estimate, ci95}. */
static double end(const json_t *estimate, size_t which)
{
	return number(json_array_get(json_object_get(estimate, "ci95"), which));
}

/* IDs ------------------------------------------------------------------- */

/* Append text to *id, "-" before it; what is no letter or digit becomes "_". */
static void append(char **id, const char *text)
{
	char *longer = NULL, *c;

	if (*id && asprintf(&longer, "%s%s%s", *id, **id ? "-" : "", text) < 0)
		longer = NULL;
	if (longer)
		for (c = longer + strlen(*id) + (**id != '\0'); *c; c++)
			if (!isalnum((unsigned char)*c))
				*c = '_';
	free(*id);
	*id = longer;
}

static void append_number(char **id, const json_t *value)
{
	char text[24] = "unknown";

	if (json_is_integer(value))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(value));
	append(id, text);
}

/* The ID of an identity under a condition, malloc'ed; NULL on ENOMEM. */
static char *make_id(const json_t *identity, const json_t *condition)
{
	static const char *const features[] = { "pti", "pcid", "invpcid",
						"invlpgb" };
	const json_t *guest = json_object_get(condition, "guest");
	const json_t *pv = json_object_get(condition, "pv_tlb_flush");
	const char *core = text_at(identity, "core_type");
	const char *hypervisor = text_at(condition, "hypervisor");
	char *id = strdup("");
	size_t i;

	append(&id, text_at(identity, "vendor"));
	append_number(&id, json_object_get(identity, "family"));
	append_number(&id, json_object_get(identity, "model"));
	append_number(&id, json_object_get(identity, "stepping"));
	if (core)
		append(&id, core);
	if (json_is_true(guest))
		append(&id, hypervisor ? hypervisor : "guest");
	else
		append(&id, json_is_false(guest) ? "bare" : "anywhere");
	for (i = 0; i < sizeof(features) / sizeof(*features); i++) {
		const json_t *has = json_object_get(condition, features[i]);

		if (!json_is_boolean(has))
			append(&id, "maybe");
		if (!json_is_false(has))
			append(&id, features[i]);
	}
	/* Bare metal has nobody to ask. */
	if (json_is_true(guest) && !json_is_boolean(pv))
		append(&id, "maybe");
	if (json_is_true(guest) && !json_is_false(pv))
		append(&id, "pv");
	return id;
}

/* checking -------------------------------------------------------------- */

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
	double lo = number(json_array_get(value, 0));
	double hi = number(json_array_get(value, 1));

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

/* Of a record, called name in messages ("" or "records[3]."). */
static int check_record(const json_t *record, const char *name, char **why)
{
	const char *id = text_at(record, "id");
	char *should;
	size_t i;
	int status = 0;

	for (i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (!has_type(modeldb_at(record, members[i].path),
			      members[i].type))
			return why_set(why, 0, "%s%s: expected %s", name,
				       members[i].path,
				       expected[members[i].type]);
	should = make_id(json_object_get(record, "identity"),
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
	if (check_record(record, name, why) < 0)
		return -1;
	for (j = 0; j < i; j++)
		if (!strcmp(text_at(json_array_get(records, j), "id"),
			    text_at(record, "id")))
			return why_set(why, 0,
				       "%sid: expected each ID once, '%s' is "
				       "that of records[%zu] too",
				       name, text_at(record, "id"), j);
	return 0;
}

int modeldb_check(const json_t *json, char **why)
{
	const json_t *schema = json_object_get(json, "schema");
	const json_t *records = json_object_get(json, "records");
	const char *kind = text_at(json, "kind");
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

/* from a report --------------------------------------------------------- */

/* A new reference to what is at path; null where there is nothing. */
static json_t *copy(const json_t *json, const char *path)
{
	json_t *value = json_deep_copy(modeldb_at(json, path));

	return value ? value : json_null();
}

/*
 * x with 6 digits, which no timing exceeds: whoever reads the file should not
 * have to read 17.
 */
static json_t *rounded(double x)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", x);
	return report_number(strtod(text, NULL));
}

/* An {estimate, ci95}, from one with either under the name estimate. */
static json_t *estimate(const json_t *from, const char *name)
{
	json_t *ci95 = json_null();

	if (isfinite(end(from, 0)) && isfinite(end(from, 1)))
		ci95 = json_pack("[o, o]", rounded(end(from, 0)),
				 rounded(end(from, 1)));
	return json_pack("{s:o, s:o}", "estimate",
			 rounded(number(json_object_get(from, name))), "ci95",
			 ci95);
}

json_t *modeldb_machine(const json_t *environment, char **why)
{
	json_t *identity = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "vendor",
				     copy(environment, "cpu.vendor"), "brand",
				     copy(environment, "cpu.brand"), "family",
				     copy(environment, "cpu.family"), "model",
				     copy(environment, "cpu.model"), "stepping",
				     copy(environment, "cpu.stepping"),
				     "core_type",
				     copy(environment, "cpu.core_type"));
	json_t *condition = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "guest",
		copy(environment, "hypervisor.present"), "hypervisor",
		copy(environment, "hypervisor.signature"), "pti",
		copy(environment, "pti"), "pcid", copy(environment, "pcid"),
		"invpcid", copy(environment, "invpcid"), "invlpgb",
		copy(environment, "invlpgb"), "pv_tlb_flush",
		copy(environment, "hypervisor.pv_tlb_flush"));
	json_t *machine = json_pack("{s:s, s:o, s:o}", "id", "", "identity",
				    identity, "condition", condition);
	char *id;
	size_t i;

	for (i = 0; machine && i < sizeof(members) / sizeof(*members); i++) {
		const char *path = members[i].path;

		if (strncmp(path, "identity.", 9) != 0 &&
		    strncmp(path, "condition.", 10) != 0)
			continue;
		if (has_type(modeldb_at(machine, path), members[i].type))
			continue;
		why_set(why, 0, "unknown machine: %s: expected %s", path,
			expected[members[i].type]);
		json_decref(machine);
		return NULL;
	}
	id = machine ? make_id(identity, condition) : NULL;
	if (!id || json_object_set_new(machine, "id", json_string(id)) < 0) {
		json_decref(machine);
		machine = NULL;
		*why = strdup("out of memory");
	}
	free(id);
	return machine;
}

/* The break-even of a pattern at MODELDB_WORKING_SET, or NULL. */
static const json_t *set_of(const json_t *report, const char *pattern)
{
	const json_t *list = json_object_get(report, "break_even");
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *set = json_array_get(list, i);

		if (number(json_object_get(set, "working_set")) ==
			    MODELDB_WORKING_SET &&
		    !strcmp(text_at(set, "pattern"), pattern))
			return set;
	}
	return NULL;
}

/* A quantity of the working set by pattern; member NULL: its break-even. */
static json_t *by_pattern(const json_t *report, const char *member)
{
	json_t *json = json_pack("{s:i}", "working_set", MODELDB_WORKING_SET);
	int i;

	for (i = 0; i < PATTERNS; i++) {
		const json_t *set = set_of(report, pattern_name[i]);

		json_object_set_new(
			json, pattern_name[i],
			member ? estimate(json_object_get(set, member),
					  "estimate") :
				 estimate(set, "pages"));
	}
	return json;
}

static json_t *choice(const json_t *report)
{
	const json_t *from = json_object_get(report, "choice");

	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o}", "factor", copy(from, "factor"),
		"pages", copy(from, "pages"), "ci95", copy(from, "ci95"),
		"regret_worst",
		rounded(number(modeldb_at(from, "regret_choice.worst"))),
		"reason", copy(from, "reason"));
}

/* The calls of the fewest and most pages, and on both sides of the ceiling. */
static json_t *calls(const json_t *report)
{
	const json_t *results = json_object_get(report, "results");
	double ceiling = modeldb_value(report, "fit.ceiling");
	const json_t *chosen[4] = { NULL };
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < json_array_size(results); i++) {
		const json_t *call = json_array_get(results, i);
		double pages = number(json_object_get(call, "pages"));

		if (!isfinite(pages))
			continue;
		if (!chosen[0])
			chosen[0] = call;
		if (pages <= ceiling && call != chosen[0])
			chosen[1] = call;
		if (pages > ceiling && !chosen[2])
			chosen[2] = call;
		else
			chosen[3] = call;
	}
	if (chosen[3] == chosen[0] || chosen[3] == chosen[1])
		chosen[3] = NULL;
	for (i = 0; i < 4; i++)
		if (chosen[i])
			json_array_append_new(
				list,
				json_pack("{s:o, s:o, s:o, s:o}", "pages",
					  copy(chosen[i], "pages"), "n",
					  copy(chosen[i], "n"), "median",
					  rounded(number(modeldb_at(chosen[i],
								    "median"))),
					  "mad",
					  rounded(number(modeldb_at(chosen[i],
								    "mad")))));
	return list;
}

/* How many calls were timed, in all blocks. */
static json_int_t samples(const json_t *report)
{
	const json_t *points = modeldb_at(report, "record.op");
	json_int_t sum = 0;
	size_t i;

	for (i = 0; i < json_array_size(points); i++)
		sum += json_integer_value(
			json_array_get(json_array_get(points, i), 2));
	return sum;
}

static json_t *raw(const json_t *report)
{
	json_t *warnings = copy(report, "environment.warnings");

	if (json_is_null(warnings))
		warnings = json_array();
	return json_pack("{s:b, s:b, s:o, s:I, s:o, s:b, s:o, s:o}", "partial",
			 json_is_true(json_object_get(report, "partial")),
			 "quick",
			 json_is_true(modeldb_at(report, "options.quick")),
			 "blocks", copy(report, "fit.blocks"), "samples",
			 samples(report), "drift",
			 rounded(number(modeldb_at(report, "fit.c_i_drift"))),
			 "two_regimes",
			 json_is_object(modeldb_at(report, "fit.c_i_regimes")),
			 "calls", calls(report), "warnings", warnings);
}

static json_t *ceiling(const json_t *report)
{
	double pages = modeldb_value(report, "fit.ceiling");

	return isfinite(pages) ? json_integer((json_int_t)pages) : json_null();
}

/* Append what was measured to record. 0 or -1. */
static int add_measured(json_t *record, const json_t *report)
{
	static const char *const costs[] = { "a", "b", "c_i", "c_f" };
	const json_t *fit = json_object_get(report, "fit");
	int failed;
	size_t i;

	failed = json_object_set_new(
		record, "kernel", copy(report, "environment.kernel.release"));
	failed |= json_object_set_new(
		record, "microcode", copy(report, "environment.cpu.microcode"));
	failed |=
		json_object_set_new(record, "version", copy(report, "version"));
	failed |= json_object_set_new(record, "date", copy(report, "date"));
	failed |= json_object_set_new(
		record, "entries",
		estimate(modeldb_at(report, "tlb.last_level_entries"),
			 "estimate"));
	failed |= json_object_set_new(record, "ceiling", ceiling(report));
	for (i = 0; i < sizeof(costs) / sizeof(*costs); i++)
		failed |= json_object_set_new(
			record, costs[i],
			estimate(json_object_get(fit, costs[i]), "estimate"));
	failed |= json_object_set_new(record, "page_flush_empties_tlb",
				      copy(fit, "page_flush_empties_tlb"));
	failed |= json_object_set_new(record, "r",
				      by_pattern(report, "refill_ns_per_page"));
	failed |= json_object_set_new(record, "break_even",
				      by_pattern(report, NULL));
	failed |= json_object_set_new(record, "choice", choice(report));
	failed |= json_object_set_new(record, "raw", raw(report));
	return failed ? -1 : 0;
}

json_t *modeldb_record(const json_t *report, char **why)
{
	json_t *record =
		modeldb_machine(json_object_get(report, "environment"), why);

	if (!record)
		return NULL;
	*why = NULL;
	if (add_measured(record, report) < 0)
		*why = strdup("out of memory");
	else if (isnan(modeldb_value(record, "c_i")) &&
		 isnan(modeldb_value(record, "entries")))
		*why = strdup("fit: expected costs, or entries of the TLB: "
			      "nothing was measured");
	else if (check_record(record, "", why) == 0)
		return record;
	json_decref(record);
	return NULL;
}

/* which is better ------------------------------------------------------- */

/* Width of the interval over the size of the value, which is at least 1. */
static double relative_width(const json_t *estimate)
{
	double value = number(json_object_get(estimate, "estimate"));
	double width = end(estimate, 1) - end(estimate, 0);

	if (!isfinite(value) || !isfinite(width))
		return INFINITY;
	return width / fmax(fabs(value), 1);
}

double modeldb_doubt(const json_t *record)
{
	double c_i = relative_width(json_object_get(record, "c_i"));
	double pages = relative_width(modeldb_at(record, "break_even.chase"));
	size_t warnings = json_array_size(modeldb_at(record, "raw.warnings"));

	return fmax(c_i, pages) * (1 + (double)warnings);
}

int modeldb_compare(const json_t *a, const json_t *b, const char **why)
{
	static const struct {
		const char *path, *why;
	} flaws[] = {
		{ "raw.partial", "the other run was interrupted" },
		{ "raw.quick", "the other run was a --quick one" },
	};
	double doubt_a = modeldb_doubt(a), doubt_b = modeldb_doubt(b);
	size_t i;

	for (i = 0; i < sizeof(flaws) / sizeof(*flaws); i++) {
		int better = json_is_true(modeldb_at(b, flaws[i].path)) -
			     json_is_true(modeldb_at(a, flaws[i].path));

		*why = flaws[i].why;
		if (better)
			return better;
	}
	if (doubt_a == doubt_b) {
		*why = "both are as sure";
		return 0;
	}
	*why = "it has narrower intervals or fewer warnings";
	return doubt_a < doubt_b ? 1 : -1;
}

/* merging --------------------------------------------------------------- */

json_t *modeldb_get(const json_t *db, const char *id)
{
	const json_t *records = json_object_get(db, "records");
	size_t i;

	for (i = 0; i < json_array_size(records); i++) {
		json_t *record = json_array_get(records, i);

		if (!strcmp(text_at(record, "id"), id))
			return record;
	}
	return NULL;
}

/* In the order of the IDs, so that files can be compared line by line. */
static int insert(json_t *records, json_t *record)
{
	size_t i;

	for (i = 0; i < json_array_size(records); i++)
		if (strcmp(text_at(json_array_get(records, i), "id"),
			   text_at(record, "id")) > 0)
			break;
	return json_array_insert(records, i, record);
}

int modeldb_merge(json_t *db, const json_t *record,
		  enum modeldb_verdict *verdict, const char **why)
{
	json_t *old = modeldb_get(db, text_at(record, "id"));
	json_t *new;
	int failed;

	*why = "this machine was not in it";
	*verdict = MODELDB_ADDED;
	if (old && json_equal(old, record)) {
		*why = "this very record is in it";
		*verdict = MODELDB_SAME;
		return 0;
	}
	if (old && modeldb_compare(record, old, why) <= 0) {
		*verdict = MODELDB_KEPT;
		return 0;
	}
	new = json_deep_copy(record);
	if (!new)
		return -1;
	if (!old) {
		failed = insert(json_object_get(db, "records"), new);
	} else {
		*verdict = MODELDB_REPLACED;
		failed = json_object_update_missing(new, old);
		if (!failed)
			failed = json_object_clear(old);
		if (!failed)
			failed = json_object_update(old, new);
	}
	json_decref(new);
	return failed ? -1 : 0;
}

/* looking up ------------------------------------------------------------ */

/* The same value of one member, unknown being a value like others. */
static bool same(const json_t *a, const json_t *b, const char *path)
{
	return json_equal(modeldb_at(a, path), modeldb_at(b, path));
}

static enum modeldb_level level(const json_t *record, const json_t *machine)
{
	if (!same(record, machine, "condition") ||
	    !same(record, machine, "identity.vendor") ||
	    !same(record, machine, "identity.family") ||
	    !same(record, machine, "identity.core_type"))
		return MODELDB_NONE;
	return same(record, machine, "identity.model") ? MODELDB_MODEL :
							 MODELDB_FAMILY;
}

/* How far apart two records' machines are at the same level. */
static double distance(const json_t *record, const json_t *machine,
		       const char *path)
{
	return fabs(number(modeldb_at(record, path)) -
		    number(modeldb_at(machine, path)));
}

/* True if a is nearer to the machine than b, both being of the same level. */
static bool is_nearer(const json_t *a, const json_t *b, const json_t *machine)
{
	static const char *const paths[] = { "identity.model",
					     "identity.stepping" };
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		double of_a = distance(a, machine, paths[i]);
		double of_b = distance(b, machine, paths[i]);

		if (of_a != of_b)
			return of_a < of_b;
	}
	return modeldb_compare(a, b, &why) > 0;
}

enum modeldb_level modeldb_find(const json_t *db, const json_t *machine,
				const json_t **record)
{
	const json_t *records = json_object_get(db, "records");
	enum modeldb_level best = MODELDB_NONE;
	size_t i;

	*record = NULL;
	if (!json_is_boolean(modeldb_at(machine, "condition.guest")) ||
	    !json_is_boolean(modeldb_at(machine, "condition.pti")))
		return MODELDB_NONE;
	for (i = 0; i < json_array_size(records); i++) {
		const json_t *candidate = json_array_get(records, i);
		enum modeldb_level of = level(candidate, machine);

		if (of < best || of == MODELDB_NONE)
			continue;
		if (of > best || is_nearer(candidate, *record, machine))
			*record = candidate;
		best = of;
	}
	return best;
}

bool modeldb_agree(const json_t *a, const json_t *b)
{
	double of_a = number(json_object_get(a, "estimate"));
	double of_b = number(json_object_get(b, "estimate"));

	if (end(a, 0) <= end(b, 1) && end(b, 0) <= end(a, 1))
		return true;
	return fabs(of_a - of_b) <=
	       AGREE * fmax(fmax(fabs(of_a), fabs(of_b)), 1);
}
