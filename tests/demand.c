/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demand: what is counted of a made-up trace, and what it costs.
 */
#include <config.h>

#include <math.h>

#include "demand.h"
#include "tap.h"

#define PAGE 4096

/* An event; -1 pages: full. */
static void add(struct demand *demand, pid_t thread, int reason, int pages)
{
	const struct flush flush = {
		.thread = thread,
		.reason = reason,
		.full = pages < 0,
		.pages = pages < 0 ? 0 : (size_t)pages,
	};

	demand_add(demand, &flush);
}

static void test_count(void)
{
	static struct demand f;
	json_t *json;

	/* A partial flush tells its size, whatever the call was for. */
	demand_enter(&f, 7, DEMAND_MUNMAP, 100 * PAGE);
	add(&f, 7, FLUSH_LOCAL, 3);
	is_int(f.count[DEMAND_MUNMAP][3], 1,
	       "a partial flush, by its own size");
	/* A full one has that of the call, rounded up. */
	add(&f, 7, FLUSH_LOCAL_MM, -1);
	is_int(f.count[DEMAND_MUNMAP][100], 1, "a full one, by the call's");
	is_int(f.full[DEMAND_MUNMAP], 1, "... called full");
	demand_enter(&f, 7, DEMAND_MPROTECT, 5 * PAGE + 1);
	add(&f, 7, FLUSH_LOCAL, -1);
	is_int(f.count[DEMAND_MPROTECT][6], 1, "rounded up to pages");
	demand_leave(&f, 7);
	add(&f, 7, FLUSH_LOCAL, -1);
	is_int(f.count[DEMAND_OTHER][0], 1, "outside of a call: unknown size");
	add(&f, 7, FLUSH_LOCAL, 1);
	is_int(f.count[DEMAND_OTHER][1], 1, "... unless it tells");
	/* Threads do not mix. */
	demand_enter(&f, 9, DEMAND_MADVISE, 513 * PAGE);
	demand_enter(&f, 8, DEMAND_MADVISE, 512 * PAGE);
	add(&f, 9, FLUSH_LOCAL, -1);
	add(&f, 8, FLUSH_LOCAL, -1);
	is_int(f.larger[DEMAND_MADVISE], 1, "513 pages are larger than any");
	is_int(f.count[DEMAND_MADVISE][512], 1, "512 are not");
	/* What others initiate, and switches, are no flushes of this one. */
	add(&f, 9, FLUSH_REMOTE, -1);
	add(&f, 9, FLUSH_TASK_SWITCH, -1);
	add(&f, 9, FLUSH_SEND, 3);
	add(&f, 9, FLUSH_WRONG_CPU, 0);
	is_int(demand_total(&f), 7, "seven flushes were initiated");
	is_int(demand_unknown(&f), 1, "one of them of unknown size");
	is_int(f.reason[FLUSH_REMOTE], 1, "others are events only");
	add(&f, 9, 6, 1);
	add(&f, 9, -1, 1);
	is_int(f.strange, 2, "reasons of another kernel are not guessed");
	is_int(demand_total(&f), 7, "... nor counted");
	demand_leave(&f, 12345);
	json = demand_json(&f);
	is_int(json_integer_value(json_object_get(
		       json_object_get(json, "munmap"), "total")),
	       2, "in JSON");
	json_decref(json);
	demand_free(&f);
}

static void test_cost(void)
{
	static unsigned int w[] = { 64 };
	static double step[][PATTERNS] = { { 300, 600, 900 } };
	const struct cost_model model = { 1000, 10, 40, 200, 1, w, step, NULL };
	static struct demand f;
	int i;

	for (i = 0; i < 3; i++)
		add(&f, 1, FLUSH_LOCAL, 10);
	add(&f, 1, FLUSH_LOCAL, 100);
	add(&f, 1, FLUSH_LOCAL, -1);
	is_double(demand_cost(&f, &model, 64, 33),
		  3 * 1500 + (1000 + 1000 + 200 + 600), 1e-6,
		  "10 pages page by page, 100 full with the mean refill");
	is_double(demand_cost(&f, &model, 0, 0), 3 * 1300 + 2200, 1e-6,
		  "all full, nothing reused");
	is_double(demand_cost(&f, &model, 0, 512), 3 * 1500 + 6000, 1e-6,
		  "all page by page");
	demand_free(&f);
}

/* Threads come in any order and are found again. */
static void test_threads(void)
{
	static struct demand f;
	bool found = true;
	int i;

	for (i = 0; i < 1000; i++)
		demand_enter(&f, (i * 7919) % 1000 + 1, DEMAND_MPROTECT,
			     (uint64_t)((i * 7919) % 1000 % 100 + 1) * PAGE);
	for (i = 1; i <= 1000; i++) {
		unsigned long long before =
			f.count[DEMAND_MPROTECT][(i - 1) % 100 + 1];

		add(&f, i, FLUSH_LOCAL, -1);
		found &= f.count[DEMAND_MPROTECT][(i - 1) % 100 + 1] ==
			 before + 1;
	}
	ok(found, "each of 1000 threads has its own call");
	demand_free(&f);
}

int main(void)
{
	test_count();
	test_cost();
	test_threads();
	return done();
}
