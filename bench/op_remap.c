/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remap: cost of moving n populated pages to another address (mremap), as
 * realloc does with large blocks.
 *
 * The old translations must go from every TLB, the pages stay. The place they
 * move to is reserved by a mapping without rights, which the call replaces: so
 * nothing else can be mapped there, and malloc is kept from the hole that the
 * pages leave until they are moved back, outside the timed window.
 */
#include <config.h>

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "operations.h"

struct place {
	char *map;
	size_t map_len;
	char *start; /* in it, on a boundary of 2 MiB as the target is */
};

static size_t length(const struct bench_run *run)
{
	return run->region.target_pages * run->region.page;
}

static void *reserve(void *at, size_t len, int flags)
{
	return mmap(at, len, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static int find_place(struct bench_run *run, char **why)
{
	struct place *place = calloc(1, sizeof(*place));

	mallopt(M_MMAP_MAX, 0); /* the allocator of a sanitizer has none */
	if (place) {
		place->map_len = length(run) + 2 * REGION_HUGE;
		place->map = reserve(NULL, place->map_len, 0);
		if (place->map != MAP_FAILED) {
			uintptr_t map = (uintptr_t)place->map + REGION_HUGE - 1;

			place->start =
				(char *)(map / REGION_HUGE * REGION_HUGE);
			run->own = place;
			return 0;
		}
	}
	*why = strdup(strerror(errno));
	free(place);
	return -1;
}

static int move(void *from, void *to, size_t len)
{
	return mremap(from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
			       MAP_FAILED ?
		       -1 :
		       0;
}

static int move_there(struct bench_run *run)
{
	const struct place *place = run->own;

	return move(run->region.target, place->start, length(run));
}

static int move_back(struct bench_run *run)
{
	const struct place *place = run->own;

	if (move(place->start, run->region.target, length(run)) < 0 ||
	    reserve(place->start, length(run), MAP_FIXED_NOREPLACE) ==
		    MAP_FAILED)
		return -1;
	region_dirty(&run->region);
	return 0;
}

static void leave_place(struct bench_run *run)
{
	struct place *place = run->own;

	if (place)
		munmap(place->map, place->map_len);
	free(place);
	run->own = NULL;
}

const struct bench operation_remap = {
	.name = "munmap",
	.operation = "mremap",
	.prepare = find_place,
	.op = move_there,
	.reset = move_back,
	.finish = leave_place,
};
