/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_private: a trace as its two files know it, and nobody else:
 * trace_setup.c opens and closes it, trace.c records and reads.
 */
#ifndef TLBTUNE_TRACE_PRIVATE_H
#define TLBTUNE_TRACE_PRIVATE_H

#include <stddef.h>
#include <sys/types.h>
#include <tracefs.h>

#include "trace.h"

/*
 * What is left to do at exit. It stays in memory, since on_exit cannot be
 * taken back, and a child that forgets to exec must not do it for its parent.
 */
struct guard {
	struct tracefs_instance *instance; /* NULL: removed */
	pid_t owner;
	int held; /* keeps others from removing it, -1 */
};

/* A wanted event as this kernel has it. */
struct found {
	struct tep_event *event;
	struct tep_format_field *field[TRACE_FIELDS];
};

struct trace {
	struct trace_config config;
	struct tep_handle *tep;
	struct guard *guard;
	struct found *found; /* [config.wants] */
	pid_t *thread;	     /* [threads], ascending, of TRACE_OURS */
	size_t threads;
};

/* *why becomes "cannot trace: " and what format makes; returns -1. */
__attribute__((format(printf, 2, 3))) int trace_fail(char **why,
						     const char *format, ...);

/* Write text to a file of the instance. 0, or -1 with *why. */
int trace_set(struct trace *trace, const char *file, const char *text,
	      char **why);

#endif
