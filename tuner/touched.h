/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * touched: the pages that a process touches, by the accessed bits of its page
 * tables (/proc/PID/clear_refs and smaps_rollup, below root).
 *
 * Clearing holds the process's mmap_lock for the time of a walk over its page
 * tables, and flushes nothing: see evict.h. Counted are, beside what it touches
 * itself, file pages that others touched and unmapped meanwhile; not counted is
 * hugetlbfs.
 */
#ifndef TLBTUNE_TOUCHED_H
#define TLBTUNE_TOUCHED_H

#include <sys/types.h>

/* In pages of 4 KiB. */
struct touched {
	double pages; /* with the accessed bit */
	double huge;  /* mapped, touched or not, by entries of 2 MiB */
	double resident;
};

/* Clear the accessed bits of all pages. 0, or -1 with errno. */
int touched_clear(const char *root, pid_t process);

/* 0, or -1 with errno; EPROTO: the kernel tells something else. */
int touched_read(const char *root, pid_t process, struct touched *touched);

/* The process that a thread belongs to; -1 where that cannot be told. */
pid_t touched_process(const char *root, pid_t thread);

#endif
