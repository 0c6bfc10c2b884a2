/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conditions: in what two runs were not alike beside what is to be compared:
 * options and environment. Pure.
 *
 * Another CPU, another hypervisor or another task make two numbers that have
 * nothing to say to each other: a severe difference. Another kernel, other
 * mitigations or another governor may be what someone wants to compare, or may
 * have been overlooked.
 */
#ifndef TLBTUNE_CONDITIONS_H
#define TLBTUNE_CONDITIONS_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Append to the array list {"key", "a", "b", "severe"} for each condition in
 * which reports a and b differ, unless list has the key. Keys are paths such
 * as "environment/kernel/release". 0, or -1 with ENOMEM.
 */
int conditions_differ(const json_t *a, const json_t *b, json_t *list);

/* True if one of the differences is severe. */
bool conditions_severe(const json_t *list);

/* Room for the text of a value, as JSON or as it is if a string, cut short. */
#define CONDITIONS_TEXT 48

/* Write the text of value to text[CONDITIONS_TEXT]; returns text. */
const char *conditions_text(const json_t *value, char *text);

#endif
