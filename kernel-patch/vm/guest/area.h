/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * area: memory whose flushes are exactly as long as the operation.
 *
 * The kernel flushes what it freed besides: a page table that becomes empty
 * makes 4 pages 304. So the target begins one page after a 2 MiB boundary, and
 * its neighbours on both sides are populated and stay.
 */
#ifndef TLBTUNE_GUEST_AREA_H
#define TLBTUNE_GUEST_AREA_H

#include <stdbool.h>
#include <stddef.h>

struct area {
	char *map; /* what was mapped */
	size_t map_size;
	char *target; /* operations begin here */
	size_t unit;  /* 4 KiB, or 2 MiB for huge pages */
};

/* How to make the kernel flush. */
enum area_op { AREA_MPROTECT, AREA_MUNMAP, AREA_MADVISE, AREA_OPS };

extern const char *const area_op_names[AREA_OPS];

/* Room for max units behind target; Bails out of the test without memory. */
void area_open(struct area *area, size_t max, bool huge);
void area_close(struct area *area);

/* Make n units present, dirty and writable. */
void area_prepare(struct area *area, size_t n);

/* Do it to n units. */
void area_operate(struct area *area, enum area_op op, size_t n);

/* Undo it, and prepare n units again. */
void area_restore(struct area *area, enum area_op op, size_t n);

#endif
