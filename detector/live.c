/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live: the memory of a program. See live.h.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "live_parts.h"
#include "sysfile.h"
#include "text.h"
#include "touch.h"
#include "why.h"

#define PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)2 << 20)

/* Addresses for the programs of one process: a few thousand of them. */
#define SPACE ((size_t)64 << 30)
#define SPACE_LEAST ((size_t)1 << 30)

static int refuse(char **why, const char *what)
{
	return why_set(why, 0, "%s: %s", what, strerror(errno));
}

/* addresses ------------------------------------------------------------ */

/*
 * What mmap finds free is given back at once: nothing else may be mapped beside
 * the pages of a program, or page tables would not be freed with them.
 */
static int find_space(struct space *space)
{
	size_t len;

	for (len = SPACE; len >= SPACE_LEAST; len /= 2) {
		char *found = mmap(NULL, len, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				   -1, 0);

		if (found == MAP_FAILED)
			continue;
		munmap(found, len);
		/* mmap takes from the top of what is free, programs from below
		 */
		*space = (struct space){ found, found + len / 2 };
		return 0;
	}
	return -1;
}

/* The start, and a whole unmapped page table on both sides, are its own. */
char *space_take(struct space *space, size_t len, size_t offset)
{
	uintptr_t at = ((uintptr_t)space->next + 2 * HUGE_PAGE - 1) /
		       HUGE_PAGE * HUGE_PAGE;

	if (space->next + len + offset + 4 * HUGE_PAGE > space->end) {
		errno = ENOMEM;
		return NULL;
	}
	at += HUGE_PAGE;
	space->next = (char *)at + offset + len;
	return (char *)at + offset;
}

char *live_page(const struct live *live, unsigned int page)
{
	return live->base + page * live->unit;
}

uint64_t *live_slots(const struct live *live, char *page)
{
	size_t at = live->unit > PAGE ? live->program->at * PAGE : 0;

	return (uint64_t *)(void *)(page + at);
}

/* mapping -------------------------------------------------------------- */

/* 0 or -1 with errno. */
static int map_at(char *at, size_t len, int flags, int fd)
{
	char *got =
		mmap(at, len, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);

	return got == MAP_FAILED ? -1 : 0;
}

static int map_file(struct live *live)
{
	size_t frames = program_frames(live->program);
	bool huge = live->program->memory == MEMORY_HUGETLB;

	live->file_len = frames * live->unit;
	live->file =
		memfd_create("stale", MFD_CLOEXEC | (huge ? MFD_HUGETLB : 0));
	if (live->file < 0 || ftruncate(live->file, (off_t)live->file_len) < 0)
		return -1;
	live->alias = space_take(&live->space, live->file_len, 0);
	if (!live->alias)
		return -1;
	return map_at(live->alias, live->file_len, MAP_SHARED | MAP_NORESERVE,
		      live->file);
}

static size_t lay_out(const struct program *program)
{
	size_t half = program->pages / 2 * PAGE;

	if (program->layout == LAYOUT_ACROSS && program_unit(program) == PAGE &&
	    half > 0 && program->memory != MEMORY_THP)
		return HUGE_PAGE - half % HUGE_PAGE;
	return 0;
}

/*
 * Where other pages are to keep the page tables, one lies before and one behind
 * the pages of the program, and is touched.
 */
static int map_pages(struct live *live)
{
	const struct program *program = live->program;
	size_t len = program->pages * live->unit;
	bool margins = program->layout != LAYOUT_ALONE && live->unit == PAGE;
	size_t margin = margins ? PAGE : 0;
	char *at = space_take(&live->space, len + margin, lay_out(program));

	if (!at)
		return -1;
	live->base = at;
	live->map = at - margin;
	live->map_len = len + 2 * margin;
	if (live->unit == PAGE && map_at(live->map, live->map_len,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1) < 0)
		return -1;
	/* fails only where there are no huge pages */
	if (live->unit == PAGE)
		madvise(live->map, live->map_len, MADV_NOHUGEPAGE);
	if (margins) {
		live->map[0] = 1;
		live->map[live->map_len - 1] = 1;
	}
	if (live->file >= 0 && map_at(at, len, MAP_SHARED, live->file) < 0)
		return -1;
	if (live->file >= 0 && live->unit == PAGE)
		madvise(at, len, MADV_NOHUGEPAGE);
	return 0;
}

static bool uses(const struct program *program, enum verb verb)
{
	size_t i;

	for (i = 0; i < program->steps; i++)
		if (program->step[i].verb == verb)
			return true;
	return false;
}

/* Whether this process has a huge page, which is the only one it may have. */
static bool has_huge_page(void)
{
	char *all = sysfile_read("", "/proc/self/smaps_rollup");
	char *huge = all ? text_field(all, "AnonHugePages") : NULL;
	bool has = huge && text_number(huge, NULL) >= 2048;

	free(all);
	free(huge);
	return has;
}

static int make_huge(struct live *live, char **why)
{
	if (uses(live->program, VERB_COLLAPSE))
		return 0; /* that makes it */
	if (madvise(live->base, HUGE_PAGE, MADV_HUGEPAGE) < 0)
		return refuse(why, "MADV_HUGEPAGE");
	*(volatile char *)live->base = 0;
	if (has_huge_page())
		return 0;
	*why = strdup("no transparent huge page, or no "
		      "/proc/self/smaps_rollup that shows one");
	return -1;
}

/* the subject ---------------------------------------------------------- */

/* What mremap put elsewhere, as few ranges as possible. */
static void unmap_moved(const struct live *live)
{
	unsigned int page, n;

	for (page = 0; live->moved && page < live->program->pages; page += n) {
		char *at = live->moved[page];

		for (n = 1; at && page + n < live->program->pages &&
			    live->moved[page + n] == at + n * live->unit;)
			n++;
		if (at)
			munmap(at, n * live->unit);
	}
}

static void close_program(void *context)
{
	struct live *live = context;

	crew_park(live);
	offspring_end(live);
	if (live->uffd >= 0)
		close(live->uffd);
	unmap_moved(live);
	if (live->map)
		munmap(live->map, live->map_len);
	if (live->twin)
		munmap(live->twin, live->twin_len);
	if (live->alias)
		munmap(live->alias, live->file_len);
	if (live->file >= 0)
		close(live->file);
	child_unshare(live->outcome, live->outcome_len);
	live->outcome = NULL;
	free(live->frame);
	free(live->moved);
	live->map = live->base = live->alias = live->twin = NULL;
	live->frame = NULL;
	live->moved = NULL;
	live->file = live->uffd = -1;
}

static int open_memory(struct live *live, char **why)
{
	const struct program *program = live->program;
	unsigned int page;

	live->frame = calloc(program->pages, sizeof(*live->frame));
	live->moved = calloc(program->pages, sizeof(*live->moved));
	if (!live->frame || !live->moved || outcomes_open(live) < 0)
		return refuse(why, "memory");
	for (page = 0; page < program->pages; page++)
		live->frame[page] = page;
	if ((program->memory == MEMORY_SHARED ||
	     program->memory == MEMORY_HUGETLB) &&
	    map_file(live) < 0)
		return refuse(why, "a file in memory");
	if (map_pages(live) < 0)
		return refuse(why, "pages");
	return program->memory == MEMORY_THP ? make_huge(live, why) : 0;
}

static int open_program(void *context, const struct program *program,
			uint32_t nonce, char **why)
{
	struct live *live = context;

	if (program->actors > live->actors) {
		if (asprintf(why, "%u actors, but %u threads", program->actors,
			     live->actors) < 0)
			*why = NULL;
		return -1;
	}
	live->program = program;
	live->nonce = nonce;
	live->unit = program_unit(program);
	if (open_memory(live, why) < 0) {
		close_program(live);
		return -1;
	}
	atomic_store(&live->park, 0);
	return 0;
}

static int run_group(void *context, size_t first, size_t end,
		     struct outcome *outcome, char **why)
{
	struct live *live = context;
	size_t i;

	*why = NULL;
	live->first = first;
	live->end = end;
	crew_run(live);
	for (i = first; i < end; i++)
		outcomes_copy(live, i, &outcome[i]);
	return 0;
}

/*
 * A memfd by its second mapping; anonymous memory by the kernel's own view of
 * it, /proc/self/mem, which walks the page tables and uses no TLB entry of
 * ours.
 */
static int view(void *context, unsigned int page, size_t frame, uint64_t *slot)
{
	struct live *live = context;
	size_t size = live->program->actors * sizeof(*slot);
	char *at = live->moved[page] ? live->moved[page] :
				       live_page(live, page);

	/* faults where there is no huge page left for a hole of the file */
	if (live->alias)
		return touch_load(live_slots(live,
					     live->alias + frame * live->unit),
				  slot, live->program->actors);
	if (live->frame[page] != frame || live->memory < 0)
		return -1;
	return pread(live->memory, slot, size,
		     (off_t)(uintptr_t)live_slots(live, at)) == (ssize_t)size ?
		       0 :
		       -1;
}

static int snapshot(void *context, unsigned int page, uint64_t *slot)
{
	return offspring_read(context, page, slot);
}

struct subject live_subject(struct live *live)
{
	return (struct subject){
		.open = open_program,
		.run = run_group,
		.view = view,
		.snapshot = snapshot,
		.close = close_program,
		.context = live,
	};
}

struct live *live_open(const struct placement *placement, unsigned int actors,
		       char **why)
{
	struct live *live = child_share(sizeof(*live));

	if (!live) {
		refuse(why, "memory");
		return NULL;
	}
	*live = (struct live){
		.placement = placement,
		.actors = actors,
		.crowded = actors > placement->n,
		.file = -1,
		.uffd = -1,
		.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
		.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
		.member = child_share(actors * sizeof(struct member)),
		.members = actors,
	};
	if (!live->member || find_space(&live->space) < 0) {
		refuse(why, "addresses");
		live->actors = 0;
		live_close(live);
		return NULL;
	}
	if (crew_start(live, why) < 0) {
		live_close(live);
		return NULL;
	}
	return live;
}

void live_close(struct live *live)
{
	crew_stop(live);
	child_unshare(live->member, live->members * sizeof(struct member));
	if (live->memory >= 0)
		close(live->memory);
	if (live->pagemap >= 0)
		close(live->pagemap);
	child_unshare(live, sizeof(*live));
}
