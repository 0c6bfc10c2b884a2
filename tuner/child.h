/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child: run a part of the measuring in a process of its own.
 *
 * Each time block is a fresh launch: new page tables, new physical pages, a new
 * mm. What differs from launch to launch is so part of the spread between
 * blocks, and hence of every interval. The child dies with its parent.
 */
#ifndef TLBTUNE_CHILD_H
#define TLBTUNE_CHILD_H

#include <stddef.h>

/* Memory shared with the children, zeroed; NULL with errno. */
void *child_share(size_t size);
void child_unshare(void *memory, size_t size);

/*
 * Call work(context) in a child and wait for it. Returns what work returned
 * (0..125), or -1 with *why a malloc'ed sentence: it could not be started, or
 * was killed.
 */
int child_run(int (*work)(void *context), void *context, char **why);

#endif
