/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The geometry of a region, and that region_verify notices when pages are not
 * what they should be.
 */
#include <config.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "region.h"
#include "tap.h"
#include "tree.h"

static bool aligned(const char *p)
{
	return (uintptr_t)p % REGION_HUGE == 0;
}

static void test_geometry(size_t target, size_t set)
{
	struct region r;
	char *why = NULL;

	if (!ok(region_open(&r, target, set, REGION_SMALL, 1, &why) == 0,
		"a region of %zu and %zu pages", target, set)) {
		diag("%s", why);
		free(why);
		return;
	}
	ok(aligned(r.target) && aligned(r.set),
	   "both parts start on 2 MiB boundaries");
	ok(r.target >= r.map + REGION_HUGE / 2 &&
		   r.set >= r.target + target * r.page + REGION_HUGE &&
		   r.set + set * r.page + REGION_HUGE / 2 <= r.map + r.map_len,
	   "with a margin before, between and behind");
	ok(target > 512 || (uintptr_t)r.target / REGION_HUGE ==
				   (uintptr_t)(r.target + target * r.page - 1) /
					   REGION_HUGE,
	   "a target of up to 512 pages has one page table");
	ok(region_verify(&r, &why) == 0, "verified again");
	region_close(&r);
}

/* Several targets, none of which shares a page table or a VMA's end. */
static void test_targets(size_t targets, size_t pages)
{
	struct region r;
	char *why = NULL;
	size_t i;

	if (!ok(region_open_targets(&r, targets, pages, 64, REGION_SMALL, 1,
				    &why) == 0,
		"%zu targets of %zu pages", targets, pages)) {
		diag("%s", why);
		free(why);
		return;
	}
	for (i = 0; i < targets; i++) {
		struct region one = region_target(&r, i);
		char *end = one.target + pages * one.page;
		char *next = i + 1 < targets ? region_target(&r, i + 1).target :
					       r.set;

		if (!aligned(one.target) || next < end + REGION_HUGE)
			break;
		madvise(end - one.page, one.page, MADV_DONTNEED);
		if (region_verify(&r, &why) == 0)
			break;
		free(why);
		region_dirty(&one);
		if (region_verify(&r, &why) < 0)
			break;
	}
	is_int(i, targets, "each aligned, with a margin, and verified");
	ok(r.set + 64 * r.page + REGION_HUGE / 2 <= r.map + r.map_len,
	   "and a margin behind all");
	region_close(&r);
}

/* Nothing is mapped at page. */
static bool is_unmapped(void *page)
{
	unsigned char state;

	return mincore(page, REGION_PAGE, &state) < 0 && errno == ENOMEM;
}

static void test_isolate(void)
{
	struct region r;
	char *why, *end, *table, *stranger;

	region_open_targets(&r, 2, 700, 64, REGION_SMALL, 1, &why);
	end = r.target + 700 * REGION_PAGE;
	table = r.target + 1024 * REGION_PAGE;
	is_int(region_isolate(&r), 0, "a target that is alone");
	ok(!is_unmapped(end - REGION_PAGE) && is_unmapped(end),
	   "... ends where it ended");
	ok(is_unmapped(table - REGION_PAGE) && !is_unmapped(table),
	   "... and its page tables map nothing else");
	ok(is_unmapped(end + r.target_stride) &&
		   !is_unmapped(table + r.target_stride),
	   "... so is another one");
	ok(region_verify(&r, &why) == 0, "... it is as it was");
	munmap(r.target, 700 * REGION_PAGE);
	is_int(region_refill(&r), 0, "unmapped and mapped again");
	ok(region_verify(&r, &why) == 0, "... it is as it was");
	is_int(region_refill(&r), -1, "not over what is mapped there");
	stranger = mmap(end, REGION_PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			0);
	region_close(&r);
	ok(stranger == end && !is_unmapped(stranger),
	   "what others map beside it stays when it is closed");
	ok(is_unmapped(end - REGION_PAGE) && is_unmapped(table),
	   "... and all else goes");
	munmap(stranger, REGION_PAGE);
}

/* What region_verify is for: each way in which a region can go wrong. */
static void test_verify(void)
{
	struct region r;
	char *why = NULL;

	region_open(&r, 33, 64, REGION_SMALL, 1, &why);
	madvise(r.target + 7 * REGION_PAGE, REGION_PAGE, MADV_DONTNEED);
	ok(region_verify(&r, &why) < 0 && errno == EAGAIN,
	   "a missing page of the target is noticed");
	ok(why && strstr(why, "page 7 of 33"), "... and named: %s", why);
	free(why);
	region_dirty(&r);
	ok(region_verify(&r, &why) == 0, "region_dirty brings it back");
	madvise(r.set + 63 * REGION_PAGE, REGION_PAGE, MADV_DONTNEED);
	ok(region_verify(&r, &why) < 0,
	   "a missing page of the working set is noticed");
	free(why);
	region_close(&r);
}

/* Huge pages where this machine has them. */
static void test_huge(void)
{
	struct region r;
	char *why = NULL;

	if (region_open(&r, 2, 4, REGION_THP, 1, &why) < 0) {
		is_int(errno, EAGAIN, "no huge pages: says so");
		skip(3, "%s", why);
		free(why);
		return;
	}
	ok(r.page == REGION_HUGE, "huge pages");
	ok(region_verify(&r, &why) == 0, "verified");
	/* Split one: half of it loses its write access. */
	mprotect(r.target, REGION_HUGE / 2, PROT_READ);
	ok(region_verify(&r, &why) < 0, "a split huge page is noticed");
	free(why);
	mprotect(r.target, REGION_HUGE / 2, PROT_READ | PROT_WRITE);
	region_close(&r);
	ok(r.map == NULL, "closed");
}

/* The other way round: huge pages where small ones are wanted. */
static void test_unwanted_huge(void)
{
	struct region r, huge;
	char *why = NULL;

	if (region_open(&huge, 1, 1, REGION_THP, 1, &why) < 0) {
		skip(1, "%s", why);
		free(why);
		return;
	}
	r = huge;
	r.page = REGION_PAGE;
	region_verify(&r, &why);
	ok(why, "a huge page in a region of small ones is noticed: %s",
	   why ? why : "no");
	free(why);
	region_close(&huge);
}

/* The number of hugetlb pages of 2 MiB, and a change of it; -1: impossible. */
static int pool(int want)
{
	static const char name[] =
		"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
	FILE *file = fopen(name, want < 0 ? "r" : "w");
	int pages = -1;

	if (!file)
		return -1;
	if (want < 0 ? fscanf(file, "%d", &pages) != 1 :
		       fprintf(file, "%d", want) < 0)
		pages = -1;
	return fclose(file) || (want < 0 && pages < 0) ? -1 : pages;
}

/* However this program ends, a child of it puts the pool back. */
static void put_pool_back(int pages)
{
	int fds[2];
	char none;

	if (pipe(fds) < 0)
		return;
	if (fork() == 0) {
		close(fds[1]);
		/* Nothing is ever written: this ends with the other end. */
		if (read(fds[0], &none, 1) == 0)
			pool(pages);
		_exit(0);
	}
	close(fds[0]);
}

/* Pages that were set aside, for as long as this takes. */
static void test_hugetlb(void)
{
	int before = pool(-1);
	struct region r;
	char *why = NULL;

	if (before < 0) {
		skip(7, "a kernel without hugetlb pages");
		return;
	}
	if (before == 0) {
		ok(region_open(&r, 2, 4, REGION_HUGETLB, 1, &why) < 0 &&
			   errno == EAGAIN,
		   "none was set aside");
		ok(why &&
			   strstr(why,
				  "9 hugetlb pages of 2 MiB needed, 0 free") &&
			   strstr(why, "sysctl vm.nr_hugepages=9"),
		   "... and how to have some: %s", why);
		free(why);
	} else {
		skip(2, "%d hugetlb pages are there", before);
	}
	put_pool_back(before);
	pool(before + 9);
	if (pool(-1) != before + 9) {
		skip(5, "no hugetlb pages to be had (not root, or no memory)");
		pool(before);
		return;
	}
	ok(region_open(&r, 2, 4, REGION_HUGETLB, 1, &why) == 0,
	   "a region of hugetlb pages");
	ok(r.page == REGION_HUGE && aligned(r.target) && aligned(r.set),
	   "of 2 MiB");
	ok(region_verify(&r, &why) == 0, "verified");
	munmap(r.target, REGION_HUGE);
	why = NULL;
	region_verify(&r, &why);
	ok(why, "a page that is gone is noticed: %s", why ? why : "no");
	free(why);
	region_close(&r);
	pool(before);
	is_int(pool(-1), before, "the pool is what it was");
}

/* The tighter of what the machine has and what the cgroup allows. */
static void test_available(void)
{
	static const struct tree_file files[] = {
		{ "/proc/meminfo", "MemTotal: 9 kB\nMemAvailable: 4000 kB\n" },
		{ "/proc/self/cgroup", "0::/a\n" },
		{ "/sys/fs/cgroup/a/memory.max", "max\n" },
		{ 0 },
	};
	const struct tree_machine machine = { .files = files };
	char *root = tree_open();

	tree_fill(root, &machine);
	is_int(region_available(root), 4096000, "what the machine has");
	tree_write(root, "/sys/fs/cgroup/a/memory.max", "1000000\n");
	tree_write(root, "/sys/fs/cgroup/a/memory.current", "200000\n");
	is_int(region_available(root), 800000, "what the cgroup leaves");
	tree_close(root);
}

static void test_refused(void)
{
	struct region r;
	char *why = NULL;

	errno = 0;
	ok(region_open(&r, (size_t)1 << 30, 1, REGION_SMALL, 1, &why) < 0 &&
		   errno == EAGAIN,
	   "4 TiB are refused");
	ok(why && strstr(why, "MiB"), "... and the size is named");
	ok(r.map == NULL, "... and nothing is left mapped");
	free(why);
}

int main(void)
{
	test_geometry(1, 1);
	test_geometry(512, 1024);
	test_geometry(513, 3);
	test_targets(1, 33);
	test_targets(20, 600);
	test_isolate();
	test_verify();
	test_huge();
	test_unwanted_huge();
	test_hugetlb();
	test_available();
	test_refused();
	return done();
}
