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

/* The cycle has as many hops as pages: a pass ends where it began. */
static void chase(const struct access *access, size_t hops)
{
	void **p = access->start;
	size_t i;

	for (i = 0; i < hops; i++)
		p = *(void ***)p;
	consume(p);
}

static void chase_write(const struct access *access, size_t hops)
{
	void **p = access->start;
	size_t i;

	for (i = 0; i < hops; i++) {
		void **next = *p;

		*(volatile size_t *)(p + 1) = i; /* same line, other word */
		p = next;
	}
	consume(p);
}

static void pass_loads(const struct access *access)
{
	uintptr_t sum = 0;
	size_t i;

	for (i = 0; i < access->pages; i++)
		sum += *(volatile uintptr_t *)(access->base +
					       (size_t)access->line[i] * LINE);
	consume((void *)sum);
}

static void pass_stores(const struct access *access)
{
	size_t i;

	for (i = 0; i < access->pages; i++)
		*(volatile uintptr_t *)(access->base +
					(size_t)access->line[i] * LINE) = i;
}

void access_pass(const struct access *access)
{
	access_passes(access, 1);
}

void access_passes(const struct access *access, size_t n)
{
	if (access->pattern == PATTERN_CHASE && access->write)
		chase_write(access, n * access->pages);
	else if (access->pattern == PATTERN_CHASE)
		chase(access, n * access->pages);
	else
		while (n-- > 0)
			access->write ? pass_stores(access) :
					pass_loads(access);
}
