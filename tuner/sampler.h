/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler: look, at random moments, at what a program that is being watched
 * touches between its flushes.
 *
 * Looked at is, each time, the process of a flush picked at random among the
 * last ones: so a process of a program with several counts as often as it
 * flushes. Looks are spaced so that they take no more than a twentieth of the
 * time.
 */
#ifndef TLBTUNE_SAMPLER_H
#define TLBTUNE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "evict.h"
#include "reuse.h"

struct sampler_config {
	const char *root;	      /* "" for the machine itself */
	uint64_t (*now)(void *clock); /* ns, as those of the flushes */
	void *clock;
	pid_t process; /* looked at as long as none is known to flush */
	struct evictor *evictor; /* NULL: bits are cleared without a flush */
	uint64_t seed;
};

struct sampler;

/* NULL on ENOMEM. */
struct sampler *sampler_open(const struct sampler_config *config);
void sampler_close(struct sampler *sampler);

/* A thread of the program has initiated a flush. */
void sampler_flush(struct sampler *sampler, pid_t thread, uint64_t ns);

/* Do what is due; returns the time at which something is due again. */
uint64_t sampler_step(struct sampler *sampler);

/* A look is under way, and the next step should not come late. */
bool sampler_looks(const struct sampler *sampler);

/*
 * What was read so far, of looks during which the program flushed as often as
 * it does; of a long watch, a random part in no order.
 */
const struct reuse_reading *sampler_readings(struct sampler *sampler,
					     size_t *n);

/* errno of the last look that failed; 0: none did. */
int sampler_error(const struct sampler *sampler);

#endif
