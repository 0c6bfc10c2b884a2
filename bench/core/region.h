/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * region: the memory of a benchmark.
 *
 * One private anonymous mapping:
 *
 *	| margin | target: n pages | margin | working set: w pages | margin |
 *
 * target and working set each start on a 2 MiB boundary. So a target of up to
 * 512 pages lies within one page table and never shares it with anything else,
 * and it is never the whole VMA: both would change what an operation on it
 * costs and flushes. There can be several targets, each followed by a margin,
 * for operations that are undone later.
 *
 * What splitting the VMA costs depends on the others: Linux keeps them in a
 * tree, and where a leaf of it is full an mprotect was seen to take 15 %
 *longer, launch after launch. So a region lies among VMAs of its own, whose
 *number and order are drawn anew in each time block.
 */
#ifndef TLBTUNE_REGION_H
#define TLBTUNE_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_PAGE ((size_t)4096)
#define REGION_HUGE ((size_t)2 << 20)

enum region_kind {
	REGION_SMALL,	/* pages of 4 KiB, no others */
	REGION_THP,	/* transparent huge pages of 2 MiB, no others */
	REGION_HUGETLB, /* pages of 2 MiB that were set aside for that */
};

/* "thp", "hugetlb"; NULL for small pages. */
extern const char *const region_kind_name[];

struct region {
	enum region_kind kind;
	size_t page; /* bytes: REGION_PAGE or REGION_HUGE */
	char *map;
	size_t map_len;
	char *target;	     /* the first of them */
	size_t target_pages; /* of each */
	size_t targets;
	size_t target_stride; /* bytes from one to the next */
	char *set;	      /* the working set */
	size_t set_pages;
	size_t hole_len; /* bytes behind each target that are not mapped */
	char *around;	 /* the mapping with the neighbours on both sides */
	size_t around_len;
};

#define REGION_NEIGHBOURS 32 /* pages on either side */

/*
 * Bytes that this process can have without swapping, or being killed for a
 * limit of its cgroup; SIZE_MAX or about that: unknown.
 */
size_t region_available(const char *root);

/*
 * Map, populate and verify the region: every page of target and working set is
 * present, and of the kind asked for. On
 * failure returns -1 and *why is a malloc'ed sentence; errno EAGAIN marks what
 * this machine cannot give (memory, huge pages). The seed draws the
 * neighbours.
 */
int region_open(struct region *region, size_t target_pages, size_t set_pages,
		enum region_kind kind, uint64_t seed, char **why);

/* The same with so many targets of target_pages each, at least one. */
int region_open_targets(struct region *region, size_t targets,
			size_t target_pages, size_t set_pages,
			enum region_kind kind, uint64_t seed, char **why);

/*
 * The region as one that has only target number i, for operations. It is part
 * of region and must not be closed.
 */
struct region region_target(const struct region *region, size_t i);

/* Check again that the region is as region_open left it. Same errors. */
int region_verify(const struct region *region, char **why);

/* How many 4 KiB pages of the first target are present. Errors as region_open.
 */
int region_present(const struct region *region, size_t *pages, char **why);

/*
 * Leave each target alone in the last of its page tables: unmap what else that
 * would map. Unmapping the target then frees its page tables. 0, or -1 with
 * errno.
 */
int region_isolate(struct region *region);

/*
 * Map the first target again after it was unmapped, as region_open did. 0, or
 * -1 with errno (EEXIST: meanwhile something else was mapped there).
 */
int region_refill(const struct region *region);

/* Write to every page of each target, so that each is present and dirty. */
void region_dirty(const struct region *region);

void region_close(struct region *region);

#endif
