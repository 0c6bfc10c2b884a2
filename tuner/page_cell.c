/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page_cell.h"

/* What is at a dotted path with indexes; NULL. */
static const json_t *at(const json_t *json, const char *path)
{
	char key[64];

	while (json && *path) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(key))
			return NULL;
		memcpy(key, path, len);
		key[len] = '\0';
		json = json_is_array(json) ?
			       json_array_get(json, strtoul(key, NULL, 10)) :
			       json_object_get(json, key);
		path += len + (path[len] == '.');
	}
	return json;
}

void page_text(FILE *to, const char *text)
{
	if (!text)
		text = "unknown";
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '&':
			fputs("&amp;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		default:
			fputc(*text, to);
		}
	}
}

static void element(FILE *to, const char *name, const json_t *report,
		    const char *path, double scale, int digits)
{
	const json_t *value = at(report, path);

	if (!json_is_number(value)) {
		fprintf(to, "<%s>n/a</%s>", name, name);
		return;
	}
	fprintf(to, "<%s data-json=\"%s\"", name, path);
	if (scale != 1)
		fprintf(to, " data-scale=\"%g\"", scale);
	fprintf(to, ">%.*f</%s>", digits, scale * json_number_value(value),
		name);
}

void page_number(FILE *to, const json_t *report, const char *path, double scale,
		 int digits)
{
	element(to, "td", report, path, scale, digits);
}

void page_span(FILE *to, const json_t *report, const char *path, double scale,
	       int digits)
{
	element(to, "span", report, path, scale, digits);
}

void page_estimate(FILE *to, const json_t *report, const char *path,
		   double scale, int digits)
{
	static const char *const members[] = { "estimate", "ci95.0", "ci95.1" };
	char member[96];
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(*members); i++) {
		snprintf(member, sizeof(member), "%s.%s", path, members[i]);
		page_number(to, report, member, scale, digits);
	}
}

void page_value(FILE *to, const json_t *report, const char *path)
{
	const json_t *value = at(report, path);

	if (json_is_number(value)) {
		page_number(to, report, path, 1, 0);
		return;
	}
	fputs("<td class=\"text\">", to);
	if (json_is_boolean(value))
		fputs(json_is_true(value) ? "yes" : "no", to);
	else
		page_text(to, json_string_value(value));
	fputs("</td>", to);
}
