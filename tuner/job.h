/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job: what the parts of the measuring share: work in a child process that
 * leaves its results, or a message, in shared memory.
 */
#ifndef TLBTUNE_JOB_H
#define TLBTUNE_JOB_H

#include <stdbool.h>

#include "measure.h"

/* Rounds without which a time block counts for nothing. */
#define JOB_ROUNDS_MIN 24

/* What a child says when it fails; in shared memory. */
struct job_message {
	char text[256];
};

/*
 * In the child: leave text (freed; NULL: what errno says) for the parent.
 * Returns the child's exit status.
 */
int job_fails(struct job_message *message, char *text);

/*
 * Run work in a child, which must be bound to measure->cpu, and be so still
 * when the work is done. 0, or -1 with *why a malloc'ed sentence.
 */
int job_run(int (*work)(void *context), void *context,
	    const struct measure *measure, struct job_message *message,
	    char **why);

/* Out of memory: -1 with *why. */
int job_no_memory(char **why);

/* More than seconds have passed since start, or the user wants an end. */
bool job_is_over(const struct measure *measure, uint64_t start, double seconds);

#endif
