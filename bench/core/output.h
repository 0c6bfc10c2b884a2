/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output: a file that is replaced as a whole or not at all.
 */
#ifndef TLBTUNE_OUTPUT_H
#define TLBTUNE_OUTPUT_H

#include <stdio.h>

struct output {
	FILE *to;
	char *path; /* what is replaced; NULL: written in place */
	char *temporary;
};

/*
 * Open a temporary file beside path (or stdout for NULL). What exists and is
 * not a regular file (/dev/stdout, a FIFO) is written in place. Returns 0, or
 * -1 after one line on stderr.
 */
int output_open(struct output *output, const char *path);

/* Write out and rename over path. 0, or -1 after one line on stderr. */
int output_commit(struct output *output);

/* Forget what was written; path stays as it was. */
void output_abandon(struct output *output);

/* 0 if path could be written now; -1 after one line on stderr. */
int output_check(const char *path);

#endif
