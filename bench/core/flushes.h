/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flushes: what the kernel did for operations, told by its tracepoint
 * tlb:tlb_flush, against what an operation of n pages implies. Pure.
 *
 * A flush is an event on each CPU that does it, on the caller's and on the
 * others', while the operation lasts: the caller waits for all of them. What is
 * sent is no flush (a CPU may have nothing to do any more, and after a
 * migration there may be nobody else), nor is what a CPU receives that has
 * loaded another address space by then.
 */
#ifndef TLBTUNE_FLUSHES_H
#define TLBTUNE_FLUSHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace.h"

/* enum tlb_flush_reason of the kernel, include/linux/mm_types.h */
enum flush_reason {
	FLUSH_TASK_SWITCH, /* of what was missed while another task ran */
	FLUSH_REMOTE,	   /* asked for by another CPU */
	FLUSH_LOCAL,	   /* of a batch of pages of any address space */
	FLUSH_LOCAL_MM,
	FLUSH_SEND, /* others are asked to, and this is no flush */
	FLUSH_WRONG_CPU,
	FLUSH_REASONS
};

extern const char *const flush_reason_name[FLUSH_REASONS];

struct flush {
	uint64_t ns;
	unsigned int cpu;
	pid_t thread;
	int reason;
	bool full;
	size_t pages; /* flushed one by one; 0 if full */
};

/* The event, its fields reason and pages. */
extern const struct trace_want flush_want;

/* What an event of flush_want says. */
struct flush flush_of(const struct trace_event *event);

/* The thread asked for it: others did not, nor is it a switch. */
bool flush_is_local(const struct flush *flush);

/* What an operation says that the kernel does for it. */
enum flush_claim {
	FLUSH_RANGE, /* one flush: of n pages up to the ceiling, full above */
	FLUSH_EACH,  /* a flush of one page for each of them */
	/*
	 * What reclaim does: the same where no other CPU may need a flush, else
	 * full ones for a batch of pages (should_defer_flush, mm/rmap.c).
	 */
	FLUSH_BATCH,
};

struct flush_implied {
	enum flush_claim claim;
	size_t pages;	/* n */
	double ceiling; /* pages; NAN: unknown */
};

/* It implies full flushes; false for an unknown ceiling. */
bool flushes_full(const struct flush_implied *implied);

/* From the call to its return. */
struct flush_span {
	uint64_t from, to;
};

/* Flushes of one side. */
struct flush_side {
	size_t full, paged;	/* how many were of which kind */
	size_t least, greatest; /* pages of the latter */
};

struct flush_tally {
	size_t operations;
	size_t as_implied; /* operations all of whose flushes were */
	size_t without;	   /* operations for which the caller flushed nothing */
	struct flush_side caller, others;
	size_t reasons[FLUSH_REASONS + 1]; /* the last: unknown ones */
	double lost;			   /* events, NAN: unknown */
};

/*
 * Count the flushes [n] of operations [spans] into tally; both in the order of
 * time. Events between operations do not count, nor do those by which a thread
 * of ours but the caller flushes on its own behalf.
 */
void flushes_count(const struct flush *flush, size_t n,
		   const struct flush_span *span, size_t spans, pid_t caller,
		   const struct flush_implied *implied,
		   struct flush_tally *tally);

/*
 * The ceiling that shows in operations of 1, 2, ... pages: the largest number
 * flushed page by page if none above it is; INFINITY: all are. NAN: that cannot
 * be told, some operation had neither the one nor the other, or both, or the
 * ways alternate.
 */
double flushes_ceiling(const struct flush *flush, size_t n,
		       const struct flush_span *span, size_t spans,
		       pid_t caller);

/* The share of operations that did what was implied; NAN without any. */
double flushes_share(const struct flush_tally *tally);

#endif
