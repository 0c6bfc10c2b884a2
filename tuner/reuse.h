/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reuse: how many pages a process touches in a short while, as an upper bound
 * of what it reuses after a flush.
 */
#ifndef TLBTUNE_REUSE_H
#define TLBTUNE_REUSE_H

#include <sys/types.h>

/*
 * Pages of 4 KiB that the process touches in 10 ms, by the accessed bits of its
 * page tables (/proc/PID/clear_refs and smaps_rollup, below root). Clearing
 * them costs the process a flush. NAN where that cannot be told.
 */
double reuse_pages(const char *root, pid_t pid);

#endif
