/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "modeldb_parts.h"

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

/* which is better ------------------------------------------------------- */

/* Width of the interval over the size of the value, which is at least 1. */
static double relative_width(const json_t *estimate)
{
	double value = modeldb_number(json_object_get(estimate, "estimate"));
	double width = modeldb_end(estimate, 1) - modeldb_end(estimate, 0);

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

		if (!strcmp(modeldb_text(record, "id"), id))
			return record;
	}
	return NULL;
}

/* In the order of the IDs, so that files can be compared line by line. */
static int insert(json_t *records, json_t *record)
{
	size_t i;

	for (i = 0; i < json_array_size(records); i++)
		if (strcmp(modeldb_text(json_array_get(records, i), "id"),
			   modeldb_text(record, "id")) > 0)
			break;
	return json_array_insert(records, i, record);
}

int modeldb_merge(json_t *db, const json_t *record,
		  enum modeldb_verdict *verdict, const char **why)
{
	json_t *old = modeldb_get(db, modeldb_text(record, "id"));
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
	return fabs(modeldb_number(modeldb_at(record, path)) -
		    modeldb_number(modeldb_at(machine, path)));
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
	double of_a = modeldb_number(json_object_get(a, "estimate"));
	double of_b = modeldb_number(json_object_get(b, "estimate"));

	if (modeldb_end(a, 0) <= modeldb_end(b, 1) &&
	    modeldb_end(b, 0) <= modeldb_end(a, 1))
		return true;
	return fabs(of_a - of_b) <=
	       AGREE * fmax(fmax(fabs(of_a), fabs(of_b)), 1);
}
