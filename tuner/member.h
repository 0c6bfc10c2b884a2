/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * member: numbers out of the JSON of a report, for those who print it.
 */
#ifndef TLBTUNE_MEMBER_H
#define TLBTUNE_MEMBER_H

#include <jansson.h>
#include <stdio.h>

/* The member key of an object; NAN where there is none, or no number. */
double member_number(const json_t *object, const char *key);

/* The end 0 or 1 of the interval ci95 of an object; NAN. */
double member_end(const json_t *object, size_t which);

/* x in so many columns with so many digits; unknown is "n/a". */
void member_print(FILE *to, int width, int digits, double x);

#endif
