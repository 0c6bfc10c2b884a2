/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reused HOT FLUSH_US COLD_US SECONDS: a program of known W. It touches HOT
 * pages in a loop, every COLD_US microseconds another page that is not touched
 * again soon, and flushes a page every FLUSH_US (0: never, for both).
 */
#include <config.h>

#include <error.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "clock.h"

#define PAGE 4096
#define COLD 16384 /* pages */

static volatile char *map(size_t pages, int protection)
{
	void *at = mmap(NULL, pages * PAGE, protection,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || madvise(at, pages * PAGE, MADV_NOHUGEPAGE) < 0)
		error(1, 0, "cannot map %zu pages", pages);
	return at;
}

/* The time has come for what is done every period; *due is the next. */
static int is_due(uint64_t now, uint64_t period_ns, uint64_t *due)
{
	if (!period_ns || now < *due)
		return 0;
	*due += period_ns;
	return 1;
}

int main(int argc, char **argv)
{
	size_t hot_pages, i, next = 0;
	uint64_t flush_ns, cold_ns, end, now, flush_due, cold_due;
	volatile char *hot, *cold, *flushed;

	if (argc != 5)
		error(2, 0, "expected HOT FLUSH_US COLD_US SECONDS");
	hot_pages = strtoul(argv[1], NULL, 10);
	flush_ns = strtoul(argv[2], NULL, 10) * 1000;
	cold_ns = strtoul(argv[3], NULL, 10) * 1000;
	hot = map(hot_pages, PROT_READ | PROT_WRITE);
	cold = map(COLD, PROT_READ | PROT_WRITE);
	flushed = map(1, PROT_READ | PROT_WRITE);
	for (i = 0; i < hot_pages; i++)
		hot[i * PAGE] = 1;
	for (i = 0; cold_ns && i < COLD; i++)
		cold[i * PAGE] = 1;
	now = flush_due = cold_due = clock_raw_ns();
	end = now + (uint64_t)(strtod(argv[4], NULL) * 1e9);
	while ((now = clock_raw_ns()) < end) {
		for (i = 0; i < hot_pages; i++)
			(void)hot[i * PAGE];
		while (is_due(now, cold_ns, &cold_due))
			cold[next++ % COLD * PAGE] = 1;
		if (!is_due(now, flush_ns, &flush_due))
			continue;
		flushed[0] = 1;
		madvise((void *)(uintptr_t)flushed, PAGE, MADV_DONTNEED);
	}
	return 0;
}
