/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flush: what the kernel flushed, by its tracepoints and by its counters.
 */
#ifndef TLBTUNE_GUEST_FLUSH_H
#define TLBTUNE_GUEST_FLUSH_H

#include <stdbool.h>
#include <stddef.h>

/* Reasons of tlb:tlb_flush, enum tlb_flush_reason of the kernel. */
enum {
	FLUSH_REMOTE = 1,
	FLUSH_LOCAL = 2,
	FLUSH_LOCAL_MM = 3,
	FLUSH_SEND_IPI = 4,
};

struct flush_event {
	enum {
		FLUSH_MARK,  /* flush_mark() was called */
		FLUSH_RANGE, /* tlb:tlb_flush_range: a decision */
		FLUSH_DONE,  /* tlb:tlb_flush: a flush, or what was sent */
	} kind;
	int pid;
	long pages; /* -1: everything; of a mark, its value */
	int reason; /* of FLUSH_DONE */
	int shift;  /* of FLUSH_RANGE: log2 of the stride */
	bool full;  /* of FLUSH_RANGE */
};

/* True if the kernel has tlb:tlb_flush_range. */
bool flush_has_range(void);

/* Record from now on. Anything that goes wrong ends the process: no test. */
void flush_trace(void);

/* Leave a mark in the recording. */
void flush_mark(long value);

/*
 * Stop recording; *events, malloc'ed, are the events of all processes in the
 * order of time. Returns their number. That none was lost is made sure of.
 */
size_t flush_stop(struct flush_event **events);

/* Counters of /proc/vmstat, -1 where the kernel has none. */
struct flush_counts {
	long partial, full;    /* tlb_flush_range_*: decisions */
	long one, all;	       /* nr_tlb_local_flush_* */
	long remote, received; /* nr_tlb_remote_flush* */
};

struct flush_counts flush_count(void);

#endif
