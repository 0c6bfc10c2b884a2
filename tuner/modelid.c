/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modelid: reading what is in records, and their IDs.
 */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeldb_parts.h"

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

const char *modeldb_text(const json_t *json, const char *path)
{
	return json_string_value(modeldb_at(json, path));
}

double modeldb_number(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : NAN;
}

double modeldb_value(const json_t *record, const char *path)
{
	return modeldb_number(
		json_object_get(modeldb_at(record, path), "estimate"));
}

double modeldb_end(const json_t *estimate, size_t which)
{
	return modeldb_number(
		json_array_get(json_object_get(estimate, "ci95"), which));
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

char *modeldb_id(const json_t *identity, const json_t *condition)
{
	static const char *const features[] = { "pti", "pcid", "invpcid",
						"invlpgb" };
	const json_t *guest = json_object_get(condition, "guest");
	const json_t *pv = json_object_get(condition, "pv_tlb_flush");
	const char *core = modeldb_text(identity, "core_type");
	const char *hypervisor = modeldb_text(condition, "hypervisor");
	char *id = strdup("");
	size_t i;

	append(&id, modeldb_text(identity, "vendor"));
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
