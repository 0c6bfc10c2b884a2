/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query FILE PATH...: print the value at each path of a JSON file, a line each.
 * A path is made of keys and indexes, "fit.c_i.ci95.0"; an array or object
 * prints its size, what is not there prints "none".
 */
#include <config.h>

#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static const json_t *step(const json_t *value, const char *key)
{
	if (json_is_array(value))
		return json_array_get(value, strtoul(key, NULL, 10));
	return json_object_get(value, key);
}

static void print(const json_t *value)
{
	if (!value)
		puts("none");
	else if (json_is_array(value))
		printf("%zu\n", json_array_size(value));
	else if (json_is_object(value))
		printf("%zu\n", json_object_size(value));
	else if (json_is_string(value))
		puts(json_string_value(value));
	else if (json_is_integer(value))
		printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
	else if (json_is_real(value))
		printf("%.9g\n", json_real_value(value));
	else
		puts(json_is_null(value) ? "null" :
		     json_is_true(value) ? "true" :
					   "false");
}

int main(int argc, char **argv)
{
	json_error_t at;
	json_t *json;
	int i;

	if (argc < 2)
		error(2, 0, "expected FILE PATH...");
	json = json_load_file(argv[1], 0, &at);
	if (!json)
		error(1, 0, "%s:%d: %s", argv[1], at.line, at.text);
	for (i = 2; i < argc; i++) {
		const json_t *value = json;
		char *rest = argv[i], *key;

		while ((key = strsep(&rest, ".")))
			value = step(value, key);
		print(value);
	}
	json_decref(json);
	return 0;
}
