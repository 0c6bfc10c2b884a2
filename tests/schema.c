/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data/schema.json describes what is in data/ and what access, compare,
 * mprotect, shootdown, stale and tune print, every member of it; and what it is
 * checked with here can fail.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tap.h"
#include "validate.h"

/* $top_srcdir, $top_builddir, or the current directory for a run by hand. */
static const char *directory(const char *variable)
{
	const char *found = getenv(variable);

	return found ? found : ".";
}

/* A file of the source tree; NULL after a failed test. */
static json_t *load(const char *name)
{
	json_error_t at;
	json_t *json = NULL;
	char *path;

	if (asprintf(&path, "%s/%s", directory("top_srcdir"), name) >= 0) {
		json = json_load_file(path, JSON_REJECT_DUPLICATES, &at);
		if (!ok(json, "%s is JSON", name))
			diag("%s:%d: %s", path, at.line, at.text);
		free(path);
	}
	return json;
}

/* the validator ---------------------------------------------------------- */

/* One keyword against an instance that it accepts and one that it does not. */
static const struct {
	const char *schema, *good, *bad, *why;
} keywords[] = {
	{ "{'type': 'integer'}", "1", "1.5", "type" },
	{ "{'type': 'number'}", "1", "'1'", "type" },
	{ "{'type': 'boolean'}", "false", "0", "type" },
	{ "{'type': ['null', 'string']}", "null", "[]", "type" },
	{ "{'type': 'object'}", "{}", "[]", "type" },
	{ "{'type': 'array'}", "[]", "{}", "type" },
	{ "{'const': 1}", "1", "2", "expected 1" },
	{ "{'enum': [1, 'a', null]}", "null", "'b'", "one of" },
	{ "{'pattern': '^[0-9]+$'}", "'10'", "'1a'", "match" },
	{ "{'minimum': 3}", "3", "2.9", "minimum" },
	{ "{'maximum': 3}", "3", "3.1", "maximum" },
	{ "{'minLength': 1}", "'a'", "''", "minLength" },
	{ "{'minItems': 2}", "[1, 2]", "[1]", "minItems" },
	{ "{'maxItems': 1}", "[1]", "[1, 2]", "maxItems" },
	{ "{'items': {'type': 'null'}}", "[null]", "[null, 1]", "[1]:" },
	{ "{'items': [{'const': 1}, {'const': 2}]}", "[1, 2, 3]", "[1, 1]",
	  "[1]:" },
	{ "{'required': ['a']}", "{'a': null}", "{'b': 1}", "member a" },
	{ "{'properties': {'a': {'const': 1}}}", "{'a': 1, 'b': 2}", "{'a': 2}",
	  "a: expected 1" },
	{ "{'properties': {'a': {}}, 'additionalProperties': false}",
	  "{'a': 1}", "{'b': 1}", "b: expected no" },
	{ "{'additionalProperties': {'const': 1}}", "{'a': 1}", "{'a': 2}",
	  "a:" },
	{ "{'anyOf': [{'const': 1}, {'const': 2}]}", "2", "3", "none of 2" },
	{ "{'$ref': '#/definitions/one'}", "1", "2", "expected 1" },
	{ "{'properties': {'a': {'items': {'properties': {'b': {'const': 1}}}}}}",
	  "{'a': [{'b': 1}]}", "{'a': [{}, {'b': 2}]}", "a[1].b: expected 1" },
	/* faults of the schema */
	{ "{'description': 'any'}", "1", NULL, NULL },
	{ "{'$ref': '#/definitions/two'}", NULL, "1", "no #/definitions/two" },
	{ "{'requires': ['a']}", NULL, "{'a': 1}", "requires is not known" },
	{ "true", NULL, "1", "no object" },
};

/* JSON with ' for ". */
static json_t *parse(const char *text)
{
	char *quoted = strdup(text), *c;
	json_t *json;

	for (c = quoted; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(quoted, JSON_DECODE_ANY, NULL);
	free(quoted);
	return json;
}

static void try_keyword(const char *text, const char *instance_text,
			const char *wanted)
{
	json_t *schema = json_pack("{s:{s:o, s:{s:i}}}", "definitions", "it",
				   parse(text), "one", "const", 1);
	json_t *instance = parse(instance_text);
	char *why;
	int status = validate(schema, "it", instance, false, &why);

	ok(wanted ? status < 0 && strstr(why, wanted) : status == 0,
	   "%s against %s: %s", text, instance_text, why ? why : "good");
	free(why);
	json_decref(instance);
	json_decref(schema);
}

static void test_validator(void)
{
	json_t *schema, *instance;
	char *why;
	size_t i;

	for (i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
		if (keywords[i].good)
			try_keyword(keywords[i].schema, keywords[i].good, NULL);
		if (keywords[i].bad)
			try_keyword(keywords[i].schema, keywords[i].bad,
				    keywords[i].why);
	}
	schema = parse("{'definitions': {'it': {'properties': {'a': {}}}}}");
	instance = parse("{'a': 1, 'b': 2}");
	validate(schema, "it", instance, true, &why);
	ok(why && strstr(why, "b: not in the schema"),
	   "strict: a member that is not described");
	free(why);
	json_decref(schema);
	json_decref(instance);
}

/* the files -------------------------------------------------------------- */

/* That an instance is valid, with nothing in it that is not described. */
static void is_valid(const json_t *schema, const char *definition,
		     const json_t *instance, const char *name)
{
	char *why;

	if (!ok(validate(schema, definition, instance, true, &why) == 0,
		"%s is valid", name))
		diag("%s: %s (if the program is right, data/schema.json has "
		     "to follow)",
		     name, why);
	free(why);
}

/* Every table has rows as long as its header, and says where it is from. */
static void test_history(const json_t *history)
{
	const json_t *list = json_object_get(history, "measurements");
	size_t i, j;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		const json_t *rows = json_object_get(entry, "rows");
		const json_t *source = json_object_get(entry, "source");
		size_t width =
			json_array_size(json_object_get(entry, "columns"));
		bool even = json_array_size(rows) > 0;

		for (j = 0; j < json_array_size(rows); j++)
			even &= json_array_size(json_array_get(rows, j)) ==
				width;
		ok(even && (json_array_size(
				    json_object_get(source, "commits")) > 0 ||
			    json_is_string(
				    json_object_get(source, "message_id")) ||
			    json_is_string(json_object_get(source, "thread"))),
		   "%s: a table with a source",
		   json_string_value(json_object_get(entry, "id")));
	}
	ok(i > 0, "there are measurements");
}

/*
 * The shift that Linux had for a CPU, by the rows in their order: the last that
 * names it wins, as a default stands before what is more precise.
 */
static json_int_t shift(const json_t *history, const char *vendor, int family,
			int model, const char *column)
{
	const json_t *rows =
		json_object_get(json_object_get(history, "shift"), "rows");
	json_int_t general = -2, precise = -2;
	size_t i, j;

	for (i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const json_t *models = json_object_get(row, "models");
		const json_t *range = json_object_get(row, "family");
		const json_t *last = json_array_get(range, 1);
		json_int_t value =
			json_integer_value(json_object_get(row, column));
		const char *of =
			json_string_value(json_object_get(row, "vendor"));

		if (!of || strcmp(of, vendor) != 0)
			continue;
		if (json_is_array(range) &&
		    (family < json_integer_value(json_array_get(range, 0)) ||
		     (json_is_integer(last) &&
		      family > json_integer_value(last))))
			continue;
		if (json_is_null(models))
			general = value;
		for (j = 0; j < json_array_size(models); j++)
			if (json_integer_value(json_array_get(models, j)) ==
			    model)
				precise = value;
	}
	return precise > -2 ? precise : general;
}

/* What boot logs of the time show. */
static void test_shifts(const json_t *history)
{
	is_int(shift(history, "GenuineIntel", 6, 58, "linux_3_6"), 1,
	       "i7-3632QM, Linux 3.6");
	is_int(shift(history, "GenuineIntel", 6, 58, "linux_3_14"), 2,
	       "i7-3632QM, Linux 3.14");
	is_int(shift(history, "AuthenticAMD", 15, 75, "linux_3_6"), 4,
	       "Athlon 64 X2, Linux 3.6");
	is_int(shift(history, "GenuineIntel", 6, 30, "linux_3_6"), 6,
	       "i7 Q740, Linux 3.6");
	is_int(shift(history, "GenuineIntel", 6, 60, "linux_3_6"), 6,
	       "a model never listed has the default");
	is_int(shift(history, "GenuineIntel", 6, 23, "linux_3_14"), -1,
	       "never page by page");
	is_int(shift(history, "AuthenticAMD", 21, 2, "linux_3_6"), 5,
	       "AMD above family 0x11, Linux 3.6");
	is_int(shift(history, "AuthenticAMD", 21, 2, "linux_3_14"), 6,
	       "AMD above family 0x11, Linux 3.14");
}

static void test_data(const json_t *schema)
{
	json_t *cpus = load("data/cpus.json");
	json_t *history = load("data/history.json");

	is_valid(schema, "cpus", cpus, "data/cpus.json");
	is_valid(schema, "history", history, "data/history.json");
	test_history(history);
	test_shifts(history);
	json_decref(cpus);
	json_decref(history);
}

/* the reports ------------------------------------------------------------ */

/* What a shell command prints, and its exit status in *status. */
static json_t *run(const char *command, int *status)
{
	FILE *from = popen(command, "r");
	json_t *json = from ? json_loadf(from, JSON_REJECT_DUPLICATES, NULL) :
			      NULL;

	*status = from ? pclose(from) : -1;
	*status = WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
	return json;
}

static void report(const json_t *schema, const char *definition,
		   const char *command)
{
	int status;
	json_t *json = run(command, &status);

	if (status == 77) {
		skip(1, "cannot run here: %s", command);
	} else {
		ok(json && status <= 1, "%s", command);
		is_valid(schema, definition, json, command);
	}
	json_decref(json);
}

/* Wherever one member is missing or of another type, that is found. */
static void test_mutants(const json_t *schema)
{
	static const char *const members[] = {
		"schema", "program", "version", "date",	       "partial",
		"clock",  "tlb",     "fit",	"break_even",  "choice",
		"verify", "results", "record",	"environment",
	};
	int status;
	json_t *json = run("\"$top_builddir/tests/simulate\" | "
			   "\"$top_builddir/tune\" --from /dev/stdin "
			   "--format json",
			   &status);
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *mutant = json_copy(json);
		char *why, *other;

		json_object_del(mutant, members[i]);
		validate(schema, "tune", mutant, false, &why);
		ok(why && strstr(why, members[i]), "without %s: %s", members[i],
		   why ? why : "good");
		json_object_set_new(mutant, members[i], json_real(0.5));
		validate(schema, "tune", mutant, false, &other);
		ok(other, "%s of another type: %s", members[i],
		   other ? other : "good");
		free(why);
		free(other);
		json_decref(mutant);
	}
	json_decref(json);
}

static void test_reports(const json_t *schema)
{
	static const char *const kernels[] = { "seed=3",
					       "ceiling=0",
					       "ceiling=1000000",
					       "ceiling=2",
					       "empties=1 c_i=100 c_f=30",
					       "entries=0" };
	size_t i;

	report(schema, "access",
	       "\"$top_builddir/access\" --quick --format json");
	report(schema, "access",
	       "\"$top_builddir/tests/no-huge\" \"$top_builddir/access\" "
	       "--quick --pattern seq --pages-max 128 --format json");
	report(schema, "access_under",
	       "\"$top_builddir/access\" --under mprotect --quick "
	       "--format json");
	report(schema, "breakdown",
	       "\"$top_builddir/mprotect\" --breakdown --quick "
	       "--format json");
	report(schema, "mprotect",
	       "\"$top_builddir/mprotect\" --quick -t 0,1 --format json");
	report(schema, "mprotect",
	       "\"$top_builddir/mprotect\" -l 1 --format json");
	report(schema, "shootdown",
	       "\"$top_builddir/shootdown\" --quick --format json");
	report(schema, "shootdown",
	       "\"$top_builddir/shootdown\" --quick --blame -l 1 --format json");
	report(schema, "stale",
	       "\"$top_builddir/stale\" --seconds 1 --format json");
	report(schema, "stale",
	       "\"$top_builddir/stale\" --random 1 --format json");
	report(schema, "mprotect",
	       "\"$top_builddir/mprotect\" -l 9 --initiators 2 --mode both "
	       "--format json");
	report(schema, "mprotect",
	       "\"$top_builddir/munmap\" -l 9 -t 1 --format json");
	/* Without the right to trace there is nothing but the first. */
	report(schema, "mprotect",
	       "\"$top_builddir/munmap\" -l 9 -t 1 --trace --format json || "
	       "\"$top_builddir/munmap\" -l 9 -t 1 --format json");
	report(schema, "mprotect",
	       "\"$top_builddir/madvise\" -l 9 --advice free --format json");
	for (i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		char *command;

		if (asprintf(&command,
			     "\"$top_builddir/tests/simulate\" %s | "
			     "\"$top_builddir/tune\" --from /dev/stdin "
			     "--format json",
			     kernels[i]) < 0)
			continue;
		report(schema, "tune", command);
		free(command);
	}
	report(schema, "compare",
	       "cd \"${TMPDIR:-/tmp}\" && \"$top_builddir/tests/simulate\" "
	       ">simulated-$$.json && \"$top_builddir/tune\" --from "
	       "simulated-$$.json --format json -o simulated-$$.json && "
	       "\"$top_builddir/compare\" simulated-$$.json simulated-$$.json "
	       "--format json; rm -f simulated-$$.json");
	report(schema, "tune",
	       "\"$top_builddir/tune\" --quick --verify --format json");
	report(schema, "tune",
	       "cd \"${TMPDIR:-/tmp}\" && \"$top_builddir/tests/simulate\" "
	       "c_i=200 >simulated-$$.json && \"$top_builddir/tests/simulate\" | "
	       "\"$top_builddir/tune\" --from /dev/stdin --also "
	       "simulated-$$.json --format json; rm -f simulated-$$.json");
	report(schema, "tune",
	       "\"$top_builddir/tests/simulate\" | \"$top_builddir/tune\" "
	       "--from /dev/stdin --format json --workload -- sleep 0.3");
}

int main(void)
{
	json_t *schema = load("data/schema.json");

	setenv("top_builddir", directory("top_builddir"), 1);
	test_validator();
	test_data(schema);
	test_reports(schema);
	test_mutants(schema);
	json_decref(schema);
	return done();
}
