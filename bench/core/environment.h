/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * environment: what of the machine changes the numbers, and how quiet it was.
 *
 * Everything is read below a root prefix ("" for the machine itself), so that
 * tests run on a fake tree. What cannot be read is unknown: NULL, -1 or NAN in
 * the structures, null in JSON, n/a in text; never 0.
 */
#ifndef TLBTUNE_ENVIRONMENT_H
#define TLBTUNE_ENVIRONMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "clock.h"
#include "identity.h"
#include "noise.h"

struct environment;

/* Where a record comes from; environment_open's is the machine itself. */
struct environment_source {
	struct noise_source counters; /* with the root prefix of all files */
	struct identity_source cpuid;
	double (*core_ghz)(const struct clock *clock);
	/* Read CPUID and the frequency on the CPU measured, not where we are */
	bool bind;
};

/*
 * Read everything that does not change during a run (CPU identity, mitigations,
 * kernel, cgroup limits, ...) and take the first noise reading. Call it right
 * before the calling thread is bound: what that is bound to counts as what the
 * process is allowed, and moving it later counts as a migration. Returns NULL
 * on ENOMEM only.
 */
struct environment *environment_open(const char *root,
				     const struct clock *clock,
				     unsigned int cpu);

/* The same from any source, which is copied; for tests. */
struct environment *environment_open_with(
	const struct environment_source *source, const struct clock *clock,
	unsigned int cpu);

/*
 * Take the second noise reading; call once, when the measuring has ended, after
 * clock_finish, or it is called from here.
 */
void environment_finish(struct environment *env, struct clock *clock);

/*
 * The record as the JSON object `environment` of a report: what machine.h
 * and settings.h list, then frequency (before_ghz, after_ghz of a loop of
 * dependent adds), noise (noise.h; null until environment_finish) and warnings
 * (sentences). NULL on ENOMEM.
 */
json_t *environment_json(const struct environment *env);

/*
 * Print the record of a JSON object `environment` for people: two or three
 * lines that name CPU, kernel, mitigations and hypervisor, then one line a
 * warning. Works from JSON, so that a saved run prints alike.
 */
void environment_print(const json_t *env, FILE *to);

void environment_close(struct environment *env);

#endif
