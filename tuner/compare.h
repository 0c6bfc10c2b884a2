/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare: the report of ./compare for people.
 */
#ifndef TLBTUNE_COMPARE_H
#define TLBTUNE_COMPARE_H

#include <jansson.h>
#include <stdio.h>

/* Render a report of compare. */
void compare_text(const json_t *report, FILE *to);

#endif
