/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_text: what trace writes to and reads from the files of tracefs. Pure,
 * but for trace_abandoned, which looks below a root prefix.
 */
#ifndef TLBTUNE_TRACE_TEXT_H
#define TLBTUNE_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The instance of a process, malloc'ed; NULL on ENOMEM. */
char *trace_text_name(const char *program, pid_t process);

/*
 * True if name is that of an instance of ours whose process is gone: there is
 * none of that number in ROOT/proc, or it is another program.
 */
bool trace_text_abandoned(const char *root, const char *name);

/*
 * A filter for the events of these threads, in ascending order, of less than
 * room bytes. Where they are too many for that it lets others pass, too. And
 * another filter unless that is NULL. malloc'ed; NULL on ENOMEM.
 */
char *trace_text_filter(const pid_t *thread, size_t n, const char *other,
			size_t room);

/* Events that a per_cpu/cpuN/stats says were lost; NAN: it does not say. */
double trace_text_lost(const char *stats);

#endif
