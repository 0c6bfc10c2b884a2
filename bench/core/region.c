/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/mman.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cgroup.h"
#include "random.h"
#include "region.h"
#include "sysfile.h"
#include "text.h"
#include "why.h"

#define MIB ((size_t)1 << 20)

#define HUGETLB "/sys/kernel/mm/hugepages/hugepages-2048kB/"

const char *const region_kind_name[] = {
	[REGION_SMALL] = NULL,
	[REGION_THP] = "thp",
	[REGION_HUGETLB] = "hugetlb",
};

static size_t target_len(const struct region *region)
{
	return region->target_pages * region->page;
}

static size_t round_up(size_t size, size_t unit)
{
	return (size + unit - 1) / unit * unit;
}

size_t region_available(const char *root)
{
	char *meminfo = sysfile_read(root, "/proc/meminfo");
	const char *line = meminfo ? strstr(meminfo, "MemAvailable:") : NULL;
	double left = cgroup_memory_left(root);
	size_t kib;

	if (!line || sscanf(line, "MemAvailable: %zu kB", &kib) != 1)
		kib = SIZE_MAX / 1024;
	free(meminfo);
	if (left < (double)kib * 1024)
		return (size_t)left;
	return kib * 1024;
}

/* Write to the first word of n pages from start. */
static void touch(char *start, size_t n, size_t page)
{
	size_t i;

	for (i = 0; i < n; i++)
		*(volatile char *)(start + i * page) = 1;
}

/*
 * How many of the 4 KiB pages from start are present (bit 63, Documentation:
 * pagemap), and which is the first that is not. 0 or -1.
 */
static int count_present(const char *start, size_t len, size_t *present,
			 size_t *missing, char **why)
{
	uint64_t entries[512];
	size_t pages = len / REGION_PAGE;
	size_t first = (uintptr_t)start / REGION_PAGE;
	size_t done = 0, i;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return why_set(why, EAGAIN,
			       "cannot verify that pages are present: "
			       "/proc/self/pagemap: %s",
			       strerror(errno));
	*present = 0;
	*missing = pages;
	while (done < pages) {
		size_t want = pages - done < 512 ? pages - done : 512;
		ssize_t got = pread(fd, entries, want * sizeof(*entries),
				    (off_t)((first + done) * sizeof(*entries)));

		if (got != (ssize_t)(want * sizeof(*entries))) {
			close(fd);
			return why_set(why, EAGAIN, "/proc/self/pagemap: %s",
				       got < 0 ? strerror(errno) :
						 "short read");
		}
		for (i = 0; i < want; i++) {
			if (entries[i] >> 63)
				++*present;
			else if (*missing == pages)
				*missing = done + i;
		}
		done += want;
	}
	close(fd);
	return 0;
}

static int verify_present(const char *start, size_t len, char **why)
{
	size_t pages = len / REGION_PAGE;
	size_t present, missing;

	if (count_present(start, len, &present, &missing, why) < 0)
		return -1;
	if (present == pages)
		return 0;
	return why_set(why, EAGAIN,
		       "page %zu of %zu is not present after it was written "
		       "(swapped out?)",
		       missing, pages);
}

/*
 * Bytes in [from, to) of what the lines that begin with field count in the VMAs
 * that overlap it. -1 where smaps cannot be read.
 */
static long long smaps_bytes(const char *from, const char *to,
			     const char *field)
{
	size_t len = strlen(field);
	char line[512];
	long long sum = 0, kib;
	uintptr_t low = 0, high = 0;
	FILE *smaps = fopen("/proc/self/smaps", "re");

	if (!smaps)
		return -1;
	while (fgets(line, sizeof(line), smaps)) {
		uintptr_t a, b;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &a, &b) == 2) {
			low = a;
			high = b;
		} else if (low < (uintptr_t)to && high > (uintptr_t)from &&
			   !strncmp(line, field, len) &&
			   sscanf(line + len, ": %lld kB", &kib) == 1) {
			sum += kib * 1024;
		}
	}
	fclose(smaps);
	return sum;
}

static char *target_at(const struct region *region, size_t i)
{
	return region->target + i * region->target_stride;
}

struct region region_target(const struct region *region, size_t i)
{
	struct region one = *region;

	one.target = target_at(region, i);
	one.targets = 1;
	return one;
}

int region_verify(const struct region *region, char **why)
{
	size_t target = target_len(region);
	size_t set = region->set_pages * region->page;
	size_t want = region->page == REGION_HUGE ?
			      region->targets * target + set :
			      0;
	bool hugetlb = region->kind == REGION_HUGETLB;
	long long huge;
	size_t i;

	huge = smaps_bytes(region->map, region->map + region->map_len,
			   hugetlb ? "Private_Hugetlb" : "AnonHugePages");
	if (huge < 0)
		return why_set(
			why, EAGAIN,
			"cannot verify the page size: /proc/self/smaps: %s",
			strerror(errno));
	if ((size_t)huge != want)
		return why_set(why, EAGAIN,
			       "%lld KiB of the region are %s pages, wanted "
			       "%zu KiB",
			       huge / 1024,
			       hugetlb ? "hugetlb" : "transparent huge",
			       want / 1024);
	for (i = 0; i < region->targets; i++)
		if (verify_present(target_at(region, i), target, why) < 0)
			return -1;
	return verify_present(region->set, set, why);
}

void region_dirty(const struct region *region)
{
	size_t i;

	for (i = 0; i < region->targets; i++)
		touch(target_at(region, i), region->target_pages, region->page);
}

/*
 * Neighbours before and behind the region: pages whose rights differ from
 * those of the next, at random, made in random order.
 */
static int make_neighbours(const struct region *region, uint64_t seed)
{
	uint32_t order[2 * REGION_NEIGHBOURS];
	size_t i;

	for (i = 0; i < 2 * REGION_NEIGHBOURS; i++)
		order[i] = (uint32_t)i;
	random_shuffle(order, 2 * REGION_NEIGHBOURS, seed);
	for (i = 0; i < 2 * REGION_NEIGHBOURS; i++) {
		size_t at = order[i] % REGION_NEIGHBOURS;
		char *side = order[i] < REGION_NEIGHBOURS ?
				     region->around :
				     region->map + region->map_len;

		if (random_stream(seed, i) % 2 &&
		    mprotect(side + at * REGION_PAGE, REGION_PAGE, PROT_READ) <
			    0)
			return -1;
	}
	return 0;
}

/* Huge pages of the pool that nobody has or was promised; 0 without a pool. */
static size_t free_hugetlb(void)
{
	char *free_text = sysfile_read("", HUGETLB "free_hugepages");
	char *promised_text = sysfile_read("", HUGETLB "resv_hugepages");
	double pages = text_integer(free_text) - text_integer(promised_text);

	free(free_text);
	free(promised_text);
	return pages > 0 ? (size_t)pages : 0;
}

/*
 * Replace target, working set and a margin on both sides by one mapping of
 * hugetlb pages. The kernel promises all of them now, margins too, so that
 * touching one cannot fail.
 */
static int map_hugetlb(struct region *region, char **why)
{
	char *from = region->target - REGION_HUGE;
	size_t set = region->set_pages * region->page;
	size_t len = (size_t)(region->set + set + REGION_HUGE - from);

	if (mmap(from, len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB |
			 MAP_HUGE_2MB,
		 -1, 0) != MAP_FAILED)
		return 0;
	return why_set(why, EAGAIN,
		       "%zu hugetlb pages of 2 MiB needed, %zu free (as root: "
		       "sysctl vm.nr_hugepages=%zu): %s",
		       len / REGION_HUGE, free_hugetlb(), len / REGION_HUGE,
		       strerror(errno));
}

/* Address and size of the mapping with its margins. */
static int map(struct region *region, uint64_t seed, char **why)
{
	size_t beside = REGION_NEIGHBOURS * REGION_PAGE;
	size_t target = region->targets * region->target_stride;
	size_t used = region->targets * region->target_pages * region->page;
	size_t set = round_up(region->set_pages * region->page, REGION_HUGE);
	uintptr_t start;

	/* A margin at both ends, and up to one to align. */
	region->map_len = target + set + 3 * REGION_HUGE;
	region->around_len = region->map_len + 2 * beside;
	if (region->kind != REGION_HUGETLB && used + set > region_available(""))
		return why_set(why, EAGAIN,
			       "%zu MiB of memory needed, %zu MiB available",
			       (used + set) / MIB, region_available("") / MIB);
	region->around = mmap(NULL, region->around_len, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
	if (region->around == MAP_FAILED) {
		region->around = NULL;
		return why_set(why, EAGAIN, "cannot map %zu MiB: %s",
			       region->map_len / MIB, strerror(errno));
	}
	region->map = region->around + beside;
	if (make_neighbours(region, seed) < 0 ||
	    mprotect(region->map, region->map_len, PROT_READ | PROT_WRITE) < 0)
		return why_set(why, EAGAIN, "cannot make VMAs: %s",
			       strerror(errno));
	start = round_up((uintptr_t)region->map, REGION_HUGE) + REGION_HUGE;
	region->target = (char *)start;
	region->set = region->target + target;
	return region->kind == REGION_HUGETLB ? map_hugetlb(region, why) : 0;
}

/* Have pages of the kind of the region and no others. 0 or -1. */
static int advise(const struct region *region, char *from, size_t len)
{
	if (region->kind == REGION_HUGETLB)
		return 0;
	if (region->kind == REGION_THP)
		return madvise(from, len, MADV_HUGEPAGE);
	/* EINVAL: a kernel without transparent huge pages. */
	return madvise(from, len, MADV_NOHUGEPAGE) < 0 && errno != EINVAL ? -1 :
									    0;
}

int region_open(struct region *region, size_t target_pages, size_t set_pages,
		enum region_kind kind, uint64_t seed, char **why)
{
	return region_open_targets(region, 1, target_pages, set_pages, kind,
				   seed, why);
}

int region_open_targets(struct region *region, size_t targets,
			size_t target_pages, size_t set_pages,
			enum region_kind kind, uint64_t seed, char **why)
{
	int error;

	*region = (struct region){
		.kind = kind,
		.page = kind ? REGION_HUGE : REGION_PAGE,
		.target_pages = target_pages,
		.targets = targets,
		.set_pages = set_pages,
	};
	/* Behind each target a margin. */
	region->target_stride =
		round_up(target_pages * region->page, REGION_HUGE) +
		REGION_HUGE;
	if (map(region, seed, why) < 0)
		goto fail;
	if (advise(region, region->map, region->map_len) < 0) {
		why_set(why, EAGAIN, "madvise(%s): %s",
			kind ? "MADV_HUGEPAGE" : "MADV_NOHUGEPAGE",
			strerror(errno));
		goto fail;
	}
	region_dirty(region);
	touch(region->set, set_pages, region->page);
	if (region_verify(region, why) < 0)
		goto fail;
	return 0;
fail:
	error = errno;
	region_close(region);
	errno = error;
	return -1;
}

int region_present(const struct region *region, size_t *pages, char **why)
{
	size_t missing;

	return count_present(region->target, target_len(region), pages,
			     &missing, why);
}

/* The hole behind target number i. */
static char *hole(const struct region *region, size_t i)
{
	return region->target + i * region->target_stride + target_len(region);
}

int region_isolate(struct region *region)
{
	size_t len = target_len(region), i;

	region->hole_len = round_up(len, REGION_HUGE) - len;
	for (i = 0; i < region->targets && region->hole_len; i++)
		if (munmap(hole(region, i), region->hole_len) < 0)
			return -1;
	return 0;
}

int region_refill(const struct region *region)
{
	size_t len = target_len(region);
	/* Transparent huge pages are not promised, hugetlb pages are. */
	int flags = region->kind == REGION_HUGETLB ?
			    MAP_HUGETLB | MAP_HUGE_2MB :
			    MAP_NORESERVE;

	if (mmap(region->target, len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | flags, -1,
		 0) == MAP_FAILED)
		return -1;
	if (advise(region, region->target, len) < 0)
		return -1;
	region_dirty(region);
	return 0;
}

/* What is in the holes by now is not ours. */
void region_close(struct region *region)
{
	char *end = region->around + region->around_len;
	char *from = region->around;
	size_t i;

	for (i = 0; i < region->targets && region->hole_len; i++) {
		munmap(from, (size_t)(hole(region, i) - from));
		from = hole(region, i) + region->hole_len;
	}
	if (from)
		munmap(from, (size_t)(end - from));
	*region = (struct region){ 0 };
}
