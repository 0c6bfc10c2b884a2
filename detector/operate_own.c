/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operate_own: operations that the kernel performs in its own time.
 *
 * A page that it left out is not tested; which these are, the page tables say,
 * as /proc/self/pagemap shows them.
 */
#include <config.h>

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "operate_parts.h"
#include "sysfile.h"
#include "text.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Bits of an entry of /proc/self/pagemap. */
#define PAGEMAP_PRESENT ((uint64_t)1 << 63)
#define PAGEMAP_SWAPPED ((uint64_t)1 << 62)
#define PAGEMAP_EXCLUSIVE ((uint64_t)1 << 56)

#define KSM_WAIT_MS 3000

/* What this machine lacks. */
static int refuse(const struct range *range, const char *what)
{
	range->outcome->hint = what;
	errno = EOPNOTSUPP;
	return -1;
}

static uint64_t pagemap(const struct live *live, unsigned int page)
{
	uint64_t entry;
	off_t at = (off_t)((uintptr_t)live_page(live, page) / 4096 * 8);

	if (pread(live->pagemap, &entry, sizeof(entry), at) != sizeof(entry))
		return PAGEMAP_PRESENT | PAGEMAP_EXCLUSIVE;
	return entry;
}

/*
 * MADV_FREE lets go of pages under memory pressure; MADV_PAGEOUT is what makes
 * it for these pages alone. Which it took, the page table says.
 */
int operate_free(const struct range *range)
{
	const struct live *live = range->live;
	unsigned int i;

	if (live->pagemap < 0)
		return refuse(range, "no /proc/self/pagemap to see it in");
	if (range_advise(range, MADV_FREE) < 0 ||
	    range_advise(range, MADV_PAGEOUT) < 0)
		return -1;
	for (i = 0; i < range->step->count; i++)
		range->outcome->flag[i] =
			!(pagemap(live, range->step->first + i) &
			  (PAGEMAP_PRESENT | PAGEMAP_SWAPPED));
	return 0;
}

/* Which pages of the range are now shared with their twins. */
static unsigned int count_merged(const struct range *range)
{
	unsigned int i, n = 0;

	for (i = 0; i < range->step->count; i++) {
		uint64_t entry = pagemap(range->live, range->step->first + i);

		range->outcome->flag[i] = (entry & PAGEMAP_PRESENT) &&
					  !(entry & PAGEMAP_EXCLUSIVE);
		n += range->outcome->flag[i];
	}
	return n;
}

static bool ksm_runs(void)
{
	char *run = sysfile_read("", "/sys/kernel/mm/ksm/run");
	bool runs = run && !strcmp(run, "1");

	free(run);
	return runs;
}

/* Give each page a twin of the same content, and wait until they are one. */
int operate_merge(const struct range *range)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct live *live = range->live;
	unsigned int i;

	if (!ksm_runs())
		return refuse(range, "KSM does not run (/sys/kernel/mm/ksm/run "
				     "is not 1)");
	if (live->pagemap < 0 || live->twin)
		return refuse(range, "no /proc/self/pagemap to see it in, or "
				     "done before");
	live->twin = space_take(&live->space, range->len, 0);
	live->twin_len = range->len;
	if (!live->twin ||
	    mmap(live->twin, range->len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return -1;
	memcpy(live->twin, range->start, range->len);
	if (madvise(live->twin, range->len, MADV_MERGEABLE) < 0 ||
	    range_advise(range, MADV_MERGEABLE) < 0)
		return -1;
	for (i = 0; i < KSM_WAIT_MS && count_merged(range) < range->step->count;
	     i++)
		nanosleep(&ms, NULL);
	return 0;
}

/* The highest node that is online; 0 where there is one only. */
static int last_node(void)
{
	char *online = sysfile_read("", "/sys/devices/system/node/online");
	const char *list = online;
	unsigned int first, last = 0;

	while (list && text_range(&list, &first, &last))
		;
	free(online);
	return (int)last;
}

int operate_migrate(const struct range *range)
{
	unsigned int count = range->step->count, i;
	void **pages = calloc(count, sizeof(*pages));
	int *nodes = calloc(count, sizeof(*nodes));
	int *status = calloc(count, sizeof(*status));
	int node = last_node(), result = -1;
	/* pages of the file are mapped twice, which takes a privilege */
	int how = range->live->file >= 0 ? MPOL_MF_MOVE_ALL : MPOL_MF_MOVE;

	if (node == 0) {
		refuse(range, "there is only one NUMA node");
		goto out;
	}
	if (!pages || !nodes || !status)
		goto out;
	for (i = 0; i < count; i++)
		pages[i] = range->start + i * range->live->unit;
	/* where they are, and from there to the other one */
	if (syscall(SYS_move_pages, 0, (unsigned long)count, pages, NULL,
		    status, 0) < 0)
		goto out;
	for (i = 0; i < count; i++)
		nodes[i] = status[i] == node ? 0 : node;
	if (syscall(SYS_move_pages, 0, (unsigned long)count, pages, nodes,
		    status, how) < 0)
		goto out;
	for (i = 0; i < count; i++)
		range->outcome->flag[i] = status[i] == nodes[i];
	result = 0;
out:
	free(pages);
	free(nodes);
	free(status);
	return result;
}

int operate_collapse(const struct range *range)
{
	const struct live *live = range->live;

	if (madvise(live->base, HUGE_PAGE, MADV_HUGEPAGE) < 0 ||
	    madvise(live->base, HUGE_PAGE, MADV_COLLAPSE) < 0)
		return -1;
	memset(range->outcome->flag, 1, range->step->count);
	return 0;
}
