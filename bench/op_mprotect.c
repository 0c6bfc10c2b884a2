/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mprotect: cost of taking write access away from n pages of a process whose
 * threads keep accessing other pages.
 *
 * Only the revocation is timed: it must flush every CPU that runs this mm.
 * Giving the right back may flush as well (kernels make dirty pages writable at
 * once), so it happens outside the timed window; the pages are written again so
 * that each is present, dirty and in the caller's TLB before the next round.
 */
#include <config.h>

#include <sys/mman.h>

#include "operations.h"

static int protect(const struct bench_run *run, int rights)
{
	const struct region *region = &run->region;

	return mprotect(region->target, region->target_pages * region->page,
			rights);
}

static int revoke(struct bench_run *run)
{
	return protect(run, PROT_READ);
}

static int restore(struct bench_run *run)
{
	if (protect(run, PROT_READ | PROT_WRITE) < 0)
		return -1;
	region_dirty(&run->region);
	return 0;
}

static const struct bench *const others[] = { &operation_cow, NULL };

static const struct bench_choice choice = {
	.option = "cow",
	.doc = "write to pages that a child of fork shares instead: each is "
	       "copied, and flushed on its own",
	.among = others,
};

const struct bench operation_mprotect = {
	.name = "mprotect",
	.operation = "mprotect",
	.summary = "cost of revoking write access from some pages of a region "
		   "that is in use",
	.doc = "Each call takes write access away from PAGES dirty pages and "
	       "is timed; so are the accesses to other pages of the region "
	       "that follow it, by the caller and meanwhile by the threads of "
	       "-t, which lose their TLB entries to the same flush. Up to the "
	       "kernel's ceiling (33 pages on stock kernels) the pages are "
	       "flushed one by one, above it the whole TLB is.",
	.choice = &choice,
	.op = revoke,
	.reset = restore,
};
