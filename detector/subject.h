/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subject: what performs the steps of a program: the kernel and CPUs of this
 * machine (live.h), or in tests a simulation with faults of its own.
 *
 * Every page has one 64-bit slot for each actor, which that actor alone writes,
 * each time another value. So whose write is missing, or is where it should not
 * be, shows in the page itself.
 */
#ifndef TLBTUNE_SUBJECT_H
#define TLBTUNE_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "program.h"

/* What a step did. The arrays have an element for each page of its range. */
struct outcome {
	int error;	  /* of an operation: errno, or 0 */
	const char *hint; /* what it means there, or NULL */
	unsigned int cpu; /* where it ran */
	/*
	 * of an access: 1, it faulted; of an operation that may leave pages
	 * out: 1, it took the page
	 */
	unsigned char *flag;
	uint64_t *value; /* of a read: [count][actors], what it saw */
};

/* Functions that return int: 0, or -1 with *why a malloc'ed sentence. */
struct subject {
	/* Fresh memory for a program; nonce makes its values unique. */
	int (*open)(void *context, const struct program *program,
		    uint32_t nonce, char **why);
	/* Perform the steps first..end-1, one group; outcome[] is of all */
	int (*run)(void *context, size_t first, size_t end,
		   struct outcome *outcome, char **why);
	/*
	 * The slots of a page, seen in another way than through the mapping
	 * under test: frame is what the program has there (or had, then -1
	 * means that this cannot be seen any more).
	 */
	int (*view)(void *context, unsigned int page, size_t frame,
		    uint64_t *slot);
	/* The same of the child made by the last fork, or -1. */
	int (*snapshot)(void *context, unsigned int page, uint64_t *slot);
	void (*close)(void *context);
	void *context;
};

/* What a write step puts into the slot of its actor. */
static inline uint64_t subject_value(uint32_t nonce, size_t step,
				     unsigned int page)
{
	return (uint64_t)nonce << 32 | (uint64_t)(step + 1) << 16 | (page + 1);
}

#endif
