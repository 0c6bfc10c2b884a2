/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * area: see area.h.
 */
#include <config.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "area.h"
#include "guest.h"

#define GIB (1UL << 30)

const char *const area_op_names[AREA_OPS] = { "mprotect", "munmap", "madvise" };

static void must(bool good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* Write to every page, or to every huge page. */
static void dirty(char *begin, size_t size, size_t unit)
{
	for (size_t i = 0; i < size; i += unit)
		*(volatile char *)(begin + i) = 1;
}

/*
 * Of huge pages the area begins at 1 GiB, where a table of theirs begins, and
 * the first and the last of them stay; of small ones at 2 MiB.
 */
void area_open(struct area *area, size_t max, bool huge)
{
	const size_t align = huge ? GIB : HUGE;
	uintptr_t base;

	area->unit = huge ? HUGE : PAGE;
	area->map_size = align + (max + 2) * area->unit + HUGE;
	area->map = mmap(NULL, area->map_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(area->map != MAP_FAILED, "mmap");
	must(madvise(area->map, area->map_size,
		     huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0,
	     "madvise");
	base = ((uintptr_t)area->map + align - 1) & ~(align - 1);
	area->target = (char *)base + area->unit;
	dirty((char *)base, (max + 2) * area->unit, area->unit);
}

void area_close(struct area *area)
{
	munmap(area->map, area->map_size);
}

void area_prepare(struct area *area, size_t n)
{
	dirty(area->target, n * area->unit, area->unit);
}

void area_operate(struct area *area, enum area_op op, size_t n)
{
	const size_t size = n * area->unit;

	if (op == AREA_MPROTECT)
		must(mprotect(area->target, size, PROT_READ) == 0, "mprotect");
	else if (op == AREA_MUNMAP)
		must(munmap(area->target, size) == 0, "munmap");
	else
		must(madvise(area->target, size, MADV_DONTNEED) == 0,
		     "madvise");
}

void area_restore(struct area *area, enum area_op op, size_t n)
{
	const size_t size = n * area->unit;
	const int rw = PROT_READ | PROT_WRITE;

	if (op == AREA_MPROTECT) {
		must(mprotect(area->target, size, rw) == 0, "mprotect");
	} else if (op == AREA_MUNMAP) {
		must(mmap(area->target, size, rw,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				  MAP_FIXED,
			  -1, 0) == area->target,
		     "mmap");
		must(madvise(area->target, size,
			     area->unit == PAGE ? MADV_NOHUGEPAGE :
						  MADV_HUGEPAGE) == 0,
		     "madvise");
	}
	area_prepare(area, n);
}
