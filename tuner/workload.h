/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: watch the flushes of a real program, and say what they cost per
 * second under the ceiling in force, under 33 and under the best one for it.
 */
#ifndef TLBTUNE_WORKLOAD_H
#define TLBTUNE_WORKLOAD_H

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

#include "derive.h"

struct workload_options {
	char **command; /* to run and watch, NULL-terminated; or NULL */
	pid_t process;	/* to watch with all its threads; or 0 */
	bool all;	/* every process */
	double seconds; /* NAN: as long as the command runs */
	const volatile int *stop;
};

/*
 * Watch, and add the member workload to report. Predictions need findings with
 * known costs. 0, or -1 with *why a malloc'ed sentence: it cannot be traced or
 * started here. errno is ENOEXEC then if it is the command that cannot be run.
 */
int workload_watch(const struct workload_options *options,
		   const struct findings *findings, json_t *report, char **why);

/* The member workload, for people. */
void workload_text(const json_t *report, FILE *to);

#endif
