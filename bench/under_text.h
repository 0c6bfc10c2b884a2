/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * under_text: the report of ./access --under for people.
 */
#ifndef TLBTUNE_UNDER_TEXT_H
#define TLBTUNE_UNDER_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Print the report, from its JSON alone. */
void under_text(const json_t *report, FILE *to);

#endif
