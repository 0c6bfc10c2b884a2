/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text: values out of text that may be anything. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "text.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void test_fields(void)
{
	static const struct {
		const char *text, *name, *want;
	} fields[] = {
		{ "a: 1\nb: 2\n", "b", "2" },
		{ "a: 1\nb: 2", "b", "2" },
		{ "  TLB:   1 2  shootdowns \n", "TLB", "1 2  shootdowns" },
		{ "flags\t\t: fpu vme\n", "flags", "fpu vme" },
		{ "vmx flags : no\nflags : yes\n", "flags", "yes" },
		{ "flags2: no\nflags: yes\n", "flags", "yes" },
		{ "nr_throttled 12\n", "nr_throttled", "12" },
		{ "a: first\na: second\n", "a", "first" },
		{ "url: a:b\n", "url", "a:b" },
		{ "a:\nb: 2\n", "a", NULL },
		{ "a:  \n", "a", NULL },
		{ "a\n", "a", NULL },
		{ "ab", "abc", NULL },
		{ "", "a", NULL },
	};
	size_t i;

	for (i = 0; i < COUNT(fields); i++) {
		char *got = text_field(fields[i].text, fields[i].name);

		is_string(got, fields[i].want, "field %zu, %s", i,
			  fields[i].name);
		free(got);
	}
}

static void test_brackets(void)
{
	static const struct {
		const char *text, *want;
	} choices[] = {
		{ "always [madvise] never", "madvise" },
		{ "[none] integrity", "none" },
		{ "none", NULL },
		{ "[none", NULL },
		{ "none] [", NULL },
		{ "[]", NULL },
	};
	size_t i;

	for (i = 0; i < COUNT(choices); i++) {
		char *got = text_bracketed(choices[i].text);

		is_string(got, choices[i].want, "choice in '%s'",
			  choices[i].text);
		free(got);
	}
}

static void test_words(void)
{
	ok(text_has_word("fpu pcid pti", "pti"), "the last word");
	ok(text_has_word("pti", "pti"), "the only word");
	ok(text_has_word(" fpu\tpti ", "pti"), "between other blanks");
	ok(!text_has_word("invpcid", "pcid"), "not the end of a word");
	ok(!text_has_word("pcid2", "pcid"), "not the start of one");
	ok(!text_has_word("", "pti"), "not in nothing");
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		double want;
	} integers[] = {
		{ "0", 0 },
		{ "33", 33 },
		{ "  7", 7 },
		{ "-2", -2 },
		{ "9007199254740992", 9007199254740992.0 },
		{ "9007199254740993", NAN },
		{ "99999999999999999999999", NAN },
		{ "33 ", NAN },
		{ "3.5", NAN },
		{ "0x10", NAN },
		{ "+1", NAN },
		{ "--1", NAN },
		{ "-", NAN },
		{ "", NAN },
		{ "max", NAN },
	};
	const char *text = "12 -3x", *end;
	size_t i;

	for (i = 0; i < COUNT(integers); i++)
		is_double(text_integer(integers[i].text), integers[i].want, 0,
			  "the integer '%s'", integers[i].text);
	is_double(text_integer(NULL), NAN, 0, "no text, no integer");
	is_double(text_number(text, &end), 12, 0, "the first number");
	is_double(text_number(end, &end), -3, 0, "the second");
	is_string(end, "x", "and what is behind it");
	is_double(text_number(end, &end), NAN, 0, "no third");
	is_string(end, "x", "and nothing taken for it");
}

static void is_list(const char *list, const char *want)
{
	char got[256] = "";
	unsigned int first, last;

	while (text_range(&list, &first, &last))
		sprintf(got + strlen(got), "%u..%u ", first, last);
	strcat(got, list);
	is_string(got, want, "the list '%s'", want);
}

static void test_ranges(void)
{
	is_list("0-3,8,10-11", "0..3 8..8 10..11 ");
	is_list("5", "5..5 ");
	is_list("", "");
	is_list("3-1", "3-1");
	is_list("0,x", "0..0 ,x");
	is_list("0-", "0-");
	is_list("-1", "-1");
	is_list("0-99999999999", "0-99999999999");
	is_list("1;2", "1..1 ;2");
}

static void test_json(void)
{
	char longest[4098];
	json_t *json;

	memset(longest, 'x', sizeof(longest));
	longest[4096] = '\0';
	json = text_json(longest);
	is_int(json_string_length(json), 4096, "a page of text");
	json_decref(json);
	longest[4096] = 'x';
	longest[4097] = '\0';
	json = text_json(longest);
	ok(json_is_null(json), "more than a page is no attribute");
	json_decref(json);

	json = text_json(NULL);
	ok(json_is_null(json), "no text is null");
	json_decref(json);
	json = text_json("\xff\n2");
	is_string(json_string_value(json), "\\xff", "what is not UTF-8");
	json_decref(json);
	json = text_json("\x7f");
	is_string(json_string_value(json), "\\x7f", "a control character");
	json_decref(json);

	json = text_count_json(NAN);
	ok(json_is_null(json), "an unknown count");
	json_decref(json);
	json = text_count_json(7);
	is_int(json_integer_value(json), 7, "a count");
	json_decref(json);
	json = text_index_json(-1);
	ok(json_is_null(json), "an unknown index");
	json_decref(json);
	json = text_index_json(0);
	ok(json_is_integer(json), "index 0 is known");
	json_decref(json);
	json = text_truth_json(-1);
	ok(json_is_null(json), "an unknown truth");
	json_decref(json);
	json = text_truth_json(0);
	ok(json_is_false(json), "a falsehood");
	json_decref(json);
	json = text_truth_json(1);
	ok(json_is_true(json), "a truth");
	json_decref(json);
}

int main(void)
{
	test_fields();
	test_brackets();
	test_words();
	test_numbers();
	test_ranges();
	test_json();
	return done();
}
