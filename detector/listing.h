/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listing: a program as text, to be read and to be replayed.
 *
 *	memory shared
 *	layout start
 *	pages 8
 *	actors 2
 *	at 0
 *	group
 *	1 write 0-7 from 0
 *	group
 *	0 mprotect-r 0-7
 *	1 write 0-7 from 3 after 0 sleep
 *
 * A step is: actor, verb, pages, for an access the page it begins with, the
 * step of its group that it waits for (counted from 0), and whether it does so
 * asleep. # begins a comment.
 *
 * Pure.
 */
#ifndef TLBTUNE_LISTING_H
#define TLBTUNE_LISTING_H

#include "program.h"

/* Malloc'ed text; NULL on ENOMEM. */
char *listing_print(const struct program *program);

/*
 * 0, or -1 with *why a malloc'ed sentence that begins with the number of the
 * line at fault.
 */
int listing_parse(const char *text, struct program *program, char **why);

#endif
