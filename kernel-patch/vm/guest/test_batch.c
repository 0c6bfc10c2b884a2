/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * batch: what reclaim flushes in batches is flushed in full, whatever the
 * factor.
 *
 * Pages that were given up with MADV_FREE are reclaimed without a place to
 * write them to. Reclaim defers their flushes only where another CPU uses the
 * address space, so that a thread runs there.
 */
#include <config.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "area.h"
#include "flush.h"
#include "guest.h"
#include "knob.h"
#include "spinner.h"
#include "tap.h"

#define PAGED_OUT 8 /* pages; fewer than any ceiling of these tests */

struct batch {
	int full, partial; /* batched flushes, on this CPU */
	int sent;	   /* and full ones sent to others */
};

/*
 * A batched flush is made on the initiator with the reason of a remote one's
 * local part, and there is no decision at the initiator.
 */
static struct batch page_out(struct area *area)
{
	struct batch batch = { 0 };
	struct flush_event *events;
	size_t count;

	area_prepare(area, PAGED_OUT);
	madvise(area->target, PAGED_OUT * PAGE, MADV_FREE);
	flush_trace();
	madvise(area->target, PAGED_OUT * PAGE, MADV_PAGEOUT);
	count = flush_stop(&events);
	for (size_t i = 0; i < count; i++) {
		if (events[i].kind != FLUSH_DONE || events[i].pid != getpid())
			continue;
		if (events[i].reason == FLUSH_LOCAL && events[i].pages == -1)
			batch.full++;
		else if (events[i].reason == FLUSH_LOCAL)
			batch.partial++;
		else if (events[i].reason == FLUSH_SEND_IPI &&
			 events[i].pages == -1)
			batch.sent++;
	}
	free(events);
	return batch;
}

int test_batch(int argc, char **argv)
{
	static const long factors[] = { -2, -1, 0, 4, 5 };
	const bool patched = flush_has_range();
	struct spinner spinner;
	struct area area;

	(void)argc;
	(void)argv;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip_all("one CPU: reclaim defers no flush");
	spinner_pin(0);
	area_open(&area, PAGED_OUT, false);
	spinner_start(&spinner, 1);
	for (size_t i = 0; i < (patched ? 5 : 1); i++) {
		struct batch batch;

		if (patched)
			is_int(knob_set(factors[i], 512), 0, "factor %ld",
			       factors[i]);
		batch = page_out(&area);
		ok(batch.full > 0 && batch.sent > 0,
		   "factor %ld: reclaim flushed in batches: %d here, %d sent",
		   factors[i], batch.full, batch.sent);
		is_int(batch.partial, 0, "... and none page by page");
	}
	spinner_stop(&spinner);
	area_close(&area);
	if (patched)
		is_int(knob_write(KNOB_FACTOR, -2), 0, "the default is back");
	return done();
}
