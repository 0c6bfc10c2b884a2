/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page: a report of tune as one HTML page that needs nothing else: pictures in
 * it, no network, no script, light or dark as the reader has it.
 *
 * Every number that comes from the report bears the path it has there, so that
 * the page can be checked: <td data-json="fit.c_i.estimate">39.8</td>.
 */
#ifndef TLBTUNE_PAGE_H
#define TLBTUNE_PAGE_H

#include <jansson.h>
#include <stdio.h>

void page_print(const json_t *report, FILE *to);

/* The same into a file, atomically. 0, or -1 after one line on stderr. */
int page_write(const json_t *report, const char *path);

#endif
