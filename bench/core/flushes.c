/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>

#include "flushes.h"

const char *const flush_reason_name[FLUSH_REASONS] = {
	[FLUSH_TASK_SWITCH] = "task switch",
	[FLUSH_REMOTE] = "remote shootdown",
	[FLUSH_LOCAL] = "local shootdown",
	[FLUSH_LOCAL_MM] = "local mm shootdown",
	[FLUSH_SEND] = "remote IPI send",
	[FLUSH_WRONG_CPU] = "wrong CPU",
};

const struct trace_want flush_want = {
	.system = "tlb",
	.name = "tlb_flush",
	.field = { "reason", "pages" },
};

struct flush flush_of(const struct trace_event *event)
{
	/* TLB_FLUSH_ALL, an unsigned long with all bits set */
	bool full = event->field[1] == -1;

	return (struct flush){
		.ns = event->ns,
		.cpu = event->cpu,
		.thread = event->thread,
		.reason = (int)event->field[0],
		.full = full,
		.pages = full ? 0 : (size_t)event->field[1],
	};
}

/* What the flushes of one operation come to. */
struct operation {
	size_t local; /* flushes by the caller */
	size_t pages; /* of those that went page by page, together */
	bool all_full, all_single;
	bool others_differ; /* a remote flush was not what is implied */
};

bool flush_is_local(const struct flush *flush)
{
	return flush->reason == FLUSH_LOCAL || flush->reason == FLUSH_LOCAL_MM;
}

bool flushes_full(const struct flush_implied *implied)
{
	return implied->claim == FLUSH_RANGE &&
	       (double)implied->pages > implied->ceiling;
}

/* A remote flush is of the kind that the operation implies. */
static bool is_implied(const struct flush *flush,
		       const struct flush_implied *implied)
{
	if (implied->claim == FLUSH_BATCH && flush->full)
		return true;
	if (flushes_full(implied))
		return flush->full;
	return !flush->full &&
	       flush->pages ==
		       (implied->claim == FLUSH_RANGE ? implied->pages : 1);
}

static bool operation_did(const struct operation *operation,
			  const struct flush_implied *implied)
{
	if (operation->others_differ || !operation->local)
		return false;
	if (implied->claim == FLUSH_BATCH && operation->all_full)
		return true;
	if (implied->claim != FLUSH_RANGE)
		return operation->all_single &&
		       operation->local == implied->pages;
	if (isnan(implied->ceiling))
		return false;
	/* Of very many pages the kernel frees some, flushes and goes on. */
	if (flushes_full(implied))
		return operation->all_full;
	return operation->local == 1 && operation->pages == implied->pages;
}

static void count_side(struct flush_side *side, const struct flush *flush)
{
	if (flush->full) {
		side->full++;
		return;
	}
	if (!side->paged || flush->pages < side->least)
		side->least = flush->pages;
	if (!side->paged || flush->pages > side->greatest)
		side->greatest = flush->pages;
	side->paged++;
}

static void count_reason(struct flush_tally *tally, int reason)
{
	if (reason < 0 || reason >= FLUSH_REASONS)
		reason = FLUSH_REASONS;
	tally->reasons[reason]++;
}

/* Add an event of an operation to it, and to the tally. */
static void count_flush(const struct flush *flush, pid_t caller,
			const struct flush_implied *implied,
			struct operation *operation, struct flush_tally *tally)
{
	bool by_caller = flush->thread == caller;

	if (flush_is_local(flush) && !by_caller)
		return; /* something of its own */
	count_reason(tally, flush->reason);
	if (flush_is_local(flush)) {
		count_side(&tally->caller, flush);
		operation->local++;
		operation->pages += flush->pages;
		operation->all_full &= flush->full;
		operation->all_single &= flush->pages == 1;
	} else if (flush->reason == FLUSH_REMOTE && !by_caller) {
		count_side(&tally->others, flush);
		operation->others_differ |= !is_implied(flush, implied);
	}
}

/*
 * Skip the events before span, count those within it; returns how many of the n
 * are behind both.
 */
static size_t count_span(const struct flush *flush, size_t n,
			 const struct flush_span *span, pid_t caller,
			 const struct flush_implied *implied,
			 struct operation *operation, struct flush_tally *tally)
{
	size_t i = 0;

	*operation = (struct operation){ .all_full = true, .all_single = true };
	while (i < n && flush[i].ns < span->from)
		i++;
	for (; i < n && flush[i].ns <= span->to; i++)
		count_flush(&flush[i], caller, implied, operation, tally);
	return i;
}

void flushes_count(const struct flush *flush, size_t n,
		   const struct flush_span *span, size_t spans, pid_t caller,
		   const struct flush_implied *implied,
		   struct flush_tally *tally)
{
	size_t done = 0, i;

	for (i = 0; i < spans; i++) {
		struct operation operation;

		done += count_span(flush + done, n - done, &span[i], caller,
				   implied, &operation, tally);
		tally->operations++;
		tally->without += !operation.local;
		tally->as_implied += operation_did(&operation, implied);
	}
}

double flushes_ceiling(const struct flush *flush, size_t n,
		       const struct flush_span *span, size_t spans,
		       pid_t caller)
{
	size_t done = 0, paged = 0, i;

	for (i = 0; i < spans; i++) {
		const struct flush_implied any = { .ceiling = NAN };
		struct flush_tally tally = { 0 };
		struct operation operation;

		done += count_span(flush + done, n - done, &span[i], caller,
				   &any, &operation, &tally);
		if (operation.local == 1 && operation.pages == i + 1 &&
		    paged == i)
			paged++;
		else if (operation.local != 1 || !operation.all_full)
			return NAN;
	}
	if (!spans)
		return NAN;
	return paged == spans ? INFINITY : (double)paged;
}

double flushes_share(const struct flush_tally *tally)
{
	return (double)tally->as_implied / (double)tally->operations;
}
