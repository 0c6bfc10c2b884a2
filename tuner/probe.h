/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe: single timed readings on this machine, single-threaded.
 *
 * The operation is mprotect: n dirty pages of the target of a region lose their
 * write access. Before each reading the whole TLB is flushed through a block of
 * its own, so that every reading starts from the same state whatever came
 * before it. (Where INVLPG empties the TLB it takes the kernel's global entries
 * along, and the next call pays for that; a full flush spares them. Without
 * this a call was seen to take 300 ns more or less by what preceded it.)
 */
#ifndef TLBTUNE_PROBE_H
#define TLBTUNE_PROBE_H

#include "access.h"
#include "clock.h"
#include "region.h"

struct probe {
	const struct clock *clock;
	struct region region;
	char *flush; /* behind the working set of the region */
	unsigned int flush_pages;
};

/* What one operation of n pages and the re-access after it took. */
struct probe_reading {
	double warm_ns;	  /* a pass over the warm working set before */
	double op_ns;	  /* the operation */
	double access_ns; /* a pass over the working set after */
};

/*
 * Map a region of PLAN_LARGEST pages to operate on and set_pages to access.
 * Revoking flush_pages must be a full flush; 0: not known yet, nothing is
 * flushed before a reading. Errors as region_open.
 */
int probe_open(struct probe *probe, const struct clock *clock, size_t set_pages,
	       unsigned int flush_pages, uint64_t seed, char **why);
void probe_close(struct probe *probe);

/* ns of one operation on n pages, restored afterwards. 0 or -1 with errno. */
int probe_op(const struct probe *probe, unsigned int n, double *op_ns);

/* The same with a working set accessed before and after. */
int probe_refill(const struct probe *probe, const struct access *access,
		 unsigned int n, struct probe_reading *reading);

/*
 * Flush, fill with the set, and time as many more passes as make at least 1024
 * accesses: a single pass over a small set is too short for a clock that steps.
 * ns per access.
 */
int probe_reach(const struct probe *probe, const struct access *access,
		double *access_ns);

#endif
