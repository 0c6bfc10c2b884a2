/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The logic of ./stale against a simulated kernel with a TLB for each thread:
 * it finds each fault that is planted there, and nothing where there is none;
 * a random program that fails is shrunk as far as it can be.
 */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "generate.h"
#include "judge.h"
#include "listing.h"
#include "random.h"
#include "shrink.h"
#include "simmachine.h"
#include "tap.h"

#define THRESHOLD 5
#define CHECKS_MOST 400 /* of each kind, with all kinds of memory */

static const struct check_bounds bounds = {
	.threshold = THRESHOLD,
	.threads = 3,
	.huge = 8,
};

/* A simulated machine and what it runs. */
struct bed {
	struct simmachine *machine;
	struct subject subject;
	struct finding finding;
	uint32_t nonce;
};

static void bed_open(struct bed *bed, enum plant plant, enum verb verb)
{
	*bed = (struct bed){
		.machine = simmachine_new(plant, verb, THRESHOLD, 1),
	};
	if (!bed->machine)
		abort();
	bed->subject = simmachine_subject(bed->machine);
}

static void bed_close(struct bed *bed)
{
	simmachine_free(bed->machine);
}

static enum verdict run(struct bed *bed, const struct program *program)
{
	enum verdict verdict;
	const char *fault;
	size_t step;
	char *why;

	fault = program_fault(program, &step);
	if (fault) {
		diag("step %zu: %s", step, fault);
		return VERDICT_CANNOT;
	}
	verdict = judge(&bed->subject, program, ++bed->nonce, &bed->finding,
			&why);
	if (verdict == VERDICT_CANNOT)
		diag("cannot: %s", why ? why : "unknown");
	free(why);
	return verdict;
}

static void show(const struct bed *bed, const struct program *program)
{
	const struct finding *finding = &bed->finding;
	char *listing = listing_print(program), *rest = listing, *line;

	diag("%s: step %zu, page %u, actor %u, operation %ld, got %#" PRIx64
	     ", wanted %#" PRIx64,
	     finding_text[finding->kind], finding->step, finding->page,
	     finding->actor, finding->operation, finding->got, finding->wanted);
	while ((line = strsep(&rest, "\n")))
		diag("%s", line);
	free(listing);
}

/* systematic ----------------------------------------------------------- */

static enum verdict run_check(struct bed *bed, const struct check_kind *kind,
			      enum memory memory, size_t index, bool verbose)
{
	struct check check = check_nth(kind, memory, &bounds, index);
	struct program program;
	enum verdict verdict;

	if (check_program(&check, index, &program) < 0)
		abort();
	verdict = run(bed, &program);
	if (verbose && verdict != VERDICT_CLEAN)
		show(bed, &program);
	program_free(&program);
	return verdict;
}

/* How many checks of a kind it takes to find the fault; -1: none does. */
static long find(struct bed *bed, const struct check_kind *kind,
		 enum memory memory)
{
	size_t n = check_count(kind, memory, &bounds), i;

	for (i = 0; i < n; i++)
		if (run_check(bed, kind, memory, i, false) == VERDICT_STALE)
			return (long)i;
	return -1;
}

static void test_quiet(void)
{
	struct bed bed;
	size_t k, i, n;
	int memory;

	bed_open(&bed, PLANT_NONE, VERBS);
	for (k = 0; k < check_kinds_n; k++)
		for (memory = 0; memory < MEMORIES; memory++) {
			const struct check_kind *kind = &check_kinds[k];
			size_t clean = 0;

			n = check_count(kind, (enum memory)memory, &bounds);
			if (n == 0)
				continue;
			if (n > CHECKS_MOST)
				n = CHECKS_MOST;
			for (i = 0; i < n; i++)
				clean += run_check(&bed, kind,
						   (enum memory)memory, i,
						   true) == VERDICT_CLEAN;
			is_int(clean, n, "%s, %s: nothing where nothing is",
			       kind->name, memory_name[memory]);
		}
	bed_close(&bed);
}

/* All of a huge page, whatever the number of pages: more than the threshold. */
static bool flushes_512(const struct check_kind *kind, enum memory memory)
{
	return memory == MEMORY_THP && kind->shape == SHAPE_SIMPLE &&
	       (kind->verb == VERB_FORK || kind->verb == VERB_COLLAPSE);
}

/* What a check sees depends on what the fault is. */
static bool is_seen(enum plant plant, const struct check_kind *kind,
		    enum memory memory)
{
	switch (plant) {
	case PLANT_SKIP_COPY:
		return kind->shape == SHAPE_COW;
	case PLANT_SKIP_CONCURRENT:
		return kind->shape == SHAPE_RACE;
	case PLANT_SKIP_LAZY:
		return kind->shape != SHAPE_RACE;
	case PLANT_SKIP_LOCAL:
		/* the initiator of a copy has no old entry to write with */
		return kind->shape != SHAPE_COW;
	case PLANT_ONE_PAGE:
		return kind->shape != SHAPE_COW && !flushes_512(kind, memory);
	case PLANT_SKIP_FIRST:
	case PLANT_SKIP_LAST:
		return !flushes_512(kind, memory);
	case PLANT_SKIP_FULL:
		return kind->shape != SHAPE_COW && memory != MEMORY_HUGETLB;
	default:
		return true;
	}
}

static const char *const plant_name[PLANTS] = {
	[PLANT_SKIP_FIRST] = "first page skipped",
	[PLANT_SKIP_LAST] = "last page skipped",
	[PLANT_ONE_PAGE] = "one page instead of a range",
	[PLANT_SKIP_REMOTE] = "other CPUs skipped",
	[PLANT_SKIP_ONE] = "one CPU skipped",
	[PLANT_SKIP_LOCAL] = "own CPU skipped",
	[PLANT_SKIP_LAZY] = "idle CPU not flushed when it wakes",
	[PLANT_SKIP_FULL] = "nothing flushed above the threshold",
	[PLANT_SKIP_COPY] = "copy on write not flushed",
	[PLANT_SKIP_CONCURRENT] = "concurrent flush lost",
};

static void test_plants(void)
{
	int plant, memory;
	size_t k;

	for (plant = PLANT_SKIP_FIRST; plant < PLANTS; plant++) {
		size_t missed = 0, found = 0;

		if (plant == PLANT_SKIP_VERB)
			continue;
		for (k = 0; k < check_kinds_n; k++)
			for (memory = 0; memory < MEMORIES; memory++) {
				const struct check_kind *kind = &check_kinds[k];
				struct bed bed;
				long at;

				if (!check_count(kind, (enum memory)memory,
						 &bounds) ||
				    !is_seen((enum plant)plant, kind,
					     (enum memory)memory))
					continue;
				bed_open(&bed, (enum plant)plant, VERBS);
				at = find(&bed, kind, (enum memory)memory);
				if (at < 0)
					diag("%s, %s does not see it",
					     kind->name, memory_name[memory]);
				missed += at < 0;
				found += at >= 0;
				bed_close(&bed);
			}
		ok(missed == 0 && found > 0, "%s: seen by all %zu it concerns",
		   plant_name[plant], found);
	}
}

/* An operation that does not flush is seen by its check, and by no other. */
static void test_verbs(void)
{
	size_t k, other;
	int memory;

	for (k = 0; k < check_kinds_n; k++)
		for (memory = 0; memory < MEMORIES; memory++) {
			const struct check_kind *kind = &check_kinds[k];
			struct bed bed;
			long at;

			/* where the fork before a copy flushes, so does COW */
			if (kind->shape == SHAPE_COW ||
			    !check_count(kind, (enum memory)memory, &bounds))
				continue;
			bed_open(&bed, PLANT_SKIP_VERB, kind->verb);
			at = find(&bed, kind, (enum memory)memory);
			ok(at >= 0 && at < 8, "%s, %s: not flushed (check %ld)",
			   kind->name, memory_name[memory], at);
			for (other = 0; other < check_kinds_n; other++)
				if (check_kinds[other].verb != kind->verb &&
				    check_applies(&check_kinds[other],
						  (enum memory)memory) &&
				    run_check(&bed, &check_kinds[other],
					      (enum memory)memory, 0,
					      true) != VERDICT_CLEAN)
					ok(false, "%s sees it too",
					   check_kinds[other].name);
			bed_close(&bed);
		}
}

/* Every number of pages and way of holding occurs, once each. */
static void test_order(void)
{
	const struct check_kind *kind = &check_kinds[0];
	size_t n = check_count(kind, MEMORY_SHARED, &bounds), i, j, same = 0;
	bool size[THRESHOLD + 3] = { false };
	struct check *all = calloc(n, sizeof(*all));

	for (i = 0; all && i < n; i++) {
		all[i] = check_nth(kind, MEMORY_SHARED, &bounds, i);
		if (all[i].n < THRESHOLD + 3)
			size[all[i].n] = true;
		for (j = 0; j < i; j++)
			same += all[i].n == all[j].n &&
				all[i].layout == all[j].layout &&
				all[i].threads == all[j].threads &&
				all[i].hold == all[j].hold &&
				all[i].test == all[j].test &&
				all[i].own_first == all[j].own_first &&
				all[i].sleep == all[j].sleep;
	}
	is_int(same, 0, "no check is repeated before all %zu were made", n);
	ok(!memchr(&size[1], false, THRESHOLD + 2),
	   "there is every number of pages up to 2 past the threshold");
	free(all);
}

/* random --------------------------------------------------------------- */

/* Seed of the first random program that fails; -1: none of n does. */
static long find_random(struct bed *bed, enum memory memory, long n,
			struct program *program)
{
	const struct generate_bounds limits = {
		.threshold = THRESHOLD,
		.actors = 4,
		.memory = memory,
	};
	long seed;

	for (seed = 0; seed < n; seed++) {
		enum verdict verdict;

		if (generate(&limits, (uint64_t)seed, program) < 0)
			abort();
		verdict = run(bed, program);
		if (verdict != VERDICT_CLEAN)
			return verdict == VERDICT_STALE ? seed : n;
		program_free(program);
	}
	return -1;
}

static void test_random_quiet(void)
{
	static const long n[MEMORIES] = { 3000, 3000, 60, 1000 };
	struct program program;
	int memory;

	for (memory = 0; memory < MEMORIES; memory++) {
		struct bed bed;
		long at;

		bed_open(&bed, PLANT_NONE, VERBS);
		at = find_random(&bed, (enum memory)memory, n[memory],
				 &program);
		if (!ok(at < 0, "%ld random programs, %s: nothing", n[memory],
			memory_name[memory])) {
			diag("seed %ld", at);
			show(&bed, &program);
			program_free(&program);
		}
		bed_close(&bed);
	}
}

static void test_random_plants(void)
{
	int plant;

	for (plant = PLANT_SKIP_FIRST; plant < PLANTS; plant++) {
		struct program program = { 0 };
		struct bed bed;
		long at;

		bed_open(&bed, (enum plant)plant, VERB_DONTNEED);
		at = find_random(&bed, MEMORY_PRIVATE, 1000, &program);
		ok(at >= 0 && at < 1000, "random programs see plant %d (%ld)",
		   plant, at);
		program_free(&program);
		bed_close(&bed);
	}
}

/* shrinking ------------------------------------------------------------ */

/* A race needs luck: a program fails if it does in one of so many orders. */
#define ORDERS 20

static bool fails(void *context, const struct program *program)
{
	struct bed *bed = context;
	uint64_t seed;

	for (seed = 0; seed < ORDERS; seed++) {
		simmachine_seed(bed->machine, seed);
		if (run(bed, program) == VERDICT_STALE)
			return true;
	}
	return false;
}

/* That no step can be left out of it. */
static bool is_minimal(struct bed *bed, const struct program *program)
{
	size_t i, step;

	for (i = 0; i < program->steps; i++) {
		struct program copy;
		bool still;

		if (program_copy(&copy, program) < 0)
			abort();
		program_remove(&copy, i);
		still = copy.steps > 0 && !program_fault(&copy, &step) &&
			fails(bed, &copy);
		program_free(&copy);
		if (still)
			return false;
	}
	return true;
}

/* The least steps and pages of one range that show a fault. */
static const struct {
	enum plant plant;
	size_t steps;
	unsigned int pages;
} least[] = {
	{ PLANT_SKIP_LAST, 3, 1 },	 { PLANT_SKIP_REMOTE, 3, 1 },
	{ PLANT_SKIP_LOCAL, 3, 1 },	 { PLANT_SKIP_LAZY, 3, 1 },
	{ PLANT_ONE_PAGE, 3, 2 },	 { PLANT_SKIP_FULL, 3, THRESHOLD + 1 },
	{ PLANT_SKIP_CONCURRENT, 4, 2 },
};

static void test_shrink(void)
{
	size_t i;

	for (i = 0; i < sizeof(least) / sizeof(*least); i++) {
		struct program program = { 0 };
		struct bed bed;
		size_t before;

		bed_open(&bed, least[i].plant, VERBS);
		if (find_random(&bed, MEMORY_PRIVATE, 1000, &program) < 0) {
			ok(false, "no failure to shrink");
			continue;
		}
		before = program.steps;
		is_int(shrink(&program, fails, &bed, 100000), 0, "%s: shrunk",
		       plant_name[least[i].plant]);
		ok(fails(&bed, &program) && is_minimal(&bed, &program) &&
			   program.steps <= least[i].steps &&
			   program.pages == least[i].pages,
		   "%s: %zu steps become %zu, of %u pages, and none can go",
		   plant_name[least[i].plant], before, program.steps,
		   program.pages);
		fails(&bed, &program);
		show(&bed, &program);
		program_free(&program);
		bed_close(&bed);
	}
}

/* A program that stops failing whatever is changed stays as it is. */
static bool fails_never(void *context, const struct program *program)
{
	size_t *asked = context;

	++*asked;
	return program->steps == 0;
}

static void test_shrink_limit(void)
{
	const struct generate_bounds limits = { 5, 3, MEMORY_SHARED };
	struct program program, copy;
	size_t asked = 0;
	char *before, *after;

	if (generate(&limits, 7, &program) < 0 ||
	    program_copy(&copy, &program) < 0)
		abort();
	before = listing_print(&program);
	shrink(&program, fails_never, &asked, 10);
	after = listing_print(&program);
	is_int(asked, 10, "shrinking ends after as many trials as it may make");
	is_string(after, before, "and what cannot be shrunk stays");
	free(before);
	free(after);
	program_free(&program);
	program_free(&copy);
}

int main(void)
{
	test_order();
	test_quiet();
	test_plants();
	test_verbs();
	test_random_quiet();
	test_random_plants();
	test_shrink();
	test_shrink_limit();
	return done();
}
