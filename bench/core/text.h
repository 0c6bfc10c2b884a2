/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text: pick values out of the text of /proc and /sys. Pure.
 *
 * Nothing is trusted: a value that is not there, cut short or not of the kind
 * expected is unknown, NULL or NAN.
 */
#ifndef TLBTUNE_TEXT_H
#define TLBTUNE_TEXT_H

#include <jansson.h>
#include <stdbool.h>

/*
 * The value of the first line "name: value" or "name value" of text, malloc'ed
 * and without white space around it; NULL when there is none.
 */
char *text_field(const char *text, const char *name);

/* The word in brackets of "always [madvise] never", malloc'ed; or NULL. */
char *text_bracketed(const char *text);

/* True if word is one of the words of text, which blanks separate. */
bool text_has_word(const char *text, const char *word);

/*
 * The decimal integer text starts with, after blanks; *end, unless NULL, is set
 * behind it. NAN where there is none, or one that a double cannot hold exactly.
 */
double text_number(const char *text, const char **end);

/* The same where text must be nothing but that integer; NULL is allowed. */
double text_integer(const char *text);

/*
 * Take the first range off a list of CPUs or nodes such as "0-3,8": *list is
 * set behind it. False at its end, or where it is no longer a list.
 */
bool text_range(const char **list, unsigned int *first, unsigned int *last);

/*
 * The first line of text as a JSON string. What is not UTF-8, or would move the
 * cursor of a terminal, is escaped as \xNN, so that no file can make a report
 * unreadable. null for NULL, and for what is longer than any sysfs attribute
 * (a page). NULL on ENOMEM.
 */
json_t *text_json(const char *text);

/* A count, null for NAN; an index, and a truth value, null for -1. */
json_t *text_count_json(double count);
json_t *text_index_json(int index);
json_t *text_truth_json(int truth);

#endif
