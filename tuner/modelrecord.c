/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modelrecord: the record that a report of tune is worth.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeldb_parts.h"
#include "report.h"
#include "why.h"

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

	if (isfinite(modeldb_end(from, 0)) && isfinite(modeldb_end(from, 1)))
		ci95 = json_pack("[o, o]", rounded(modeldb_end(from, 0)),
				 rounded(modeldb_end(from, 1)));
	return json_pack("{s:o, s:o}", "estimate",
			 rounded(modeldb_number(json_object_get(from, name))),
			 "ci95", ci95);
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

	if (machine && modeldb_check_machine(machine, why) < 0) {
		json_decref(machine);
		return NULL;
	}
	id = machine ? modeldb_id(identity, condition) : NULL;
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

		if (modeldb_number(json_object_get(set, "working_set")) ==
			    MODELDB_WORKING_SET &&
		    !strcmp(modeldb_text(set, "pattern"), pattern))
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

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "factor",
			 copy(from, "factor"), "pages", copy(from, "pages"),
			 "ci95", copy(from, "ci95"), "regret_worst",
			 rounded(modeldb_number(
				 modeldb_at(from, "regret_choice.worst"))),
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
		double pages = modeldb_number(json_object_get(call, "pages"));

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
					  rounded(modeldb_number(modeldb_at(
						  chosen[i], "median"))),
					  "mad",
					  rounded(modeldb_number(modeldb_at(
						  chosen[i], "mad")))));
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
	return json_pack(
		"{s:b, s:b, s:o, s:I, s:o, s:b, s:o, s:o}", "partial",
		json_is_true(json_object_get(report, "partial")), "quick",
		json_is_true(modeldb_at(report, "options.quick")), "blocks",
		copy(report, "fit.blocks"), "samples", samples(report), "drift",
		rounded(modeldb_number(modeldb_at(report, "fit.c_i_drift"))),
		"two_regimes",
		json_is_object(modeldb_at(report, "fit.c_i_regimes")), "calls",
		calls(report), "warnings", warnings);
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
	else if (modeldb_check_record(record, "", why) == 0)
		return record;
	json_decref(record);
	return NULL;
}
