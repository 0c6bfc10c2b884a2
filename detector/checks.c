/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include "checks.h"
#include "random.h"

#define BIT(memory) (1u << (memory))
#define MAX_SIZES 1100
#define THP_PAGES 512
#define RACE_ACTORS 6 /* a group has 64 steps at most */
#define RACE_ROUNDS 32
#define RACE_PAGES 2048 /* in all rounds, or two are made */

const struct check_kind check_kinds[] = {
	{ "mprotect-r", "mprotect to PROT_READ: writes must fault",
	  VERB_MPROTECT_R, SHAPE_SIMPLE, true, 0 },
	{ "mprotect-none", "mprotect to PROT_NONE: every access must fault",
	  VERB_MPROTECT_NONE, SHAPE_SIMPLE, false, 0 },
	{ "munmap", "munmap: every access must fault", VERB_MUNMAP,
	  SHAPE_SIMPLE, false, 0 },
	{ "munmap-map", "munmap, then new memory at the same address",
	  VERB_REMAP, SHAPE_SIMPLE, false, 0 },
	{ "map-over", "mmap of new memory over the old (MAP_FIXED)", VERB_MAP,
	  SHAPE_SIMPLE, false, 0 },
	{ "dontneed", "MADV_DONTNEED: pages are empty again", VERB_DONTNEED,
	  SHAPE_SIMPLE, false, 0 },
	{ "dontneed-race", "the same by all threads at once, side by side",
	  VERB_DONTNEED, SHAPE_RACE, false, BIT(MEMORY_PRIVATE) },
	{ "free", "MADV_FREE, and reclaim (MADV_PAGEOUT): empty again",
	  VERB_FREE, SHAPE_SIMPLE, false, 0 },
	{ "mremap", "mremap to another address: every access must fault",
	  VERB_MREMAP, SHAPE_SIMPLE, false, 0 },
	{ "fork", "fork: what is written later must not reach the child",
	  VERB_FORK, SHAPE_SIMPLE, true, 0 },
	{ "cow", "copy on write after fork: readers must see the copy",
	  VERB_FORK, SHAPE_COW, false, 0 },
	{ "truncate", "truncate and extend the file: pages are empty again",
	  VERB_TRUNCATE, SHAPE_SIMPLE, false, 0 },
	{ "punch", "punch a hole into the file: pages are empty again",
	  VERB_PUNCH, SHAPE_SIMPLE, false, 0 },
	{ "uffd-wp", "userfaultfd write protection: writes must fault",
	  VERB_UFFD_WP, SHAPE_SIMPLE, true, 0 },
	{ "ksm", "merged by KSM: writes must go to a copy", VERB_KSM,
	  SHAPE_SIMPLE, true, 0 },
	{ "migrate", "moved to another NUMA node: writes must follow",
	  VERB_MIGRATE, SHAPE_SIMPLE, true, 0 },
	{ "collapse", "collapsed into a huge page: writes must follow",
	  VERB_COLLAPSE, SHAPE_SIMPLE, true, 0 },
};

const size_t check_kinds_n = sizeof(check_kinds) / sizeof(*check_kinds);

bool check_applies(const struct check_kind *kind, enum memory memory)
{
	unsigned int memories = kind->memories ? kind->memories :
						 verb_info[kind->verb].memories;

	return memories & BIT(memory);
}

/* sizes ---------------------------------------------------------------- */

/* The numbers of pages, what is most likely to show a fault first. */
struct sizes {
	unsigned int n;
	unsigned int pages[MAX_SIZES];
};

static void add_size(struct sizes *sizes, unsigned int pages, unsigned int most)
{
	unsigned int i;

	for (i = 0; i < sizes->n; i++)
		if (sizes->pages[i] == pages)
			return;
	if (pages >= 1 && pages <= most && sizes->n < MAX_SIZES)
		sizes->pages[sizes->n++] = pages;
}

static unsigned int largest(enum memory memory,
			    const struct check_bounds *bounds)
{
	if (memory == MEMORY_THP)
		return THP_PAGES;
	return memory == MEMORY_HUGETLB ? bounds->huge / 2 : MAX_SIZES;
}

static void list_sizes(const struct check_kind *kind, enum memory memory,
		       const struct check_bounds *bounds, struct sizes *sizes)
{
	static const unsigned int large[] = {
		64, 128, 256, 511, 512, 513, 600
	};
	unsigned int most = largest(memory, bounds), t = bounds->threshold, i;

	*sizes = (struct sizes){ 0 };
	if (kind->verb == VERB_COLLAPSE) {
		add_size(sizes, THP_PAGES, most);
		return;
	}
	/* all of a huge page first: parts of it split it */
	if (memory == MEMORY_THP)
		add_size(sizes, THP_PAGES, most);
	add_size(sizes, 2, most);
	add_size(sizes, t, most);
	add_size(sizes, t + 1, most);
	add_size(sizes, 1, most);
	add_size(sizes, 8, most);
	for (i = 3; i <= t + 2; i++)
		add_size(sizes, i, most);
	for (i = 0; i < sizeof(large) / sizeof(*large); i++)
		add_size(sizes, large[i], most);
}

/* order ---------------------------------------------------------------- */

/* How many values each property of a check has. */
struct radix {
	size_t sizes, ways, threads, layouts;
};

static struct radix radix_of(const struct check_kind *kind, enum memory memory,
			     const struct check_bounds *bounds)
{
	struct radix radix = { .threads = bounds->threads, .layouts = 1 };
	struct sizes sizes;

	list_sizes(kind, memory, bounds, &sizes);
	radix.sizes = sizes.n;
	/* hold by read or write, awake or asleep, test itself first or last */
	radix.ways = 8;
	/* test by read or write */
	if (kind->shape == SHAPE_SIMPLE && !kind->keeps)
		radix.ways = 16;
	if (kind->shape != SHAPE_SIMPLE)
		radix.ways = 2;
	if (memory == MEMORY_SHARED || memory == MEMORY_PRIVATE)
		radix.layouts = LAYOUTS;
	return radix;
}

size_t check_count(const struct check_kind *kind, enum memory memory,
		   const struct check_bounds *bounds)
{
	struct radix radix;

	if (!check_applies(kind, memory) || bounds->threads < 1)
		return 0;
	radix = radix_of(kind, memory, bounds);
	return radix.sizes * radix.ways * radix.threads * radix.layouts;
}

static struct check describe(const struct check_kind *kind, size_t way)
{
	struct check check = {
		.kind = kind,
		.hold = way & 1 ? VERB_READ : VERB_WRITE,
		.test = VERB_READ,
	};

	if (kind->shape == SHAPE_COW) {
		check.hold = VERB_READ;
		check.sleep = way & 1;
	} else if (kind->shape == SHAPE_SIMPLE) {
		check.sleep = way & 2;
		check.own_first = way & 4;
		check.test = way & 8 || kind->keeps ? VERB_WRITE : VERB_READ;
	}
	return check;
}

/*
 * The digits of index, each also turned by those below it: so all of them
 * change from one check to the next, and yet every combination occurs once.
 */
struct check check_nth(const struct check_kind *kind, enum memory memory,
		       const struct check_bounds *bounds, size_t index)
{
	struct radix radix = radix_of(kind, memory, bounds);
	size_t size = index % radix.sizes, above = index / radix.sizes;
	size_t way = (above + size) % radix.ways;
	struct check check = describe(kind, way);
	struct sizes sizes;

	list_sizes(kind, memory, bounds, &sizes);
	check.memory = memory;
	check.n = sizes.pages[size];
	above /= radix.ways;
	check.threads = 1 + (unsigned int)((above + size / 2) % radix.threads);
	above /= radix.threads;
	check.layout = (enum layout)((above + size + way) % radix.layouts);
	return check;
}

/* programs ------------------------------------------------------------- */

/* A program being written: the first failure to add a step stays. */
struct draft {
	struct program *program;
	uint64_t seed;
	unsigned int group;
	int status;
};

static void add(struct draft *draft, struct step step)
{
	step.group = draft->group;
	if (!verb_accesses(step.verb))
		step.from = step.first;
	if (program_add(draft->program, &step) < 0)
		draft->status = -1;
}

/* An access to all of a range, from one of its pages on. */
static void access_range(struct draft *draft, enum verb verb,
			 unsigned int actor, unsigned int first,
			 unsigned int count, int after, bool sleep)
{
	draft->seed = random_stream(draft->seed, actor);
	add(draft, (struct step){
			   .verb = verb,
			   .actor = actor,
			   .first = first,
			   .count = count,
			   .from = first + (unsigned int)(draft->seed % count),
			   .after = after,
			   .sleep = sleep,
		   });
}

static void everyone(struct draft *draft, enum verb verb, unsigned int first,
		     unsigned int count)
{
	unsigned int actor;

	for (actor = 0; actor < draft->program->actors; actor++)
		access_range(draft, verb, actor, first, count, -1, false);
	draft->group++;
}

/* The other threads test the range after step 0 of the group. */
static void test_others(struct draft *draft, const struct check *check,
			enum verb verb, unsigned int first, unsigned int count)
{
	unsigned int actor;

	for (actor = 1; actor <= check->threads; actor++)
		access_range(draft, verb, actor, first, count, 0, check->sleep);
	draft->group++;
}

static void draft_simple(struct draft *draft, const struct check *check,
			 unsigned int first)
{
	everyone(draft, check->hold, first, check->n);
	add(draft, (struct step){
			   .verb = check->kind->verb,
			   .first = first,
			   .count = check->n,
			   .after = -1,
		   });
	/*
	 * Its own view, at once, or when what it does can no longer hide
	 * theirs: to write may copy a page, which flushes it everywhere.
	 */
	if (check->own_first)
		access_range(draft, check->test, 0, first, check->n, -1, false);
	test_others(draft, check, check->test, first, check->n);
	if (!check->own_first)
		access_range(draft, check->test, 0, first, check->n, -1, false);
}

/* Each page that the initiator writes is copied, and so moves. */
static void draft_cow(struct draft *draft, const struct check *check,
		      unsigned int first)
{
	add(draft, (struct step){
			   .verb = VERB_FORK,
			   .first = first,
			   .count = check->n,
			   .after = -1,
		   });
	draft->group++;
	everyone(draft, VERB_READ, first, check->n);
	access_range(draft, VERB_WRITE, 0, first, check->n, -1, false);
	test_others(draft, check, VERB_READ, first, check->n);
	access_range(draft, VERB_READ, 0, first, check->n, -1, false);
}

/*
 * Every thread empties a part of its own, all at once, and tests each part as
 * soon as the one whose it is has returned.
 */
static void draft_race_round(struct draft *draft, const struct check *check)
{
	unsigned int actors = draft->program->actors, a, b;

	everyone(draft, check->hold, 0, draft->program->pages);
	for (a = 0; a < actors; a++)
		add(draft, (struct step){
				   .verb = check->kind->verb,
				   .actor = a,
				   .first = a * check->n,
				   .count = check->n,
				   .after = -1,
			   });
	for (b = 1; b <= actors; b++)
		for (a = 0; a < actors; a++) {
			unsigned int of = (a + b) % actors;

			access_range(draft, VERB_READ, a, of * check->n,
				     check->n, (int)of, false);
		}
	draft->group++;
}

/* Again and again: what goes wrong does so when two meet in a few instructions.
 */
static void draft_race(struct draft *draft, const struct check *check)
{
	unsigned int rounds = RACE_PAGES / draft->program->pages;

	if (rounds < 2)
		rounds = 2;
	if (rounds > RACE_ROUNDS)
		rounds = RACE_ROUNDS;
	while (rounds-- > 0) {
		access_range(draft, VERB_WRITE, 0, 0, draft->program->pages, -1,
			     false);
		draft->group++;
		draft_race_round(draft, check);
	}
}

int check_program(const struct check *check, uint64_t seed,
		  struct program *program)
{
	struct draft draft = { .program = program, .seed = seed };
	unsigned int first = 0, threads = check->threads;

	if (check->kind->shape == SHAPE_RACE && threads >= RACE_ACTORS)
		threads = RACE_ACTORS - 1;
	*program = (struct program){
		.memory = check->memory,
		.layout = check->layout,
		.pages = check->n,
		.actors = threads + 1,
	};
	if (check->memory == MEMORY_HUGETLB)
		program->at = (unsigned int)(random_stream(seed, 0) % 512);
	if (check->kind->shape == SHAPE_RACE)
		program->pages = check->n * program->actors;
	if (check->memory == MEMORY_THP) {
		program->pages = THP_PAGES;
		first = (unsigned int)(random_stream(seed, 1) %
				       (THP_PAGES - check->n + 1));
	}
	access_range(&draft, VERB_WRITE, 0, 0, program->pages, -1, false);
	draft.group++;
	switch (check->kind->shape) {
	case SHAPE_SIMPLE:
		draft_simple(&draft, check, first);
		break;
	case SHAPE_COW:
		draft_cow(&draft, check, first);
		break;
	case SHAPE_RACE:
		draft_race(&draft, check);
		break;
	}
	if (draft.status < 0)
		program_free(program);
	return draft.status;
}
