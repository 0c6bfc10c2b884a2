/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generate: random programs. Pure: the same seed and bounds give the same one.
 */
#ifndef TLBTUNE_GENERATE_H
#define TLBTUNE_GENERATE_H

#include "program.h"

struct generate_bounds {
	unsigned int threshold; /* pages flushed one by one at most */
	unsigned int actors;	/* 2 or more */
	enum memory memory;
};

/* 0, or -1 with ENOMEM. The program has no program_fault(). */
int generate(const struct generate_bounds *bounds, uint64_t seed,
	     struct program *program);

#endif
