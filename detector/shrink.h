/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shrink: a program that fails, made as short as it can be.
 *
 * Pure, but for what fails() does.
 */
#ifndef TLBTUNE_SHRINK_H
#define TLBTUNE_SHRINK_H

#include "program.h"

/* Whether a program still fails; it has no program_fault(). */
typedef bool (*shrink_fails)(void *context, const struct program *program);

/*
 * Replace the program by a shorter one until no step can be left out, no range
 * made smaller and no actor or page spared without that it stops failing; or
 * until fails has been asked limit times. 0, or -1 with ENOMEM; the program
 * fails in either case.
 */
int shrink(struct program *program, shrink_fails fails, void *context,
	   size_t limit);

#endif
