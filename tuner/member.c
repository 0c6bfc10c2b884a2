/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>

#include "member.h"

double member_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

double member_end(const json_t *object, size_t which)
{
	const json_t *ci95 = json_object_get(object, "ci95");

	return json_is_array(ci95) ?
		       json_number_value(json_array_get(ci95, which)) :
		       NAN;
}

void member_print(FILE *to, int width, int digits, double x)
{
	if (isfinite(x))
		fprintf(to, "%*.*f", width, digits, x);
	else
		fprintf(to, "%*s", width, "n/a");
}
