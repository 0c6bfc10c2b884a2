/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sweep: see sweep.h.
 */
#include <config.h>

#include <stdlib.h>
#include <unistd.h>

#include "area.h"
#include "flush.h"
#include "guest.h"
#include "sweep.h"
#include "tap.h"

#define OUTSIDE (-1) /* mark: not within an operation */
#define PAST 3	     /* n beyond the ceiling that are tried */
#define TOLD 5	     /* wrong n that are told about */

/* What one operation was seen to do. */
struct seen {
	int ranges, flushes;
	struct flush_event range, flush; /* the last of each */
};

/* What all of them did, whoever did it: for comparison with the counters. */
struct sum {
	long partial, full, one;
};

static bool as_policy(const struct sweep *sweep, size_t n,
		      const struct seen *seen)
{
	const bool full = n > sweep->ceiling;
	const int shift = sweep->area->unit == PAGE ? 12 : 21;

	if (flush_has_range() &&
	    (seen->ranges != 1 || seen->range.pages != (long)n ||
	     seen->range.shift != shift || seen->range.full != full))
		return false;
	return seen->flushes == 1 && seen->flush.reason == FLUSH_LOCAL_MM &&
	       seen->flush.pages == (full ? -1 : (long)n);
}

static void tell(const struct sweep *sweep, size_t n, const struct seen *seen)
{
	diag("n = %zu, ceiling %lu: %d decisions (pages %ld, shift %d, %s), "
	     "%d flushes (pages %ld, reason %d)",
	     n, sweep->ceiling, seen->ranges, seen->range.pages,
	     seen->range.shift, seen->range.full ? "full" : "partial",
	     seen->flushes, seen->flush.pages, seen->flush.reason);
}

static void add(struct sum *sum, const struct flush_event *event)
{
	if (event->kind == FLUSH_RANGE && event->full)
		sum->full++;
	else if (event->kind == FLUSH_RANGE)
		sum->partial++;
	else if (event->kind == FLUSH_DONE && event->pages > 0)
		sum->one += event->pages;
}

/* Go through the recording; the number of n that were right. */
static size_t judge(const struct sweep *sweep, struct sum *sum)
{
	struct flush_event *events;
	size_t count = flush_stop(&events), right = 0, wrong = 0;
	struct seen seen = { 0 };
	long n = OUTSIDE;

	for (size_t i = 0; i < count; i++) {
		const struct flush_event *event = events + i;

		add(sum, event);
		if (event->kind == FLUSH_MARK) {
			if (event->pages == OUTSIDE && n != OUTSIDE) {
				if (as_policy(sweep, (size_t)n, &seen))
					right++;
				else if (wrong++ < TOLD)
					tell(sweep, (size_t)n, &seen);
			}
			n = event->pages;
			seen = (struct seen){ 0 };
		} else if (n != OUTSIDE && event->pid == getpid()) {
			if (event->kind == FLUSH_RANGE) {
				seen.ranges++;
				seen.range = *event;
			} else {
				seen.flushes++;
				seen.flush = *event;
			}
		}
	}
	free(events);
	return right;
}

/* True if the counters rose by what the events add up to. */
static bool counted(const struct flush_counts *before,
		    const struct flush_counts *after, const struct sum *sum)
{
	if (!flush_has_range())
		return true;
	if (after->partial - before->partial == sum->partial &&
	    after->full - before->full == sum->full &&
	    after->one - before->one == sum->one)
		return true;
	diag("counters: partial +%ld, full +%ld, INVLPG +%ld; "
	     "events: %ld, %ld, %ld",
	     after->partial - before->partial, after->full - before->full,
	     after->one - before->one, sum->partial, sum->full, sum->one);
	return false;
}

size_t sweep_run(const struct sweep *sweep)
{
	struct flush_counts before, after;
	struct sum sum = { 0 };
	size_t right;

	area_prepare(sweep->area, sweep->last);
	flush_trace();
	before = flush_count();
	for (size_t n = sweep->first; n <= sweep->last; n++) {
		flush_mark((long)n);
		area_operate(sweep->area, sweep->op, n);
		flush_mark(OUTSIDE);
		area_restore(sweep->area, sweep->op, n);
	}
	after = flush_count();
	right = judge(sweep, &sum);
	return counted(&before, &after, &sum) ? right : 0;
}

void sweep_test(struct area *area, enum area_op op, unsigned long ceiling,
		size_t max, const char *name)
{
	struct sweep sweep = {
		.area = area,
		.op = op,
		.ceiling = ceiling,
		.first = 1,
		.last = ceiling + PAST < max ? ceiling + PAST : max,
	};

	is_int(sweep_run(&sweep), sweep.last,
	       "%s, %s: n = 1..%zu, ceiling %lu: as the policy says", name,
	       area_op_names[op], sweep.last, ceiling);
}

void sweep_around(struct area *area, enum area_op op, unsigned long ceiling,
		  const char *name)
{
	const struct sweep sweep = {
		.area = area,
		.op = op,
		.ceiling = ceiling,
		.first = ceiling > PAST ? ceiling - 2 : 1,
		.last = ceiling + PAST,
	};

	is_int(sweep_run(&sweep), sweep.last - sweep.first + 1,
	       "%s, %s: n = %zu..%zu, ceiling %lu: as the policy says", name,
	       area_op_names[op], sweep.first, sweep.last, ceiling);
}
