/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * madvise: cost of giving n pages up in one of four ways, in a process whose
 * threads keep accessing other pages.
 *
 *  dontneed	the pages are freed
 *  free	they may be, until they are written to again
 *  cold	they look as if they had not been used for long
 *  pageout	they are written to swap and freed
 *
 * All of them change page-table entries that the CPU may have in its TLB. The
 * pages stay mapped; writing to each, outside the timed window, brings them
 * back. Without swap nothing is paged out and so nothing flushed: then there is
 * nothing to measure.
 */
#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/sysfile.h"
#include "core/text.h"
#include "operations.h"
#include "why.h"

static int advise(const struct bench_run *run, int advice)
{
	const struct region *region = &run->region;

	return madvise(region->target, region->target_pages * region->page,
		       advice);
}

static int dirty(struct bench_run *run)
{
	region_dirty(&run->region);
	return 0;
}

/* The kernel takes this advice. */
static int try(const struct bench_run *run, int advice, const char *name,
	       char **why)
{
	if (advise(run, advice) < 0)
		return why_set(why, EAGAIN, "madvise(%s): %s%s", name,
			       strerror(errno),
			       errno == EINVAL ?
				       " (this kernel does not have it)" :
				       "");
	region_dirty(&run->region);
	return 0;
}

static int dontneed(struct bench_run *run)
{
	return advise(run, MADV_DONTNEED);
}

static int prepare_free(struct bench_run *run, char **why)
{
	return try(run, MADV_FREE, "MADV_FREE", why);
}

static int free_later(struct bench_run *run)
{
	return advise(run, MADV_FREE);
}

static int prepare_cold(struct bench_run *run, char **why)
{
	return try(run, MADV_COLD, "MADV_COLD", why);
}

static int cold(struct bench_run *run)
{
	return advise(run, MADV_COLD);
}

static bool has_swap(void)
{
	char *text = sysfile_read("", "/proc/meminfo");
	char *free_kib = text ? text_field(text, "SwapFree") : NULL;
	bool none = free_kib && !strcmp(free_kib, "0 kB");

	free(text);
	free(free_kib);
	return !none;
}

/*
 * Other pages in their place: those may still be on their way to swap, and
 * until they are there they would not be paged out again.
 */
static int replace(struct bench_run *run)
{
	if (advise(run, MADV_DONTNEED) < 0)
		return -1;
	return dirty(run);
}

/* There is swap for the pages, and they go there. */
static int prepare_pageout(struct bench_run *run, char **why)
{
	const struct region *region = &run->region;
	size_t left;

	if (!has_swap())
		return why_set(why, EAGAIN,
			       "madvise(MADV_PAGEOUT): there is no swap, "
			       "so that no page would be flushed");
	if (advise(run, MADV_PAGEOUT) < 0)
		return try(run, MADV_PAGEOUT, "MADV_PAGEOUT", why);
	if (region_present(region, &left, why) < 0)
		return -1;
	if (replace(run) < 0)
		return why_set(why, EAGAIN, "madvise(MADV_DONTNEED): %s",
			       strerror(errno));
	if (left)
		return why_set(why, EAGAIN,
			       "madvise(MADV_PAGEOUT): %zu of %zu pages stay "
			       "where they are (no more swap for us?)",
			       left, region->target_pages);
	return 0;
}

static int pageout(struct bench_run *run)
{
	return advise(run, MADV_PAGEOUT);
}

static const struct bench operation_free = {
	.name = "madvise",
	.operation = "madvise(MADV_FREE)",
	.value = "free",
	.prepare = prepare_free,
	.op = free_later,
	.reset = dirty,
};

static const struct bench operation_cold = {
	.name = "madvise",
	.operation = "madvise(MADV_COLD)",
	.value = "cold",
	.prepare = prepare_cold,
	.op = cold,
	.reset = dirty,
};

static const struct bench operation_pageout = {
	.name = "madvise",
	.operation = "madvise(MADV_PAGEOUT)",
	.value = "pageout",
	.small_only = true,
	.flushes = FLUSH_BATCH,
	.prepare = prepare_pageout,
	.op = pageout,
	.reset = replace,
};

static const struct bench *const advices[] = {
	&operation_madvise,
	&operation_free,
	&operation_cold,
	&operation_pageout,
	NULL,
};

static const struct bench_choice choice = {
	.option = "advice",
	.arg = "ADVICE",
	.values = "dontneed, free, pageout or cold",
	.doc = "dontneed (default), free, pageout or cold",
	.among = advices,
};

const struct bench operation_madvise = {
	.name = "madvise",
	.operation = "madvise(MADV_DONTNEED)",
	.value = "dontneed",
	.summary = "cost of giving up the contents of some pages of a process "
		   "that has others in use",
	.doc = "Each call gives advice on PAGES pages that were written to, and "
	       "is timed; so are the accesses to other pages that follow it, by "
	       "the caller and meanwhile by the threads of -t. Up to the "
	       "kernel's ceiling (33 pages on stock kernels) the pages are "
	       "flushed one by one, above it the whole TLB is; pageout, which "
	       "needs swap, does not heed it.",
	.choice = &choice,
	.op = dontneed,
	.reset = dirty,
};
