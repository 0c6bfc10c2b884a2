/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cost.h"
#include "knobjson.h"
#include "text.h"
#include "why.h"

json_t *knobjson_value(const struct knob_value *value)
{
	bool factor = value->kind == KNOB_FACTOR;

	return json_pack(
		"{s:o, s:o, s:o, s:o}", "kind",
		value->kind == KNOB_NONE ? json_null() :
					   json_string(knob_name[value->kind]),
		"factor", factor ? json_integer(value->factor) : json_null(),
		"entries", factor ? json_integer(value->entries) : json_null(),
		"pages", text_index_json(value->pages));
}

json_t *knobjson_knob(const struct knob *knob)
{
	json_t *json = knobjson_value(&knob->now);
	json_t *more = json_pack("{s:b, s:o, s:s?}", "writable", knob->writable,
				 "why",
				 text_json(*knob->why ? knob->why : NULL),
				 "lift", knob->lift);

	if (!json || !more || json_object_update(json, more) < 0) {
		json_decref(json);
		json = NULL;
	}
	json_decref(more);
	return json;
}

/* The integer member key from min to max. 0, or -1 with *why. */
static int integer(const json_t *json, const char *key, int min, int max,
		   int *value, char **why)
{
	const json_t *member = json_object_get(json, key);
	json_int_t number = json_integer_value(member);

	if (!json_is_integer(member) || number < min || number > max)
		return why_set(why, 0, "%s: expected an integer from %d to %d",
			       key, min, max);
	*value = (int)number;
	return 0;
}

static int read_factor(const json_t *json, struct knob_value *value, char **why)
{
	const char *fault;

	if (integer(json, "factor", COST_FACTOR_STOCK, COST_FACTOR_MAX,
		    &value->factor, why) < 0 ||
	    integer(json, "entries", 0, KNOB_ENTRIES_MAX, &value->entries,
		    why) < 0)
		return -1;
	fault = knob_fault(value);
	return fault ? why_set(why, 0, "expected %s", fault) : 0;
}

int knobjson_read(const json_t *json, struct knob_value *value, char **why)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));

	*value = (struct knob_value){ .kind = KNOB_NONE, .pages = -1 };
	*why = NULL;
	if (kind && !strcmp(kind, knob_name[KNOB_FACTOR])) {
		value->kind = KNOB_FACTOR;
		return read_factor(json, value, why);
	}
	if (kind && !strcmp(kind, knob_name[KNOB_CEILING])) {
		value->kind = KNOB_CEILING;
		return integer(json, "pages", 0, INT_MAX, &value->pages, why);
	}
	return why_set(why, 0, "kind: expected %s or %s",
		       knob_name[KNOB_FACTOR], knob_name[KNOB_CEILING]);
}
