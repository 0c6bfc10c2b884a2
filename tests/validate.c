/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate.h"

struct validation {
	const json_t *schema; /* the whole */
	bool strict;
	char **why;
};

/* Where we are in the instance, from the innermost member out. */
struct place {
	const struct place *outer;
	const char *key; /* NULL: an element */
	size_t index;
};

static void print_place(const struct place *place, FILE *to)
{
	if (!place)
		return;
	print_place(place->outer, to);
	if (place->key)
		fprintf(to, "%s%s", place->outer ? "." : "", place->key);
	else
		fprintf(to, "[%zu]", place->index);
}

/* Set *why to "place: ...", unless there is a reason already. Always -1. */
__attribute__((format(printf, 3, 4))) static int fail(
	const struct validation *v, const struct place *place,
	const char *format, ...)
{
	size_t size;
	FILE *to;
	va_list args;

	if (*v->why)
		return -1;
	to = open_memstream(v->why, &size);
	print_place(place, to);
	fputs(place ? ": " : "", to);
	va_start(args, format);
	vfprintf(to, format, args);
	va_end(args);
	fclose(to);
	return -1;
}

static int check(const struct validation *v, const json_t *schema,
		 const json_t *instance, const struct place *place);

/* The keywords, each against any instance -------------------------------- */

static bool is_type(const char *type, const json_t *instance)
{
	switch (json_typeof(instance)) {
	case JSON_OBJECT:
		return !strcmp(type, "object");
	case JSON_ARRAY:
		return !strcmp(type, "array");
	case JSON_STRING:
		return !strcmp(type, "string");
	case JSON_INTEGER:
		return !strcmp(type, "integer") || !strcmp(type, "number");
	case JSON_REAL:
		return !strcmp(type, "number");
	case JSON_TRUE:
	case JSON_FALSE:
		return !strcmp(type, "boolean");
	case JSON_NULL:
		return !strcmp(type, "null");
	}
	return false;
}

static int check_type(const struct validation *v, const json_t *type,
		      const json_t *instance, const struct place *place)
{
	char *said;
	size_t i;

	if (json_is_string(type) && is_type(json_string_value(type), instance))
		return 0;
	for (i = 0; i < json_array_size(type); i++)
		if (is_type(json_string_value(json_array_get(type, i)),
			    instance))
			return 0;
	said = json_dumps(type, JSON_ENCODE_ANY);
	fail(v, place, "expected type %s", said);
	free(said);
	return -1;
}

static int check_enum(const struct validation *v, const json_t *values,
		      const json_t *instance, const struct place *place)
{
	char *said;
	size_t i;

	for (i = 0; i < json_array_size(values); i++)
		if (json_equal(json_array_get(values, i), instance))
			return 0;
	said = json_dumps(values, 0);
	fail(v, place, "expected one of %s", said);
	free(said);
	return -1;
}

static int check_const(const struct validation *v, const json_t *value,
		       const json_t *instance, const struct place *place)
{
	char *said;

	if (json_equal(value, instance))
		return 0;
	said = json_dumps(value, JSON_ENCODE_ANY);
	fail(v, place, "expected %s", said);
	free(said);
	return -1;
}

static int check_pattern(const struct validation *v, const json_t *pattern,
			 const json_t *instance, const struct place *place)
{
	const char *text = json_string_value(instance);
	regex_t regex;
	int status;

	if (!text)
		return 0;
	if (regcomp(&regex, json_string_value(pattern),
		    REG_EXTENDED | REG_NOSUB))
		return fail(v, place, "the schema's pattern is none");
	status = regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return status ? fail(v, place, "expected a match of %s",
			     json_string_value(pattern)) :
			0;
}

static int check_required(const struct validation *v, const json_t *required,
			  const json_t *instance, const struct place *place)
{
	size_t i;

	for (i = 0; json_is_object(instance) && i < json_array_size(required);
	     i++) {
		const char *key =
			json_string_value(json_array_get(required, i));

		if (!json_object_get(instance, key))
			return fail(v, place, "expected a member %s", key);
	}
	return 0;
}

/* properties and additionalProperties */
static int check_members(const struct validation *v, const json_t *schema,
			 const json_t *instance, const struct place *place)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *others = json_object_get(schema, "additionalProperties");
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)instance, key, member) {
		const json_t *of = json_object_get(properties, key);
		const struct place inner = { place, key, 0 };

		if (!of && !others && v->strict && properties)
			return fail(v, &inner, "not in the schema");
		if (!of && json_is_false(others))
			return fail(v, &inner, "expected no such member");
		if (!of && !json_is_object(others))
			continue;
		if (check(v, of ? of : others, member, &inner) < 0)
			return -1;
	}
	return 0;
}

/* items: one schema for all, or one each. */
static int check_items(const struct validation *v, const json_t *items,
		       const json_t *instance, const struct place *place)
{
	size_t i;

	for (i = 0; i < json_array_size(instance); i++) {
		const json_t *of =
			json_is_array(items) ? json_array_get(items, i) : items;
		const struct place inner = { place, NULL, i };

		if (of && check(v, of, json_array_get(instance, i), &inner) < 0)
			return -1;
	}
	return 0;
}

static int check_any(const struct validation *v, const json_t *schemas,
		     const json_t *instance, const struct place *place)
{
	char *last = NULL;
	size_t i;

	for (i = 0; i < json_array_size(schemas); i++) {
		char *why = NULL;
		const struct validation branch = { v->schema, v->strict, &why };

		if (check(&branch, json_array_get(schemas, i), instance,
			  place) == 0) {
			free(last);
			return 0;
		}
		free(last);
		last = why;
	}
	fail(v, NULL, "none of %zu forms: %s", i, last ? last : "");
	free(last);
	return -1;
}

static int check_ref(const struct validation *v, const json_t *ref,
		     const json_t *instance, const struct place *place)
{
	static const char prefix[] = "#/definitions/";
	const char *name = json_string_value(ref);
	const json_t *definition = NULL;

	if (name && !strncmp(name, prefix, strlen(prefix)))
		definition = json_object_get(json_object_get(v->schema,
							     "definitions"),
					     name + strlen(prefix));
	if (!definition)
		return fail(v, place, "the schema has no %s",
			    name ? name : "text in $ref");
	return check(v, definition, instance, place);
}

static int check_limit(const struct validation *v, bool holds,
		       const char *keyword, const json_t *limit,
		       const struct place *place)
{
	return holds ? 0 :
		       fail(v, place, "expected %s %g", keyword,
			    json_number_value(limit));
}

static bool is_annotation(const char *keyword)
{
	static const char *const annotations[] = { "$schema", "$comment",
						   "title", "description",
						   "definitions" };
	size_t i;

	for (i = 0; i < sizeof(annotations) / sizeof(*annotations); i++)
		if (!strcmp(keyword, annotations[i]))
			return true;
	return false;
}

static int check_keyword(const struct validation *v, const json_t *schema,
			 const char *keyword, const json_t *value,
			 const json_t *instance, const struct place *place)
{
	double limit = json_number_value(value);
	double x = json_number_value(instance);
	size_t size = json_array_size(instance);
	bool number = json_is_number(instance);
	bool array = json_is_array(instance);

	if (!strcmp(keyword, "type"))
		return check_type(v, value, instance, place);
	if (!strcmp(keyword, "enum"))
		return check_enum(v, value, instance, place);
	if (!strcmp(keyword, "const"))
		return check_const(v, value, instance, place);
	if (!strcmp(keyword, "pattern"))
		return check_pattern(v, value, instance, place);
	if (!strcmp(keyword, "required"))
		return check_required(v, value, instance, place);
	if (!strcmp(keyword, "properties") ||
	    !strcmp(keyword, "additionalProperties"))
		return check_members(v, schema, instance, place);
	if (!strcmp(keyword, "items"))
		return check_items(v, value, instance, place);
	if (!strcmp(keyword, "anyOf"))
		return check_any(v, value, instance, place);
	if (!strcmp(keyword, "$ref"))
		return check_ref(v, value, instance, place);
	if (!strcmp(keyword, "minimum"))
		return check_limit(v, !number || x >= limit, keyword, value,
				   place);
	if (!strcmp(keyword, "maximum"))
		return check_limit(v, !number || x <= limit, keyword, value,
				   place);
	if (!strcmp(keyword, "minItems"))
		return check_limit(v, !array || (double)size >= limit, keyword,
				   value, place);
	if (!strcmp(keyword, "maxItems"))
		return check_limit(v, !array || (double)size <= limit, keyword,
				   value, place);
	if (!strcmp(keyword, "minLength"))
		return check_limit(
			v,
			!json_is_string(instance) ||
				(double)json_string_length(instance) >= limit,
			keyword, value, place);
	if (is_annotation(keyword))
		return 0;
	return fail(v, place, "the schema's keyword %s is not known", keyword);
}

static int check(const struct validation *v, const json_t *schema,
		 const json_t *instance, const struct place *place)
{
	const char *keyword;
	json_t *value;

	if (!json_is_object(schema))
		return fail(v, place, "the schema is no object");
	json_object_foreach((json_t *)schema, keyword, value) {
		if (check_keyword(v, schema, keyword, value, instance, place) <
		    0)
			return -1;
	}
	return 0;
}

int validate(const json_t *schema, const char *definition,
	     const json_t *instance, bool strict, char **why)
{
	const struct validation v = { schema, strict, why };
	const json_t *of = json_object_get(
		json_object_get(schema, "definitions"), definition);

	*why = NULL;
	if (!instance)
		return fail(&v, NULL, "no JSON");
	return check(&v, of, instance, NULL);
}
