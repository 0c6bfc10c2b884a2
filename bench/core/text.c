/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define ATTRIBUTE_MAX 4096

/* Integers up to 2^53 are exact in a double. */
#define EXACT_MAX (1ULL << 53)

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *s)
{
	while (is_blank(*s))
		s++;
	return s;
}

static const char *next_line(const char *s)
{
	s = strchr(s, '\n');
	return s ? s + 1 : NULL;
}

char *text_field(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *line;

	for (line = text; line; line = next_line(line)) {
		const char *value = skip_blanks(line);
		size_t value_len;

		if (strncmp(value, name, len))
			continue;
		value += len;
		if (!is_blank(*value) && *value != ':')
			continue;
		value = skip_blanks(value);
		if (*value == ':')
			value = skip_blanks(value + 1);
		value_len = strcspn(value, "\n");
		while (value_len &&
		       isspace((unsigned char)value[value_len - 1]))
			value_len--;
		return value_len ? strndup(value, value_len) : NULL;
	}
	return NULL;
}

char *text_bracketed(const char *text)
{
	const char *open = strchr(text, '[');
	const char *close = open ? strchr(open, ']') : NULL;

	if (!close || close == open + 1)
		return NULL;
	return strndup(open + 1, (size_t)(close - open - 1));
}

bool text_has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (text = skip_blanks(text); *text; text = skip_blanks(text)) {
		size_t n = strcspn(text, " \t");

		if (n == len && !memcmp(text, word, len))
			return true;
		text += n;
	}
	return false;
}

double text_number(const char *text, const char **end)
{
	const char *digits = skip_blanks(text);
	bool negative = *digits == '-';
	unsigned long long value;
	char *behind;

	digits += negative;
	if (end)
		*end = text;
	if (!isdigit((unsigned char)*digits))
		return NAN;
	value = strtoull(digits, &behind, 10);
	if (end)
		*end = behind;
	/* Beyond what a long long holds it is ULLONG_MAX. */
	if (value > EXACT_MAX)
		return NAN;
	return negative ? -(double)value : (double)value;
}

double text_integer(const char *text)
{
	const char *end;
	double value;

	if (!text)
		return NAN;
	value = text_number(text, &end);
	return *end ? NAN : value;
}

bool text_range(const char **list, unsigned int *first, unsigned int *last)
{
	const char *s = *list;
	double from, to;

	if (*s == ',')
		s++;
	from = to = text_number(s, &s);
	if (*s == '-')
		to = text_number(s + 1, &s);
	if (!(from >= 0 && to >= from && to <= INT_MAX))
		return false;
	*first = (unsigned int)from;
	*last = (unsigned int)to;
	*list = s;
	return true;
}

/* text with every byte that is not plain ASCII as \xNN; NULL on ENOMEM. */
static json_t *escaped(const char *text, size_t len)
{
	char *out = malloc(4 * len + 1);
	size_t used = 0, i;
	json_t *json;

	if (!out)
		return NULL;
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x20 && c < 0x7f)
			out[used++] = (char)c;
		else
			used += (size_t)sprintf(out + used, "\\x%02x", c);
	}
	json = json_stringn(out, used);
	free(out);
	return json;
}

json_t *text_json(const char *text)
{
	size_t len = text ? strcspn(text, "\n") : 0;
	json_t *json = NULL;
	size_t i;

	if (!text || len > ATTRIBUTE_MAX)
		return json_null();
	for (i = 0; i < len && !iscntrl((unsigned char)text[i]); i++)
		;
	if (i == len)
		json = json_stringn(text, len);
	return json ? json : escaped(text, len);
}

json_t *text_count_json(double count)
{
	return isnan(count) ? json_null() : json_integer((json_int_t)count);
}

json_t *text_index_json(int index)
{
	return index < 0 ? json_null() : json_integer(index);
}

json_t *text_truth_json(int truth)
{
	return truth < 0 ? json_null() : json_boolean(truth);
}
