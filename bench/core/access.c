/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "random.h"

#define LINE 64

const char *const pattern_name[PATTERNS] = {
	[PATTERN_SEQ] = "seq",
	[PATTERN_RANDOM] = "random",
	[PATTERN_CHASE] = "chase",
};

int pattern_parse(const char *name)
{
	int i;

	for (i = 0; i < PATTERNS; i++)
		if (!strcmp(name, pattern_name[i]))
			return i;
	return -1;
}

/* The line of page i, in lines from base: another one for each page. */
static size_t line_of_page(size_t i, size_t stride)
{
	size_t lines = stride / LINE;

	return i * lines + i % lines;
}

/* Link the lines of the order into one cycle. */
static void link_chase(struct access *access)
{
	size_t i;

	for (i = 0; i < access->pages; i++) {
		size_t next = i + 1 < access->pages ? i + 1 : 0;
		void **here = (void **)(access->base +
					(size_t)access->line[i] * LINE);

		*here = access->base + (size_t)access->line[next] * LINE;
	}
	access->start =
		(void **)(access->base + (size_t)access->line[0] * LINE);
}

int access_open(struct access *access, enum pattern pattern, bool write,
		char *base, size_t pages, size_t stride, uint64_t seed)
{
	size_t i;

	if (pages == 0 || stride < LINE || stride % LINE ||
	    line_of_page(pages - 1, stride) > UINT32_MAX) {
		errno = EINVAL;
		return -1;
	}
	*access = (struct access){
		.pattern = pattern,
		.write = write,
		.pages = pages,
		.base = base,
		.line = calloc(pages, sizeof(*access->line)),
	};
	if (!access->line)
		return -1;
	for (i = 0; i < pages; i++)
		access->line[i] = (uint32_t)line_of_page(i, stride);
	if (pattern != PATTERN_SEQ)
		random_shuffle(access->line, pages, seed);
	if (pattern == PATTERN_CHASE)
		link_chase(access);
	return 0;
}

void access_close(struct access *access)
{
	free(access->line);
	*access = (struct access){ 0 };
}

/* Tell the compiler that value is used and memory may have changed. */
static inline void consume(const void *value)
{
	__asm__ volatile("" : : "r"(value) : "memory");
}

/* Go on hops lines from p; returns where that ends. */
static void **chase(void **p, size_t hops)
{
	size_t i;

	for (i = 0; i < hops; i++)
		p = *(void ***)p;
	consume(p);
	return p;
}

static void **chase_write(void **p, size_t hops)
{
	size_t i;

	for (i = 0; i < hops; i++) {
		void **next = *p;

		*(volatile size_t *)(p + 1) = i; /* same line, other word */
		p = next;
	}
	consume(p);
	return p;
}

static void loads(const struct access *access, size_t from, size_t to)
{
	uintptr_t sum = 0;
	size_t i;

	for (i = from; i < to; i++)
		sum += *(volatile uintptr_t *)(access->base +
					       (size_t)access->line[i] * LINE);
	consume((void *)sum);
}

static void stores(const struct access *access, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++)
		*(volatile uintptr_t *)(access->base +
					(size_t)access->line[i] * LINE) = i;
}

/* Access the lines from .. to - 1 of the order; a chase goes on from *at. */
static void access_range(const struct access *access, void ***at, size_t from,
			 size_t to)
{
	if (access->pattern == PATTERN_CHASE && access->write)
		*at = chase_write(*at, to - from);
	else if (access->pattern == PATTERN_CHASE)
		*at = chase(*at, to - from);
	else if (access->write)
		stores(access, from, to);
	else
		loads(access, from, to);
}

void access_pass(const struct access *access)
{
	access_passes(access, 1);
}

/* The cycle of a chase has as many hops as pages: a pass ends where it began.
 */
void access_passes(const struct access *access, size_t n)
{
	void **at = access->start;

	while (n-- > 0)
		access_range(access, &at, 0, access->pages);
}

size_t access_slices(const struct access *access)
{
	return (access->pages + ACCESS_SLICE - 1) / ACCESS_SLICE;
}

void access_slice(const struct access *access, struct access_cursor *cursor)
{
	size_t slices = access_slices(access);
	size_t from = cursor->slice * access->pages / slices;
	size_t to = (cursor->slice + 1) * access->pages / slices;

	if (cursor->slice == 0)
		cursor->at = access->start;
	access_range(access, &cursor->at, from, to);
	cursor->slice = cursor->slice + 1 < slices ? cursor->slice + 1 : 0;
}
