/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload_json: what was seen of a program, and what follows from it. Pure.
 */
#ifndef TLBTUNE_WORKLOAD_JSON_H
#define TLBTUNE_WORKLOAD_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "demand.h"
#include "derive.h"
#include "reuse.h"

/* How it was watched. */
struct watched {
	pid_t process;		   /* 0: all */
	int status;		   /* of waitpid; -1: not ours */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC_RAW */
	double lost;		   /* events; NAN: unknown */
	/* of what is reused, [readings]; errno of the last that failed, or 0 */
	const struct reuse_reading *reading;
	size_t readings;
	int reuse_error;
};

/* Add the member workload. 0, or -1 with ENOMEM. */
int workload_json(const struct demand *demand, const struct watched *watched,
		  const struct findings *findings, json_t *report);

#endif
