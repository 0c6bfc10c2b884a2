/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of break-evens keeps its columns, whatever numbers are in it.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "tap.h"

/* A row of the table: 2 + 8 columns for W, 18 for each pattern, 9, 1. */
#define ROW 74

static json_t *entry(const char *pattern, double pages, double lo, double hi)
{
	return json_pack("{s:i, s:s, s:f, s:[f, f], s:b, s:{s:f}}",
			 "working_set", 64, "pattern", pattern, "pages", pages,
			 "ci95", lo, hi, "extrapolated", pages > 33,
			 "refill_ns_per_page", "estimate", 5.0);
}

/* The row of the table, without the line's end; NULL without one. */
static char *row(double pages, double lo, double hi)
{
	json_t *report = json_pack("{s:[o, o, o]}", "break_even",
				   entry("seq", pages, lo, hi),
				   entry("random", 5, 4, 6),
				   entry("chase", 20, 19, 21));
	char *text = NULL, *found, *line = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	explain_text(report, to);
	fclose(to);
	found = strstr(text, "\n        64");
	if (found)
		line = strndup(found + 1, strcspn(found + 1, "\n"));
	free(text);
	json_decref(report);
	return line;
}

static void test_row(double pages, double lo, double hi, const char *wanted)
{
	char *line = row(pages, lo, hi);

	if (!ok(line && strlen(line) == ROW - 1 && strstr(line, wanted) &&
			strstr(line, " 20 (19-21) "),
		"n* = %g: '%s' in its column", pages, wanted))
		diag("%s", line ? line : "no such row");
	free(line);
}

int main(void)
{
	test_row(7.25, 6, 8, " 7.2 (6.0-8.0) ");
	test_row(71, 67, 75, " 71 (67-75)* ");
	test_row(0.5, 0.2, 1.5, " <1 (<1-1.5) ");
	test_row(12345, 11000, 13000, " 12345* ");
	test_row(99999, 99998, 123456, " 99999* ");
	test_row(1e9, 9e8, 2e9, " 1e+09* ");
	test_row(1e300, 1e299, 1e301, " 1e+300* ");
	test_row(0.5, 0.1, 1e300, " <1 (<1-1e+300) ");
	return done();
}
