/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record [OPERATIONS [SEED]]: a reproducible mix of operations, and every flush
 * that each caused.
 *
 * The script that started two machines compares what they print: with default
 * settings a patched kernel must flush as the stock kernel does. A line is
 *
 *	data: record NUMBER KIND PAGES: REASON/PAGES ...
 *
 * With two CPUs a thread runs on the other one all the time, so that every
 *flush is sent there.
 */
#include <config.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flush.h"
#include "guest.h"
#include "spinner.h"
#include "tap.h"

#define OPERATIONS 10000
#define SEED 20120628
#define BATCH 1000    /* operations of one recording */
#define PAGES 640     /* of the area of small pages */
#define HUGES 2	      /* of that of huge ones */
#define FILE_PAGES 12 /* of that of a file */

struct memory {
	char *small, *huge, *file;
};

struct operation {
	const char *name;
	bool (*run)(const struct memory *memory, size_t first, size_t n);
};

/* xorshift64*: the mix must be the same with every library. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ULL;
}

static void write_pages(const struct memory *memory, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		*(volatile char *)(memory->small + i * PAGE) = 1;
}

static bool writable(const struct memory *memory, size_t first, size_t n)
{
	if (mprotect(memory->small + first * PAGE, n * PAGE,
		     PROT_READ | PROT_WRITE))
		return false;
	write_pages(memory, first, n);
	return true;
}

static bool protect(const struct memory *memory, size_t first, size_t n)
{
	return mprotect(memory->small + first * PAGE, n * PAGE, PROT_READ) ==
		       0 &&
	       writable(memory, first, n);
}

static bool hide(const struct memory *memory, size_t first, size_t n)
{
	return mprotect(memory->small + first * PAGE, n * PAGE, PROT_NONE) ==
		       0 &&
	       writable(memory, first, n);
}

static bool unmap(const struct memory *memory, size_t first, size_t n)
{
	char *begin = memory->small + first * PAGE;

	if (munmap(begin, n * PAGE) ||
	    mmap(begin, n * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != begin ||
	    madvise(begin, n * PAGE, MADV_NOHUGEPAGE))
		return false;
	write_pages(memory, first, n);
	return true;
}

/* Every page of the range, or every other one: the range is shorter then. */
static bool discard(const struct memory *memory, size_t first, size_t n)
{
	if (madvise(memory->small + first * PAGE, n * PAGE, MADV_DONTNEED))
		return false;
	write_pages(memory, first + n / 4, n - n / 4);
	return true;
}

static bool lazily_free(const struct memory *memory, size_t first, size_t n)
{
	if (madvise(memory->small + first * PAGE, n * PAGE, MADV_FREE))
		return false;
	write_pages(memory, first, n);
	return true;
}

/*
 * Where they are moved to is unmapped, and new ones come. Several mappings
 * cannot be moved at once.
 */
static bool move(const struct memory *memory, size_t first, size_t n)
{
	char *begin = memory->small + first * PAGE;
	char *there = mremap(begin, n * PAGE, n * PAGE,
			     MREMAP_MAYMOVE | MREMAP_DONTUNMAP);

	if (there == MAP_FAILED)
		return errno == EFAULT;
	if (munmap(there, n * PAGE))
		return false;
	write_pages(memory, first, n);
	return true;
}

/* Pages of a file that are read and then written to: each is copied. */
static bool copy(const struct memory *memory, size_t first, size_t n)
{
	const size_t count = 1 + (first + n) % FILE_PAGES;

	if (madvise(memory->file, count * PAGE, MADV_DONTNEED))
		return false;
	for (size_t i = 0; i < count; i++) {
		volatile char *page = memory->file + i * PAGE;

		*page = (char)(*page + 1);
	}
	return true;
}

static bool discard_huge(const struct memory *memory, size_t first, size_t n)
{
	const size_t count = 1 + (first + n) % HUGES;

	if (madvise(memory->huge, count * HUGE, MADV_DONTNEED))
		return false;
	for (size_t i = 0; i < count; i++)
		memory->huge[i * HUGE] = 1;
	return true;
}

static bool protect_huge(const struct memory *memory, size_t first, size_t n)
{
	const size_t count = 1 + (first + n) % HUGES;

	if (mprotect(memory->huge, count * HUGE, PROT_READ) ||
	    mprotect(memory->huge, count * HUGE, PROT_READ | PROT_WRITE))
		return false;
	for (size_t i = 0; i < count; i++)
		memory->huge[i * HUGE] = 1;
	return true;
}

static const struct operation operations[] = {
	{ "mprotect", protect },  { "mprotect", protect },
	{ "mprotect", protect },  { "mprotect", protect },
	{ "mprotect", protect },  { "none", hide },
	{ "none", hide },	  { "munmap", unmap },
	{ "munmap", unmap },	  { "munmap", unmap },
	{ "munmap", unmap },	  { "dontneed", discard },
	{ "dontneed", discard },  { "dontneed", discard },
	{ "dontneed", discard },  { "free", lazily_free },
	{ "free", lazily_free },  { "mremap", move },
	{ "mremap", move },	  { "fork", copy },
	{ "huge", discard_huge }, { "huge-mprotect", protect_huge },
};
#define KINDS (sizeof(operations) / sizeof(*operations))

/*
 * What operation number i is. Half of them are around the stock ceiling, and
 * few are long: what takes the time is to touch pages again.
 */
static void choose(uint64_t *state, size_t *kind, size_t *first, size_t *n)
{
	const uint64_t size = next(state) % 8;

	*kind = (size_t)(next(state) % KINDS);
	if (size < 4)
		*n = 1 + (size_t)(next(state) % 40);
	else if (size < 6)
		*n = 28 + (size_t)(next(state) % 12);
	else if (size < 7 || next(state) % 8)
		*n = 1 + (size_t)(next(state) % 80);
	else
		*n = 1 + (size_t)(next(state) % (PAGES / 2));
	*first = (size_t)(next(state) % (PAGES - *n));
}

static void print(size_t begin, uint64_t state)
{
	struct flush_event *events;
	const size_t count = flush_stop(&events);
	size_t number = begin;
	bool inside = false;

	for (size_t i = 0; i < count; i++) {
		const struct flush_event *event = events + i;

		if (event->kind == FLUSH_MARK) {
			size_t kind, first, n;

			if (inside)
				putchar('\n');
			inside = event->pages >= 0;
			if (!inside)
				break;
			choose(&state, &kind, &first, &n);
			printf("data: record %zu %s %zu:", number++,
			       operations[kind].name, n);
		} else if (inside && event->kind == FLUSH_DONE &&
			   event->pid == getpid() &&
			   event->reason != FLUSH_REMOTE) {
			printf(" %d/%ld", event->reason, event->pages);
		}
	}
	free(events);
}

static char *map_file(size_t size)
{
	int fd = memfd_create("record", 0);
	char *address;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		return NULL;
	address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	return address == MAP_FAILED ? NULL : address;
}

static char *map(size_t size, int advice)
{
	char *address = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (address == MAP_FAILED)
		return NULL;
	address = (char *)(((uintptr_t)address + HUGE - 1) & ~(HUGE - 1));
	if (madvise(address, size, advice))
		return NULL;
	for (size_t i = 0; i < size; i += PAGE)
		address[i] = 1;
	return address;
}

int test_record(int argc, char **argv)
{
	const size_t want = argc > 1 ? (size_t)atol(argv[1]) : OPERATIONS;
	uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 0) : SEED;
	const struct memory memory = {
		.small = map(PAGES * PAGE, MADV_NOHUGEPAGE),
		.huge = map(HUGES * HUGE, MADV_HUGEPAGE),
		.file = map_file(FILE_PAGES * PAGE),
	};
	const bool beside = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	struct spinner spinner;
	size_t done_well = 0;

	if (!memory.small || !memory.huge || !memory.file)
		return EXIT_FAILURE;
	spinner_pin(0);
	if (beside)
		spinner_start(&spinner, 1);
	for (size_t begin = 0; begin < want; begin += BATCH) {
		const size_t end = begin + BATCH < want ? begin + BATCH : want;
		const uint64_t replay = state;

		flush_trace();
		for (size_t i = begin; i < end; i++) {
			size_t kind, first, n;

			choose(&state, &kind, &first, &n);
			flush_mark((long)i);
			done_well += operations[kind].run(&memory, first, n);
		}
		flush_mark(-1);
		print(begin, replay);
	}
	if (beside)
		spinner_stop(&spinner);
	is_int(done_well, want, "%zu operations were done", want);
	return done();
}
