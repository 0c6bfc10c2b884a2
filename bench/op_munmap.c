/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * munmap: cost of unmapping n populated pages of a process whose threads keep
 * accessing other pages.
 *
 * The pages are all that their page tables map, so that these are freed as
 * well. Then also CPUs are interrupted that only still have the mm loaded: they
 * might walk a table that is no more. The pages start on a 2 MiB boundary, or
 * the kernel would flush from the beginning of the page table, not of the
 * pages. Mapping them again and writing to each happens outside the timed
 * window; pages that nobody has touched would not be flushed.
 */
#include <config.h>

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

#include "operations.h"

/*
 * Between call and reset there is a hole where the pages were, in which nothing
 * else may be mapped: not by malloc, either.
 */
static int isolate(struct bench_run *run, char **why)
{
	mallopt(M_MMAP_MAX, 0); /* the allocator of a sanitizer has none */
	if (region_isolate(&run->region) == 0)
		return 0;
	*why = strdup(strerror(errno));
	return -1;
}

static int unmap(struct bench_run *run)
{
	const struct region *region = &run->region;

	return munmap(region->target, region->target_pages * region->page);
}

static int refill(struct bench_run *run)
{
	return region_refill(&run->region);
}

static const struct bench *const others[] = { &operation_remap, NULL };

static const struct bench_choice choice = {
	.option = "remap",
	.doc = "move the pages to another address (mremap) instead",
	.among = others,
};

const struct bench operation_munmap = {
	.name = "munmap",
	.operation = "munmap",
	.summary = "cost of unmapping some pages of a process that has others "
		   "in use",
	.doc = "Each call unmaps PAGES pages that were written to, and with "
	       "them their page tables, and is timed; so are the accesses to "
	       "other pages of the process that follow it, by the caller and "
	       "meanwhile by the threads of -t. Up to the kernel's ceiling (33 "
	       "pages on stock kernels) the pages are flushed one by one, "
	       "above it the whole TLB is.",
	.choice = &choice,
	.prepare = isolate,
	.op = unmap,
	.reset = refill,
};
