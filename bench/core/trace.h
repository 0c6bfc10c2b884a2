/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace: events of the kernel, in a tracing instance of our own.
 *
 * An instance has buffers, filters and switches of its own, so that neither
 * other tracers nor we notice each other. It is named after program and process
 * and is removed by trace_close, and at exit if that is not reached. One that a
 * process of ours left behind, killed before it could remove it, is removed by
 * the next trace_open, which says so on stderr.
 *
 * Between trace_stop and the next trace_start the kernel's code is as it is
 * without tracing (a switch takes about 10 ms for that), so that what is timed
 * then is not slowed down.
 */
#ifndef TLBTUNE_TRACE_H
#define TLBTUNE_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRACE_FIELDS 4
#define TRACE_TEXT 16 /* the length of a task's name in the kernel */

/* An event of the kernel, and what of it is wanted. */
struct trace_want {
	const char *system, *name;	 /* "tlb", "tlb_flush" */
	const char *field[TRACE_FIELDS]; /* the rest NULL */
	const char *filter; /* in the kernel's syntax, NULL: all of them */
};

/* Whose events: those that occur while one of these threads is running. */
enum trace_whose {
	TRACE_ANYONE,
	TRACE_OURS,    /* threads this process has at trace_start */
	TRACE_PROCESS, /* threads of another, and all that they start */
};

struct trace_config {
	const char *directory; /* of tracefs, NULL: where it is mounted */
	const struct trace_want *want; /* must outlive the trace */
	size_t wants;
	enum trace_whose whose;
	pid_t process;	   /* of TRACE_PROCESS */
	size_t buffer_kib; /* for each CPU, 0: the kernel's default */
};

struct trace_event {
	uint64_t ns;		     /* CLOCK_MONOTONIC_RAW: clock_raw_ns */
	unsigned int cpu;	     /* it occurred on */
	pid_t thread;		     /* it interrupted, 0: the idle task */
	size_t want;		     /* index into config.want */
	int64_t field[TRACE_FIELDS]; /* in the order wanted, sign-extended */
	char text[TRACE_TEXT];	     /* of the last wanted field that is one */
};

struct trace;

/*
 * Prepare to trace. NULL with *why, a malloc'ed sentence, where that cannot be:
 * built without libtracefs, tracefs is not mounted, no permission, the kernel
 * has no such event or field. *why is NULL when memory is short.
 */
struct trace *trace_open(const struct trace_config *config, char **why);

/* Forget what was recorded and record from now on. 0, or -1 as trace_open. */
int trace_start(struct trace *trace, char **why);

/* Record no more; what was recorded is kept. 0, or -1 as trace_open. */
int trace_stop(struct trace *trace, char **why);

/* Takes one event; anything but 0 ends trace_read. */
typedef int (*trace_take)(void *context, const struct trace_event *event);

/*
 * Hand over, oldest first, and drop the events recorded so far; also while
 * recording. Returns 0, what take returned, or -1 with errno.
 */
int trace_read(struct trace *trace, trace_take take, void *context);

/* Events lost since trace_start for want of room; NAN: unknown. */
double trace_lost(const struct trace *trace);

/* Remove the instance. NULL is allowed. */
void trace_close(struct trace *trace);

#endif
