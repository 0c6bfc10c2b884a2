/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operate: the operations of a program as system calls.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "operate_parts.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

static int protect(const struct range *range, int rights)
{
	return mprotect(range->start, range->len, rights);
}

/* mapping -------------------------------------------------------------- */

static int map_new(const struct range *range)
{
	struct live *live = range->live;
	size_t frame = program_frame(live->program, range->index), i;
	int flags = live->file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	off_t offset = live->file >= 0 ? (off_t)(frame * live->unit) : 0;

	if (mmap(range->start, range->len, PROT_READ | PROT_WRITE,
		 flags | MAP_FIXED, live->file, offset) == MAP_FAILED)
		return -1;
	/* one and the same size of pages; not every kernel knows huge ones */
	if (live->unit < HUGE_PAGE)
		range_advise(range, MADV_NOHUGEPAGE);
	for (i = 0; i < range->step->count; i++) {
		live->frame[range->step->first + i] = frame + i;
		live->moved[range->step->first + i] = NULL;
	}
	return 0;
}

static int remap(const struct range *range)
{
	if (munmap(range->start, range->len) < 0)
		return -1;
	return map_new(range);
}

static bool move(const struct range *range, size_t first, size_t n, char *to)
{
	size_t unit = range->live->unit;

	return mremap(range->start + first * unit, n * unit, n * unit,
		      MREMAP_MAYMOVE | MREMAP_FIXED,
		      to + first * unit) != MAP_FAILED;
}

/*
 * To an address as far behind a 2 MiB boundary, so that a whole page table may
 * be moved. Page by page where the pages are no longer one mapping: what
 * kernels before 6.17 refuse.
 */
static int move_away(const struct range *range)
{
	struct live *live = range->live;
	char *to = space_take(&live->space, range->len,
			      (uintptr_t)range->start % HUGE_PAGE);
	size_t count = range->step->count, i;

	if (!to)
		return -1;
	if (!move(range, 0, count, to)) {
		if (errno != EFAULT)
			return -1;
		for (i = 0; i < count; i++)
			if (!move(range, i, 1, to))
				return -1;
	}
	for (i = 0; i < count; i++)
		live->moved[range->step->first + i] = to + i * live->unit;
	return 0;
}

/* files ---------------------------------------------------------------- */

/* Pages that follow one another in the file at once, as a program would. */
static int punch(const struct range *range)
{
	const struct live *live = range->live;
	const size_t *frame = &live->frame[range->step->first];
	size_t i, n;

	for (i = 0; i < range->step->count; i += n) {
		for (n = 1; i + n < range->step->count &&
			    frame[i + n] == frame[i] + n;)
			n++;
		if (fallocate(live->file,
			      FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)(frame[i] * live->unit),
			      (off_t)(n * live->unit)) < 0)
			return -1;
	}
	return 0;
}

static int cut(const struct range *range)
{
	const struct live *live = range->live;
	size_t at = live->frame[range->step->first] * live->unit;

	if (ftruncate(live->file, (off_t)at) < 0)
		return -1;
	return ftruncate(live->file, (off_t)live->file_len);
}

/* userfaultfd ---------------------------------------------------------- */

/* A fault is a SIGBUS then: nobody has to handle it. */
static int open_uffd(struct live *live)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features =
			UFFD_FEATURE_SIGBUS | UFFD_FEATURE_PAGEFAULT_FLAG_WP |
			(live->file >= 0 ? UFFD_FEATURE_WP_HUGETLBFS_SHMEM : 0),
	};
	int fd = (int)syscall(SYS_userfaultfd,
			      O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		return -1;
	if (ioctl(fd, UFFDIO_API, &api) < 0) {
		close(fd);
		return -1;
	}
	live->uffd = fd;
	return 0;
}

static int write_protect(const struct range *range, bool on)
{
	struct live *live = range->live;
	struct uffdio_range where = {
		.start = (uintptr_t)range->start,
		.len = range->len,
	};
	struct uffdio_register all = {
		.range = where,
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect protect = {
		.range = where,
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	if (live->uffd < 0 && open_uffd(live) < 0)
		return -1;
	if (ioctl(live->uffd, UFFDIO_REGISTER, &all) < 0)
		return -1;
	return ioctl(live->uffd, UFFDIO_WRITEPROTECT, &protect);
}

static int call(const struct range *range)
{
	switch (range->step->verb) {
	case VERB_MPROTECT_R:
		return protect(range, PROT_READ);
	case VERB_MPROTECT_NONE:
		return protect(range, PROT_NONE);
	case VERB_MPROTECT_RW:
		return protect(range, PROT_READ | PROT_WRITE);
	case VERB_MUNMAP:
		return munmap(range->start, range->len);
	case VERB_MAP:
		return map_new(range);
	case VERB_REMAP:
		return remap(range);
	case VERB_DONTNEED:
		return range_advise(range, MADV_DONTNEED);
	case VERB_FREE:
		return operate_free(range);
	case VERB_MREMAP:
		return move_away(range);
	case VERB_FORK:
		return offspring_fork(range->live);
	case VERB_PUNCH:
		return punch(range);
	case VERB_TRUNCATE:
		return cut(range);
	case VERB_UFFD_WP:
		return write_protect(range, true);
	case VERB_UFFD_RW:
		return write_protect(range, false);
	case VERB_KSM:
		return operate_merge(range);
	case VERB_MIGRATE:
		return operate_migrate(range);
	case VERB_COLLAPSE:
		return operate_collapse(range);
	case VERB_READ:
	case VERB_WRITE:
	case VERBS:
		break;
	}
	errno = EINVAL;
	return -1;
}

void operate(struct live *live, size_t index, struct outcome *outcome)
{
	const struct step *step = &live->program->step[index];
	const struct range range = {
		.live = live,
		.step = step,
		.index = index,
		.start = live_page(live, step->first),
		.len = step->count * live->unit,
		.outcome = outcome,
	};

	outcome->error = call(&range) < 0 ? errno : 0;
}
