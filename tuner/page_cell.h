/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_cell: values of a report in a page, each with the path it came from.
 * Paths are dotted, with indexes into arrays: "break_even.3.ci95.0".
 */
#ifndef TLBTUNE_PAGE_CELL_H
#define TLBTUNE_PAGE_CELL_H

#include <jansson.h>
#include <stdio.h>

/* Text with what HTML gives a meaning escaped; NULL is "unknown". */
void page_text(FILE *to, const char *text);

/* A number times scale in a <td>, or inline; unknown is "n/a". */
void page_number(FILE *to, const json_t *report, const char *path, double scale,
		 int digits);
void page_span(FILE *to, const json_t *report, const char *path, double scale,
	       int digits);

/* Three cells: estimate, and the ends of ci95, of the object at path. */
void page_estimate(FILE *to, const json_t *report, const char *path,
		   double scale, int digits);

/* Whatever is at path in a <td>: text, a number, yes or no, unknown. */
void page_value(FILE *to, const json_t *report, const char *path);

#endif
