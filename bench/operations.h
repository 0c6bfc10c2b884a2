/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operations: what is timed, one system call a file (op_NAME.c). Each is a
 * program of its own and can be named to the programs that look at the effects
 * of a flush on others.
 */
#ifndef TLBTUNE_OPERATIONS_H
#define TLBTUNE_OPERATIONS_H

#include "core/bench.h"

extern const struct bench operation_cow; /* by an option of mprotect */
extern const struct bench operation_madvise;
extern const struct bench operation_mprotect;
extern const struct bench operation_munmap;
extern const struct bench operation_remap; /* by an option of munmap */

/* The operation of that name, or NULL. */
const struct bench *operations_find(const char *name);

/* All names, for messages: "a, b or c". */
#define OPERATIONS_NAMES "madvise, mprotect or munmap"

#endif
