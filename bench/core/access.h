/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access: touch W pages, one cache line a page, in one of three patterns.
 *
 *  seq     ascending pages, independent loads
 *  random  random order, independent loads: most of each walk is hidden by
 *	    memory-level parallelism
 *  chase   random order, each load's address depends on the last
 *
 * The line touched differs from page to page (page i uses line i, modulo the
 * lines of a page), so that the pages spread over all cache sets as densely
 * packed lines would, and conflicts in the cache do not pass for TLB effects.
 */
#ifndef TLBTUNE_ACCESS_H
#define TLBTUNE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pattern { PATTERN_SEQ, PATTERN_RANDOM, PATTERN_CHASE };
#define PATTERNS 3

extern const char *const pattern_name[PATTERNS];

/* The pattern of that name, or -1. */
int pattern_parse(const char *name);

struct access {
	enum pattern pattern;
	bool write;
	size_t pages;
	char *base;	/* first page */
	uint32_t *line; /* [pages] lines of 64 bytes from base, in order */
	void **start;	/* first element of the chase, NULL otherwise */
};

/*
 * Prepare accesses to pages of size stride bytes from base, which must be
 * mapped writable; the order comes from seed. stride = 64 packs the lines
 * densely (the control that the TLB plays no part in). Writes pointers into the
 * memory for PATTERN_CHASE. 0 or -1 with errno.
 */
int access_open(struct access *access, enum pattern pattern, bool write,
		char *base, size_t pages, size_t stride, uint64_t seed);

/* Touch every page once. */
void access_pass(const struct access *access);

/*
 * The same n times; a chase goes on from pass to pass, so that no pass begins
 * before the last one has ended.
 */
void access_passes(const struct access *access, size_t n);

/*
 * A pass in slices, for threads that have to show that they go on: at most so
 * many accesses, with chase and random alike half a microsecond or so.
 */
#define ACCESS_SLICE 64

/* Where a thread is in its passes; all zero: at the start. */
struct access_cursor {
	size_t slice;
	void **at; /* of the chase */
};

/* Slices that make up a pass. */
size_t access_slices(const struct access *access);

/* Access the pages of the next slice. Slices differ by one page at most. */
void access_slice(const struct access *access, struct access_cursor *cursor);

void access_close(struct access *access);

#endif
