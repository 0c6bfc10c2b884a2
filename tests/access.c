/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lines the access patterns touch: each page once, each page on another
 * line, and no two chases in each other's way.
 */
#include <config.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "access.h"
#include "random.h"
#include "tap.h"

#define PAGE 4096
#define PAGES 1000

static char *map(void)
{
	char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Follow a chase and count the visits of each page; true if each is 1. */
static bool visits_each_page(const struct access *access, size_t stride)
{
	unsigned char *visits = calloc(access->pages, 1);
	void **p = access->start;
	bool each = visits != NULL;
	size_t i;

	for (i = 0; visits && i < access->pages; i++) {
		size_t page = (size_t)((char *)p - access->base) / stride;

		if (page < access->pages)
			visits[page]++;
		p = *p;
	}
	for (i = 0; visits && i < access->pages; i++)
		each &= visits[i] == 1;
	free(visits);
	return each && p == access->start;
}

static void test_chase(char *memory)
{
	static const size_t sizes[] = { 1, 2, 3, 64, 65, 512, PAGES };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct access access;

		ok(access_open(&access, PATTERN_CHASE, false, memory, sizes[i],
			       PAGE, 42 + i) == 0 &&
			   visits_each_page(&access, PAGE),
		   "a chase over %zu pages visits each once", sizes[i]);
		access_close(&access);
	}
}

static void test_dense(char *memory)
{
	struct access access;

	ok(access_open(&access, PATTERN_CHASE, false, memory, PAGES, 64, 7) ==
			   0 &&
		   visits_each_page(&access, 64),
	   "a dense chase visits each line once");
	access_close(&access);
}

/* Chases of several lengths, each through a word of its own of the lines. */
static void test_nested(char *memory)
{
	struct access access[8];
	bool each = true;
	size_t i;

	for (i = 0; i < 8; i++)
		access_open(&access[i], PATTERN_CHASE, false,
			    memory + i * sizeof(void *),
			    16 << i > PAGES ? PAGES : 16u << i, PAGE, i);
	for (i = 0; i < 8; i++) {
		each &= visits_each_page(&access[i], PAGE);
		access_close(&access[i]);
	}
	ok(each, "eight chases share their lines");
}

/* The stores of a pass show which lines it touches. */
static void test_lines(char *memory, enum pattern pattern)
{
	struct access access;
	size_t page, line, pages = 0, spread[64] = { 0 }, most = 0, i;

	memset(memory, 0xff, PAGES * PAGE);
	access_open(&access, pattern, true, memory, PAGES, PAGE, 3);
	if (pattern == PATTERN_CHASE) /* the links are no stores of a pass */
		memset(memory, 0xff, PAGES * PAGE);
	access_close(&access);
	access_open(&access, pattern, true, memory, PAGES, PAGE, 3);
	access_pass(&access);
	for (page = 0; page < PAGES; page++) {
		size_t touched = 0;

		for (line = 0; line < 64; line++) {
			char *at = memory + page * PAGE + line * 64;
			uint64_t untouched = UINT64_MAX;

			if (memcmp(at, &untouched, 8) == 0)
				continue;
			touched++;
			spread[line]++;
		}
		pages += touched == 1;
	}
	is_int(pages, PAGES, "%s touches one line of every page",
	       pattern_name[pattern]);
	for (i = 0; i < 64; i++)
		most = spread[i] > most ? spread[i] : most;
	ok(most <= PAGES / 64 + 1, "%s spreads them over the lines of a page",
	   pattern_name[pattern]);
	access_close(&access);
}

/* Slices of a pass touch what the pass does, in the same order. */
static void test_slices(char *memory, enum pattern pattern, size_t pages)
{
	struct access_cursor cursor = { 0 };
	struct access access;
	size_t i, slices, touched = 0, most = 0;

	access_open(&access, pattern, true, memory, pages, PAGE, 3);
	slices = access_slices(&access);
	for (i = 0; i < slices; i++) {
		size_t before = touched, word = pattern == PATTERN_CHASE, page;

		/* a store writes its position: never so large */
		for (page = 0; page < pages; page++)
			((uint64_t *)
				 access.base)[access.line[page] * 8 + word] =
				UINT64_MAX;
		access_slice(&access, &cursor);
		for (page = 0; page < pages; page++)
			touched +=
				((uint64_t *)access
					 .base)[access.line[page] * 8 + word] !=
				UINT64_MAX;
		most = touched - before > most ? touched - before : most;
	}
	is_int(touched, pages, "%s of %zu pages: slices make a pass",
	       pattern_name[pattern], pages);
	ok(most <= ACCESS_SLICE, "none has more accesses than it may");
	is_int(cursor.slice, 0, "the next is the first again");
	if (pattern == PATTERN_CHASE)
		ok(cursor.at == access.start, "at the start of the chase");
	access_close(&access);
}

static void test_order(char *memory)
{
	struct access one, two, other;
	size_t i, ascending = 0;

	access_open(&one, PATTERN_RANDOM, false, memory, PAGES, PAGE, 5);
	access_open(&two, PATTERN_RANDOM, false, memory, PAGES, PAGE, 5);
	access_open(&other, PATTERN_RANDOM, false, memory, PAGES, PAGE, 6);
	ok(memcmp(one.line, two.line, PAGES * sizeof(*one.line)) == 0,
	   "the same seed gives the same order");
	ok(memcmp(one.line, other.line, PAGES * sizeof(*one.line)) != 0,
	   "another seed gives another");
	for (i = 1; i < PAGES; i++)
		ascending += one.line[i] > one.line[i - 1];
	ok(ascending > PAGES / 2 - 100 && ascending < PAGES / 2 + 100,
	   "random is neither ascending nor descending");
	access_close(&one);
	access_close(&two);
	access_close(&other);

	access_open(&one, PATTERN_SEQ, false, memory, PAGES, PAGE, 5);
	for (i = 1, ascending = 0; i < PAGES; i++)
		ascending += one.line[i] > one.line[i - 1];
	is_int(ascending, PAGES - 1, "seq is ascending");
	access_close(&one);
}

static void test_refused(char *memory)
{
	struct access access;

	errno = 0;
	ok(access_open(&access, PATTERN_SEQ, false, memory, 0, PAGE, 1) < 0 &&
		   errno == EINVAL,
	   "no pages: refused");
	ok(access_open(&access, PATTERN_SEQ, false, memory, 1, 100, 1) < 0,
	   "a stride that is no multiple of a line: refused");
	ok(access_open(&access, PATTERN_SEQ, false, memory, (size_t)1 << 40,
		       PAGE, 1) < 0,
	   "more lines than are counted: refused");
}

/* Every order of three is as likely as the next. */
static void test_shuffle(void)
{
	unsigned int counts[27] = { 0 }, seen = 0, i;
	bool even = true;

	for (i = 0; i < 6000; i++) {
		uint32_t x[3] = { 0, 1, 2 };

		random_shuffle(x, 3, random_stream(1, i));
		counts[x[0] * 9 + x[1] * 3 + x[2]]++;
	}
	for (i = 0; i < 27; i++) {
		seen += counts[i] > 0;
		even &= counts[i] == 0 || (counts[i] > 850 && counts[i] < 1150);
	}
	ok(seen == 6 && even, "a shuffle gives every order, evenly");
}

int main(void)
{
	char *memory = map();
	int i;

	if (!memory)
		skip_all("no memory");
	test_chase(memory);
	test_dense(memory);
	test_nested(memory);
	for (i = 0; i < PATTERNS; i++)
		test_lines(memory, (enum pattern)i);
	for (i = 0; i < PATTERNS; i++) {
		test_slices(memory, (enum pattern)i, 1);
		test_slices(memory, (enum pattern)i, ACCESS_SLICE);
		test_slices(memory, (enum pattern)i, ACCESS_SLICE + 1);
		test_slices(memory, (enum pattern)i, PAGES);
	}
	test_order(memory);
	test_refused(memory);
	test_shuffle();
	is_int(pattern_parse("chase"), PATTERN_CHASE, "pattern by name");
	is_int(pattern_parse("chaser"), -1, "no pattern of that name");
	return done();
}
