/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flushes: events recorded on a machine, and changed ones, are counted for the
 * operations they belong to, and as what they were.
 */
#include <config.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "flushes.h"
#include "tap.h"

#define CALLER 18755
#define OTHER 18759
#define N(array) (sizeof(array) / sizeof((array)[0]))

/*
 * As recorded under Linux 6.18 (the fields of tlb:tlb_flush, and the times by
 * CLOCK_MONOTONIC_RAW without their first digits): mprotects of 3, 33, 34 and
 * 40 pages while a second thread runs; each is followed by one that gives the
 * right back and flushes as well. CPU 1 was not always on the processor.
 */
static const struct flush_span recorded_span[] = {
	{ 76572003, 76624193 },
	{ 80513060, 80535093 },
	{ 84448640, 84456478 },
	{ 88451385, 88468258 },
};

struct recorded {
	uint64_t ns;
	unsigned int cpu;
	pid_t thread;
	int64_t reason, pages;
};

static const struct recorded recorded[] = {
	{ 73862846, 0, CALLER, 0, -1 }, { 76589221, 0, CALLER, 4, 3 },
	{ 76616202, 0, CALLER, 3, 3 },	{ 76622610, 1, OTHER, 1, 3 },
	{ 76628174, 0, CALLER, 4, 3 },	{ 76642891, 0, CALLER, 3, 3 },
	{ 76648778, 1, OTHER, 1, 3 },	{ 80451601, 1, OTHER, 0, 0 },
	{ 80528998, 0, CALLER, 4, 33 }, { 80534248, 0, CALLER, 3, 33 },
	{ 80543230, 0, CALLER, 4, 33 }, { 80547591, 0, CALLER, 3, 33 },
	{ 84455272, 0, CALLER, 4, -1 }, { 84456062, 0, CALLER, 3, -1 },
	{ 84458463, 0, CALLER, 4, -1 }, { 84458880, 0, CALLER, 3, -1 },
	{ 88466607, 0, CALLER, 4, -1 }, { 88467601, 0, CALLER, 3, -1 },
	{ 88472741, 0, CALLER, 4, -1 }, { 88473094, 0, CALLER, 3, -1 },
};

static void decode(struct flush *flush)
{
	size_t i;

	for (i = 0; i < N(recorded); i++) {
		const struct trace_event event = {
			.ns = recorded[i].ns,
			.cpu = recorded[i].cpu,
			.thread = recorded[i].thread,
			.field = { recorded[i].reason, recorded[i].pages },
		};

		flush[i] = flush_of(&event);
	}
}

static void test_recorded(void)
{
	const struct flush_implied three = { FLUSH_RANGE, 3, 33 };
	const struct flush_implied full = { FLUSH_RANGE, 34, 33 };
	struct flush flush[N(recorded)];
	struct flush_tally tally = { 0 };

	decode(flush);
	ok(flush[12].full && flush[12].pages == 0 && !flush[1].full &&
		   flush[1].pages == 3,
	   "-1 pages are a full flush");
	flushes_count(flush, N(recorded), recorded_span, 4, CALLER, &three,
		      &tally);
	is_int(tally.operations, 4, "four operations");
	is_int(tally.as_implied, 1, "one of them flushed three pages");
	is_int(tally.without, 0, "each of them flushed");
	is_int(tally.caller.full, 2, "two were full");
	is_int(tally.caller.paged, 2, "two went page by page");
	is_int(tally.caller.least, 3, "the smaller one");
	is_int(tally.caller.greatest, 33, "the larger one");
	is_int(tally.others.paged, 1, "one reached the other CPU");
	is_int(tally.others.full, 0, "... and was not a full one");
	is_int(tally.reasons[FLUSH_SEND], 4, "four were sent");
	is_int(tally.reasons[FLUSH_TASK_SWITCH], 0,
	       "what is between operations does not count");

	memset(&tally, 0, sizeof(tally));
	flushes_count(flush, N(recorded), recorded_span + 2, 2, CALLER, &full,
		      &tally);
	is_double(flushes_share(&tally), 1, 0, "above the ceiling: full");
	flushes_count(flush, N(recorded), recorded_span, 2, CALLER, &full,
		      &tally);
	is_double(flushes_share(&tally), 0.5, 0, "a tally goes on");
}

/* one operation --------------------------------------------------------- */

static const struct flush_span span = { 100, 200 };

static struct flush made(int reason, pid_t thread, int64_t pages)
{
	const struct trace_event event = {
		.ns = 150,
		.thread = thread,
		.field = { reason, pages },
	};

	return flush_of(&event);
}

/* True if an operation that had these flushes did what is implied. */
static bool did(const struct flush *flush, size_t n, enum flush_claim claim,
		size_t pages, double ceiling)
{
	const struct flush_implied implied = { claim, pages, ceiling };
	struct flush_tally tally = { 0 };

	flushes_count(flush, n, &span, 1, CALLER, &implied, &tally);
	return tally.as_implied == 1;
}

static void test_range(void)
{
	struct flush paged = made(FLUSH_LOCAL_MM, CALLER, 8);
	struct flush full = made(FLUSH_LOCAL_MM, CALLER, -1);
	struct flush wide = made(FLUSH_LOCAL_MM, CALLER, 304);
	struct flush one = made(FLUSH_LOCAL_MM, CALLER, 1);
	struct flush twice[] = { full, full };

	ok(did(&paged, 1, FLUSH_RANGE, 8, 33), "8 pages of 8");
	ok(did(&paged, 1, FLUSH_RANGE, 8, 8), "... at the ceiling");
	ok(did(&paged, 1, FLUSH_RANGE, 8, INFINITY), "... without a ceiling");
	ok(!did(&paged, 1, FLUSH_RANGE, 8, 7), "... above the ceiling");
	ok(!did(&paged, 1, FLUSH_RANGE, 8, NAN), "... under an unknown one");
	ok(!did(&paged, 1, FLUSH_RANGE, 9, 33), "8 pages of 9");
	ok(!did(&one, 1, FLUSH_RANGE, 8, 33), "one page of 8");
	ok(!did(&wide, 1, FLUSH_RANGE, 8, 33), "304 pages for 8");
	ok(!did(&full, 1, FLUSH_RANGE, 8, 33), "a full flush for 8 pages");
	ok(did(&full, 1, FLUSH_RANGE, 34, 33), "a full flush for 34 pages");
	ok(did(&full, 1, FLUSH_RANGE, 1, 0), "a ceiling of 0");
	ok(did(twice, 2, FLUSH_RANGE, 20000, 33), "two full ones for many");
	ok(!did(NULL, 0, FLUSH_RANGE, 8, 33), "no flush at all");
}

static void test_others(void)
{
	struct flush two[2] = { made(FLUSH_LOCAL_MM, CALLER, 8) };

	two[1] = made(FLUSH_REMOTE, OTHER, 8);
	ok(did(two, 2, FLUSH_RANGE, 8, 33), "another CPU flushes the same");
	two[1] = made(FLUSH_REMOTE, OTHER, -1);
	ok(!did(two, 2, FLUSH_RANGE, 8, 33), "another CPU flushes everything");
	two[1] = made(FLUSH_WRONG_CPU, OTHER, 0);
	ok(did(two, 2, FLUSH_RANGE, 8, 33), "one that is no longer there");
	two[1] = made(FLUSH_SEND, CALLER, -1);
	ok(did(two, 2, FLUSH_RANGE, 8, 33), "what is sent is no flush");
	two[1] = made(FLUSH_LOCAL_MM, OTHER, -1);
	ok(did(two, 2, FLUSH_RANGE, 8, 33), "a thread flushes for itself");
	two[1] = made(FLUSH_REMOTE, CALLER, -1);
	ok(did(two, 2, FLUSH_RANGE, 8, 33), "... and the caller for it");
	two[0] = made(FLUSH_REMOTE, OTHER, 8);
	ok(!did(two, 1, FLUSH_RANGE, 8, 33), "only the other CPU flushes");
	two[0] = made(FLUSH_SEND, CALLER, 8);
	ok(!did(two, 1, FLUSH_RANGE, 8, 33), "sent, and flushed by nobody");
}

static void test_claims(void)
{
	struct flush single[3];
	struct flush batch = made(FLUSH_LOCAL, CALLER, -1);
	size_t i;

	for (i = 0; i < 3; i++)
		single[i] = made(FLUSH_LOCAL_MM, CALLER, 1);
	ok(did(single, 3, FLUSH_EACH, 3, 33), "each page on its own");
	ok(did(single, 3, FLUSH_EACH, 3, 0), "... whatever the ceiling");
	ok(!did(single, 2, FLUSH_EACH, 3, 33), "... one is missing");
	ok(!did(single, 3, FLUSH_RANGE, 3, 33), "... is not one range");
	ok(did(single, 3, FLUSH_BATCH, 3, 33), "... so reclaim may do it");
	single[1] = made(FLUSH_LOCAL_MM, CALLER, 2);
	ok(!did(single, 3, FLUSH_EACH, 3, 33), "... two at once");
	ok(did(&batch, 1, FLUSH_BATCH, 3, 33), "... or by a full one for all");
	ok(!did(single, 1, FLUSH_BATCH, 3, 33), "... but not one of three");
	ok(!did(&batch, 1, FLUSH_EACH, 3, 33), "all is not each page");
}

static void test_unknown(void)
{
	struct flush strange = made(77, CALLER, 1);
	const struct flush_implied implied = { FLUSH_RANGE, 1, 33 };
	struct flush_tally tally = { 0 };

	is_double(flushes_share(&tally), NAN, 0, "no operation: unknown");
	flushes_count(&strange, 1, &span, 1, CALLER, &implied, &tally);
	strange = made(-1, CALLER, 1);
	flushes_count(&strange, 1, &span, 1, CALLER, &implied, &tally);
	is_int(tally.reasons[FLUSH_REASONS], 2, "reasons of newer kernels");
	is_int(tally.without, 2, "... are not taken for flushes");
}

/* ceiling --------------------------------------------------------------- */

#define CALLS 10

/* The ceiling seen in calls that flush page by page where the mask has a bit */
static double ceiling_of(unsigned int mask, size_t missing)
{
	struct flush flush[CALLS];
	struct flush_span spans[CALLS];
	size_t n = 0, i;

	for (i = 0; i < CALLS; i++) {
		spans[i] = (struct flush_span){ 100 * i, 100 * i + 50 };
		if (i == missing)
			continue;
		flush[n] = made(FLUSH_LOCAL_MM, CALLER,
				mask >> i & 1 ? (int64_t)i + 1 : -1);
		flush[n++].ns = 100 * i + 10;
	}
	return flushes_ceiling(flush, n, spans, CALLS, CALLER);
}

static void test_ceiling(void)
{
	is_double(ceiling_of(0x7, CALLS), 3, 0, "a ceiling of 3");
	is_double(ceiling_of(0, CALLS), 0, 0, "always full");
	is_double(ceiling_of(0x3ff, CALLS), INFINITY, 0, "never full");
	is_double(ceiling_of(0x1ff, CALLS), 9, 0, "the last one is");
	is_double(ceiling_of(0x5, CALLS), NAN, 0, "now so, now so: unknown");
	is_double(ceiling_of(0x7, 5), NAN, 0, "a flush is missing: unknown");
	is_double(flushes_ceiling(NULL, 0, NULL, 0, CALLER), NAN, 0,
		  "nothing: unknown");
}

int main(void)
{
	test_recorded();
	test_range();
	test_others();
	test_claims();
	test_unknown();
	test_ceiling();
	return done();
}
