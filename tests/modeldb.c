/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The database of CPU models: merging keeps the better of two measurements in
 * any order, look-up crosses no condition, and what is checked by hand is what
 * data/schema.json says.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "modeldb.h"
#include "tap.h"
#include "validate.h"

static json_t *parse(const char *text)
{
	json_error_t at;
	json_t *json = json_loads(text, JSON_DECODE_ANY, &at);

	if (!json)
		diag("%s: %s", at.text, text);
	return json;
}

/* The environment of a machine, as in a report. */
static json_t *environment(int model, int stepping, const char *hypervisor,
			   int pti)
{
	return json_pack(
		"{s:{s:s, s:s, s:i, s:i, s:i, s:n, s:s, s:i}, s:{s:s}, s:b, "
		"s:b, s:b, s:b, s:{s:b, s:s?, s:o}, s:[]}",
		"cpu", "vendor", "GenuineIntel", "brand", "Some CPU", "family",
		6, "model", model, "stepping", stepping, "core_type",
		"microcode", "0x1", "number", 0, "kernel", "release", "6.12",
		"pti", pti, "pcid", 1, "invpcid", 1, "invlpgb", 0, "hypervisor",
		"present", hypervisor != NULL, "signature", hypervisor,
		"pv_tlb_flush", hypervisor ? json_true() : json_null(),
		"warnings");
}

static json_t *estimate(double x, double half)
{
	return json_pack("{s:f, s:[f, f]}", "estimate", x, "ci95", x - half,
			 x + half);
}

static json_t *set(const char *pattern, double pages, double half)
{
	return json_pack("{s:i, s:s, s:f, s:[f, f], s:o}", "working_set", 256,
			 "pattern", pattern, "pages", pages, "ci95",
			 pages - half, pages + half, "refill_ns_per_page",
			 estimate(10, 1));
}

/* A report of tune as far as a record needs it; takes environment over. */
static json_t *report_of(json_t *environment, double c_i, double half)
{
	return json_pack(
		"{s:i, s:s, s:s, s:s, s:b, s:{s:b}, s:o, s:{s:o}, s:{s:o, "
		"s:i, s:o, s:o, s:o, s:o, s:f, s:n, s:b}, s:[o, o, o], s:{s:i, "
		"s:i, s:[f, f], s:{s:f}}, s:[{s:s, s:i, s:i, s:f, s:f}], "
		"s:{s:[[i, i, i, f], [i, i, i, f]]}}",
		"schema", 1, "program", "tune", "version", "0.1", "date",
		"2026-01-31T12:00:00Z", "partial", 0, "options", "quick", 0,
		"environment", environment, "tlb", "last_level_entries",
		estimate(2048, 20), "fit", "ceiling", estimate(33, 0), "blocks",
		20, "a", estimate(1000, 10), "b", estimate(15, 1), "c_i",
		estimate(c_i, half), "c_f", estimate(215, 5), "c_i_drift", 0.01,
		"c_i_regimes", "page_flush_empties_tlb", 0, "break_even",
		set("seq", 20, 1), set("random", 21, 1), set("chase", 70, half),
		"choice", "factor", 5, "pages", 64, "ci95", 60.0, 70.0,
		"regret_choice", "worst", 0.5, "results", "what", "call",
		"pages", 1, "n", 20, "median", 1015.0, "mad", 3.0, "record",
		"op", 0, 1, 40, 1000.0, 1, 1, 2, 1000.0);
}

static json_t *record_of(json_t *environment, double c_i, double half)
{
	json_t *report = report_of(environment, c_i, half);
	char *why = NULL;
	json_t *record = modeldb_record(report, &why);

	if (!record)
		diag("no record: %s", why ? why : "no reason");
	free(why);
	json_decref(report);
	return record;
}

/* A database of n records, which are taken over. */
static json_t *db_of(size_t n, json_t **records)
{
	json_t *db = modeldb_new();
	enum modeldb_verdict verdict;
	const char *why;
	size_t i;

	for (i = 0; i < n; i++) {
		modeldb_merge(db, records[i], &verdict, &why);
		json_decref(records[i]);
	}
	return db;
}

/* records ----------------------------------------------------------------- */

static void test_record(void)
{
	json_t *record = record_of(environment(167, 1, "KVMKVMKVM", 0), 40, 1);
	json_t *report, *none;
	char *why = NULL;

	is_string(json_string_value(modeldb_at(record, "id")),
		  "GenuineIntel-6-167-1-KVMKVMKVM-pcid-invpcid-pv",
		  "the ID says what it is");
	is_double(modeldb_value(record, "c_i"), 40, 0, "c_i");
	is_double(modeldb_value(record, "entries"), 2048, 0, "E");
	is_double(modeldb_value(record, "break_even.chase"), 70, 0, "n*(256)");
	is_int(json_integer_value(modeldb_at(record, "raw.samples")), 42,
	       "all calls are counted");
	is_int((int)json_array_size(modeldb_at(record, "raw.calls")), 1,
	       "one size is one call");
	is_int(json_integer_value(modeldb_at(record, "choice.factor")), 5,
	       "the factor");
	json_decref(record);

	report = report_of(environment(167, 1, NULL, 0), 123.456789012, 1);
	record = modeldb_record(report, &why);
	is_double(modeldb_value(record, "c_i"), 123.457, 0, "6 digits");
	is_string(json_string_value(modeldb_at(record, "id")),
		  "GenuineIntel-6-167-1-bare-pcid-invpcid", "bare metal");
	json_decref(record);
	json_object_set_new(report, "environment", json_object());
	none = modeldb_record(report, &why);
	ok(!none && why && strstr(why, "identity.vendor"),
	   "a machine that is not known: %s", why ? why : "");
	free(why);
	json_object_set_new(report, "environment",
			    environment(167, 1, NULL, 0));
	json_object_set_new(report, "fit", json_pack("{s:i}", "blocks", 0));
	json_object_set_new(report, "tlb", json_object());
	none = modeldb_record(report, &why);
	ok(!none && why && strstr(why, "nothing was measured"),
	   "nothing measured: %s", why ? why : "");
	free(why);
	json_decref(report);
}

/* Every part of the condition, and of the identity, is another machine. */
static void test_ids(void)
{
	static const char *const changes[][2] = {
		{ "cpu", "{\"vendor\": \"AuthenticAMD\"}" },
		{ "cpu", "{\"family\": 7}" },
		{ "cpu", "{\"model\": 9}" },
		{ "cpu", "{\"stepping\": 9}" },
		{ "cpu", "{\"core_type\": \"efficiency\"}" },
		{ "", "{\"pti\": true}" },
		{ "", "{\"pti\": null}" },
		{ "", "{\"pcid\": false}" },
		{ "", "{\"pcid\": null}" },
		{ "", "{\"invpcid\": false}" },
		{ "", "{\"invlpgb\": true}" },
		{ "", "{\"invlpgb\": null}" },
		{ "hypervisor", "{\"present\": false}" },
		{ "hypervisor", "{\"present\": null}" },
		{ "hypervisor", "{\"signature\": null}" },
		{ "hypervisor", "{\"signature\": \"Microsoft Hv\"}" },
		{ "hypervisor", "{\"pv_tlb_flush\": false}" },
		{ "hypervisor", "{\"pv_tlb_flush\": null}" },
	};
	size_t n = sizeof(changes) / sizeof(*changes), i, j;
	json_t *ids = json_array();
	bool distinct = true;

	for (i = 0; i <= n; i++) {
		json_t *env = environment(167, 1, "KVMKVMKVM", 0);
		json_t *change = i < n ? parse(changes[i][1]) : json_object();
		const char *where = i < n ? changes[i][0] : "";
		char *why = NULL;
		json_t *machine;

		json_object_update(*where ? json_object_get(env, where) : env,
				   change);
		machine = modeldb_machine(env, &why);
		json_array_append(ids, json_object_get(machine, "id"));
		json_decref(machine);
		json_decref(change);
		json_decref(env);
		free(why);
	}
	for (i = 0; i <= n; i++)
		for (j = 0; j < i; j++)
			if (json_equal(json_array_get(ids, i),
				       json_array_get(ids, j))) {
				diag("%s twice",
				     json_string_value(json_array_get(ids, i)));
				distinct = false;
			}
	ok(json_array_size(ids) == n + 1 && distinct,
	   "every condition has an ID of its own");
	json_decref(ids);
}

/* checking ---------------------------------------------------------------- */

/* The schema, or NULL. */
static json_t *load_schema(void)
{
	const char *top = getenv("top_srcdir");
	json_t *schema = NULL;
	char *path;

	if (asprintf(&path, "%s/data/schema.json", top ? top : ".") >= 0) {
		schema = json_load_file(path, 0, NULL);
		free(path);
	}
	return schema;
}

/*
 * modeldb_check and the schema must judge alike; the check may refuse more (it
 * knows that low <= high and what an ID follows from), and never less.
 */
static void judge(const json_t *schema, const json_t *db, bool good,
		  const char *name)
{
	char *check_why = NULL, *schema_why = NULL;
	bool checked = modeldb_check(db, &check_why) == 0;
	bool valid = validate(schema, "cpus", db, false, &schema_why) == 0;

	if (!ok(checked == good && valid == good, "%s is %s", name,
		good ? "good" : "refused by both"))
		diag("check: %s; schema: %s", check_why ? check_why : "good",
		     schema_why ? schema_why : "good");
	free(check_why);
	free(schema_why);
}

/* Take away, and give another type to, each member below *json in turn. */
static void mutate(const json_t *schema, json_t *db, json_t *json,
		   const char *name)
{
	json_t *keys = json_array();
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach(json, key, value)
		json_array_append_new(keys, json_string(key));
	for (i = 0; i < json_array_size(keys); i++) {
		char *path;

		key = json_string_value(json_array_get(keys, i));
		value = json_incref(json_object_get(json, key));
		if (asprintf(&path, "%s.%s", name, key) < 0)
			return;
		json_object_del(json, key);
		judge(schema, db, false, path);
		json_object_set_new(json, key, parse("[[false]]"));
		judge(schema, db, false, path);
		json_object_set_new(json, key, parse("-2.5"));
		/* a number is right in three places */
		if (!strstr(path, "estimate") && !strstr(path, "drift") &&
		    !strstr(path, "regret"))
			judge(schema, db, false, path);
		json_object_set(json, key, value);
		if (json_is_object(value))
			mutate(schema, db, value, path);
		json_decref(value);
		free(path);
	}
	json_decref(keys);
}

/* One change to a record that only modeldb_check can see. */
static void refuses(const char *path, const char *value, const char *names)
{
	json_t *records[] = { record_of(environment(1, 1, NULL, 0), 40, 1) };
	json_t *db = db_of(1, records), *parent;
	char *why = NULL, *copy = strdup(path);
	char *dot = strrchr(copy, '.');

	parent = json_array_get(json_object_get(db, "records"), 0);
	if (dot) {
		*dot = '\0';
		parent = (json_t *)modeldb_at(parent, copy);
	}
	json_object_set_new(parent, dot ? dot + 1 : copy, parse(value));
	modeldb_check(db, &why);
	ok(why && strstr(why, names), "%s = %s is refused: %s", path, value,
	   why ? why : "good");
	free(copy);
	free(why);
	json_decref(db);
}

static void test_check(void)
{
	json_t *schema = load_schema();
	json_t *records[] = {
		record_of(environment(167, 1, "KVMKVMKVM", 0), 40, 1),
	};
	json_t *db = db_of(1, records), *element;
	char *why = NULL;

	judge(schema, db, true, "a database");
	element = json_array_get(json_object_get(db, "records"), 0);
	mutate(schema, db, element, "record");
	judge(schema, db, true, "... put together again");
	json_object_set_new(element, "new", parse("{\"a\": [1]}"));
	judge(schema, db, true, "a member of a later version");
	json_object_set_new(db, "schema", json_integer(2));
	judge(schema, db, false, "another schema");
	json_object_set_new(db, "schema", json_integer(1));
	json_array_append_new(json_object_get(db, "records"),
			      json_deep_copy(element));
	modeldb_check(db, &why);
	ok(why && strstr(why, "records[1].id") && strstr(why, "records[0]"),
	   "an ID twice: %s", why ? why : "good");
	free(why);
	json_decref(db);
	db = modeldb_new();
	judge(schema, db, true, "an empty database");
	json_decref(db);
	json_decref(schema);

	refuses("id", "\"GenuineIntel\"", "expected 'GenuineIntel-6-1-1");
	refuses("condition.pti", "true", "records[0].id");
	refuses("c_i.ci95", "[2, 1]", "c_i: expected");
	refuses("kernel", "\"6.12\\u001b[2J\"", "kernel: expected printable");
	refuses("raw.warnings", "[\"a\\nb\"]", "raw.warnings");
	refuses("identity.vendor", "\"\"", "identity.vendor");
	refuses("date", "\"yesterday\"", "date: expected");
	refuses("choice.factor", "64", "choice.factor");
	refuses("identity.family", "1e300", "identity.family");
	refuses("raw.samples", "99999999999", "raw.samples");
}

/* merging ----------------------------------------------------------------- */

/* A record of one machine that differs in how good it is, by its bits. */
static json_t *candidate(unsigned int bits)
{
	json_t *record = record_of(environment(1, 1, NULL, 0), 40 + bits,
				   bits & 1 ? 4 : 1);
	json_t *raw = json_object_get(record, "raw");

	json_object_set_new(raw, "quick", json_boolean(bits & 2));
	json_object_set_new(raw, "partial", json_boolean(bits & 4));
	if (bits & 8)
		json_object_set_new(raw, "warnings",
				    parse("[\"steal 3 % of CPU 0\"]"));
	return record;
}

static void test_compare(void)
{
	static const struct {
		unsigned int better, worse;
		const char *name;
	} pairs[] = {
		{ 0, 1, "narrower intervals" },
		{ 0, 2, "not --quick" },
		{ 0, 4, "not interrupted" },
		{ 0, 8, "no warnings" },
		{ 1, 2, "wide but not --quick" },
		{ 2, 4, "--quick but whole" },
		{ 1 | 8, 2, "noisy but not --quick" },
		{ 8, 1,
		  "a warning does not outweigh an interval 4 times as "
		  "wide" },
	};
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		json_t *better = candidate(pairs[i].better);
		json_t *worse = candidate(pairs[i].worse);
		const char *why;

		ok(modeldb_compare(better, worse, &why) > 0 &&
			   modeldb_compare(worse, better, &why) < 0 &&
			   modeldb_compare(better, better, &why) == 0,
		   "%s", pairs[i].name);
		json_decref(better);
		json_decref(worse);
	}
}

/* In whatever order 16 records come, the same one is left. */
static void test_order(void)
{
	unsigned int order, k, wrong = 0;

	for (order = 0; order < 200; order++) {
		json_t *db = modeldb_new();
		unsigned int step = 2 * (order % 8) + 1, start = order / 8;

		for (k = 0; k < 16; k++) {
			json_t *record = candidate((start + k * step) % 16);
			enum modeldb_verdict verdict;
			const char *why;

			modeldb_merge(db, record, &verdict, &why);
			json_decref(record);
		}
		wrong += json_array_size(json_object_get(db, "records")) != 1 ||
			 modeldb_value(
				 json_array_get(json_object_get(db, "records"),
						0),
				 "c_i") != 40;
		json_decref(db);
	}
	is_int(wrong, 0, "the best of 16 is left, in any of 200 orders");
}

static void test_merge(void)
{
	json_t *db = modeldb_new();
	json_t *good = candidate(0), *bad = candidate(1), *before;
	json_t *records = json_object_get(db, "records");
	enum modeldb_verdict verdict;
	const char *why;
	json_t *other;

	json_object_set_new(bad, "note", json_string("by hand"));
	modeldb_merge(db, bad, &verdict, &why);
	is_int(verdict, MODELDB_ADDED, "new: added");
	modeldb_merge(db, bad, &verdict, &why);
	is_int(verdict, MODELDB_SAME, "again: the same");
	modeldb_merge(db, good, &verdict, &why);
	is_int(verdict, MODELDB_REPLACED, "better: replaces");
	is_double(modeldb_value(json_array_get(records, 0), "c_i"), 40, 0,
		  "... the costs");
	is_string(json_string_value(
			  modeldb_at(json_array_get(records, 0), "note")),
		  "by hand", "... and keeps a member that it does not know");
	before = json_deep_copy(db);
	modeldb_merge(db, bad, &verdict, &why);
	is_int(verdict, MODELDB_KEPT, "worse: the better is kept");
	ok(json_equal(db, before), "... untouched");
	json_decref(before);

	other = record_of(environment(1, 1, "KVMKVMKVM", 0), 50, 9);
	modeldb_merge(db, other, &verdict, &why);
	is_int(verdict, MODELDB_ADDED, "another condition: both are kept");
	json_decref(other);
	other = record_of(environment(0, 1, NULL, 0), 50, 9);
	modeldb_merge(db, other, &verdict, &why);
	is_double(modeldb_value(json_array_get(records, 0), "c_i"), 50, 0,
		  "sorted by ID");
	json_decref(other);
	json_decref(good);
	json_decref(bad);
	json_decref(db);
}

/* looking up -------------------------------------------------------------- */

static void find(const json_t *db, json_t *env, enum modeldb_level level,
		 double c_i, const char *name)
{
	char *why = NULL;
	json_t *machine = modeldb_machine(env, &why);
	const json_t *record;

	is_string(modeldb_level_name[modeldb_find(db, machine, &record)],
		  modeldb_level_name[level], "%s: %s", name,
		  modeldb_level_name[level]);
	is_double(modeldb_value(record, "c_i"), c_i, 0, "%s: the record", name);
	free(why);
	json_decref(machine);
	json_decref(env);
}

static void test_find(void)
{
	json_t *records[] = {
		record_of(environment(100, 1, NULL, 0), 1, 1),
		record_of(environment(100, 3, NULL, 0), 2, 1),
		record_of(environment(140, 1, NULL, 0), 3, 1),
		record_of(environment(100, 1, "KVMKVMKVM", 0), 4, 1),
		record_of(environment(100, 1, NULL, 1), 5, 1),
	};
	json_t *db = db_of(5, records), *env;

	find(db, environment(100, 1, NULL, 0), MODELDB_MODEL, 1, "itself");
	find(db, environment(100, 3, NULL, 0), MODELDB_MODEL, 2, "a stepping");
	find(db, environment(100, 4, NULL, 0), MODELDB_MODEL, 2,
	     "the nearest stepping");
	find(db, environment(130, 1, NULL, 0), MODELDB_FAMILY, 3,
	     "the nearest model");
	find(db, environment(110, 3, NULL, 0), MODELDB_FAMILY, 2,
	     "the nearest model, stepping second");
	find(db, environment(100, 1, "KVMKVMKVM", 0), MODELDB_MODEL, 4,
	     "a guest");
	find(db, environment(140, 1, "KVMKVMKVM", 0), MODELDB_FAMILY, 4,
	     "a guest takes no bare-metal record of its model");
	find(db, environment(100, 1, "Microsoft Hv", 0), MODELDB_NONE, NAN,
	     "another hypervisor");
	find(db, environment(140, 1, NULL, 1), MODELDB_FAMILY, 5, "PTI");
	find(db, environment(100, 1, "KVMKVMKVM", 1), MODELDB_NONE, NAN,
	     "PTI in a guest");
	env = environment(100, 1, NULL, 0);
	json_object_set_new(env, "pti", json_null());
	find(db, env, MODELDB_NONE, NAN, "PTI unknown");
	env = environment(100, 1, NULL, 0);
	json_object_set_new(json_object_get(env, "cpu"), "core_type",
			    json_string("efficiency"));
	find(db, env, MODELDB_NONE, NAN, "another type of core");
	env = environment(100, 1, NULL, 0);
	json_object_set_new(json_object_get(env, "cpu"), "vendor",
			    json_string("AuthenticAMD"));
	find(db, env, MODELDB_NONE, NAN, "another vendor");
	json_decref(db);
	db = modeldb_new();
	find(db, environment(100, 1, NULL, 0), MODELDB_NONE, NAN, "empty");
	json_decref(db);

	/* Even a record that says so does not fit what is unknown. */
	env = environment(100, 1, NULL, 0);
	json_object_set_new(env, "pti", json_null());
	records[0] = record_of(json_deep_copy(env), 6, 1);
	db = db_of(1, records);
	find(db, env, MODELDB_NONE, NAN, "PTI unknown to both");
	json_decref(db);
}

static void test_agree(void)
{
	static const struct {
		double a, half_a, b, half_b;
		bool agree;
	} pairs[] = {
		{ 40, 1, 41, 1, true },	     { 40, 0.1, 44, 0.1, true },
		{ 40, 0.1, 48, 0.1, false }, { 40, 5, 48, 5, true },
		{ 0.1, 0, 0.2, 0, true },    { 40, 0.1, -40, 0.1, false },
	};
	json_t *unknown = parse("{\"estimate\": null, \"ci95\": null}");
	json_t *known = estimate(40, 1);
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		json_t *a = estimate(pairs[i].a, pairs[i].half_a);
		json_t *b = estimate(pairs[i].b, pairs[i].half_b);

		ok(modeldb_agree(a, b) == pairs[i].agree &&
			   modeldb_agree(b, a) == pairs[i].agree,
		   "%g +- %g and %g +- %g %s", pairs[i].a, pairs[i].half_a,
		   pairs[i].b, pairs[i].half_b,
		   pairs[i].agree ? "agree" : "differ");
		json_decref(a);
		json_decref(b);
	}
	ok(!modeldb_agree(unknown, known) && !modeldb_agree(unknown, unknown),
	   "nothing agrees with what is unknown");
	json_decref(unknown);
	json_decref(known);
}

int main(void)
{
	test_record();
	test_ids();
	test_check();
	test_compare();
	test_order();
	test_merge();
	test_find();
	test_agree();
	return done();
}
