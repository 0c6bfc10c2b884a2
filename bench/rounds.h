/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rounds: which curves of latency are measured when, in the time there is.
 */
#ifndef TLBTUNE_ROUNDS_H
#define TLBTUNE_ROUNDS_H

#include "latency.h"

struct rounds {
	const struct measure *measure;
	unsigned int flush; /* as in reach_plan */
	unsigned int most;  /* time blocks */
	uint64_t start;	    /* of clock_now() */
	double seconds;	    /* for all, from start on */
};

/*
 * Measure all curves, of which the first is what people come for: it is in
 * every block, and nothing can be measured without it. Where all CPUs are busy
 * there is time for a few blocks only, and huge pages take most of it: they
 * wait for some blocks of the first curve, and are left out where that took
 * half of the time. What is not measured has a reason in its why. Returns 0,
 * also when stopped early, or -1 with *why a malloc'ed sentence.
 */
int rounds_run(const struct rounds *rounds, struct latencies *all, char **why);

#endif
