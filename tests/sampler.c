/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler: when and at what it looks, in a made-up /proc and a time of our own.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampler.h"
#include "sysfile.h"
#include "tap.h"
#include "touched.h"
#include "tree.h"

#define MS 1000000u
#define TICK 1000 /* ns that pass with each look at the clock */

static uint64_t tick(void *clock)
{
	uint64_t *now = clock;

	return *now += TICK;
}

/* What the process has touched, in pages. */
static void touch(const char *root, unsigned int pages, unsigned int huge)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "00400000-7ffddb314000 ---p 00000000 00:00 0 [rollup]\n"
		 "Rss:                %u kB\nReferenced:         %u kB\n"
		 "AnonHugePages:      %u kB\nShmemPmdMapped:     0 kB\n",
		 4000u, 4 * pages, 4 * huge);
	tree_write(root, "/proc/100/smaps_rollup", text);
}

static char *make_tree(void)
{
	char *root = tree_open();

	tree_write(root, "/proc/100/status", "Name:\ta\nTgid:\t100\nPid:\t100");
	tree_write(root, "/proc/101/status", "Name:\ta\nTgid:\t100\nPid:\t101");
	tree_write(root, "/proc/100/clear_refs", "0");
	touch(root, 900, 0);
	return root;
}

/* Step until *now is its next due time, which is returned. */
static uint64_t go(struct sampler *sampler, uint64_t *now)
{
	*now = sampler_step(sampler);
	return sampler_step(sampler);
}

/* The bits are cleared, whatever was there. */
static bool is_cleared(const char *root)
{
	char *text = sysfile_read(root, "/proc/100/clear_refs");
	bool cleared = text && !strcmp(text, "1");

	free(text);
	tree_write(root, "/proc/100/clear_refs", "0");
	return cleared;
}

static void test_look(const char *root)
{
	uint64_t now = 1000 * MS, from, first, second;
	const struct reuse_reading *reading;
	struct sampler *sampler = sampler_open(&(struct sampler_config){
		.root = root, .now = tick, .clock = &now, .process = 1 });
	size_t n, i;

	from = sampler_step(sampler);
	ok(from >= now + 25 * MS && !sampler_looks(sampler) &&
		   !is_cleared(root),
	   "not at once");
	/* ten flushes, 8 ms apart, of two threads; the last was 4 ms ago */
	for (i = 0; i < 10; i++)
		sampler_flush(sampler, i % 2 ? 100 : 101,
			      from - (76 - 8 * i) * MS);
	for (i = 0; i < 10; i++) /* of one that has ended since */
		sampler_flush(sampler, 55, from - i * MS);
	first = go(sampler, &now);
	sampler_flush(sampler, 100, first - MS);
	ok(is_cleared(root) && sampler_looks(sampler),
	   "then the bits of the process of these threads are cleared");
	is_double((double)(first - from), 7.6e6, 4e4,
		  "... and counted after the time that is between flushes");
	touch(root, 100, 0);
	second = go(sampler, &now);
	is_double((double)(second - first), (double)(first - from), 4e4,
		  "... and again after the same time");
	sampler_readings(sampler, &n);
	is_int(n, 0, "that is no reading yet");
	sampler_flush(sampler, 100, second - MS);
	touch(root, 120, 50);
	now = go(sampler, &now) - 25 * MS;
	reading = sampler_readings(sampler, &n);
	ok(n == 1 && reading[0].pages[0] == 100 && reading[0].pages[1] == 120 &&
		   reading[0].huge == 50 && reading[0].resident == 1000,
	   "a reading of what was counted");
	is_double(reuse_pages(&reading[0]), 80, 0.5, "... of 80 reused pages");
	ok(!is_cleared(root) && !sampler_looks(sampler) && now > second,
	   "then it rests");
	for (i = 0; i < 3 * 100; i++)
		sampler_flush(sampler, 100, go(sampler, &now) - 2 * TICK);
	sampler_readings(sampler, &n);
	is_int(n, 64, "of many readings so many are kept");
	is_int(sampler_error(sampler), 0, "none failed");
	sampler_close(sampler);
}

/* A look is of no use while the program does not flush, as it otherwise does.
 */
static void test_idle(const char *root)
{
	static const struct {
		const char *name;
		bool first, second;
		size_t readings;
	} cases[] = {
		{ "no flush in either window", false, false, 0 },
		{ "in the first only", true, false, 0 },
		{ "in the second only", false, true, 0 },
		{ "in both", true, true, 1 },
	};
	size_t i, j, n;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t now = 1000 * MS, due;
		struct sampler *sampler = sampler_open(&(struct sampler_config){
			.root = root, .now = tick, .clock = &now });

		due = sampler_step(sampler);
		for (j = 1; j < 10; j++)
			sampler_flush(sampler, 100, due - j * 8 * MS);
		due = go(sampler, &now);
		if (cases[i].first)
			sampler_flush(sampler, 100, due - MS);
		due = go(sampler, &now);
		if (cases[i].second)
			sampler_flush(sampler, 100, due - MS);
		due = go(sampler, &now);
		sampler_flush(sampler, 100, due - MS); /* after the look */
		sampler_readings(sampler, &n);
		is_int(n, cases[i].readings, "%s", cases[i].name);
		sampler_close(sampler);
	}
}

/* Whom to look at where no flush tells. */
static void test_choice(const char *root)
{
	uint64_t now = MS;
	const struct reuse_reading *reading;
	struct sampler *sampler = sampler_open(&(struct sampler_config){
		.root = root, .now = tick, .clock = &now, .process = 100 });
	uint64_t due;
	size_t n;

	sampler_flush(sampler, 55, MS); /* which has ended since */
	due = go(sampler, &now);
	ok(is_cleared(root), "nobody is known to flush: the first process");
	is_double((double)(due - now), REUSE_WINDOW_MAX_NS, 4e4,
		  "... for as long as ever");
	go(sampler, &now);
	go(sampler, &now);
	reading = sampler_readings(sampler, &n);
	ok(n == 1 && isnan(reading[0].gap_ns), "... by an unknown gap");
	sampler_close(sampler);
}

/* What cannot be read, or is not what it should be. */
static void test_failure(const char *root)
{
	static const char *const bad[] = { "", "Referenced: x kB\nRss: 1 kB",
					   "Referenced: -4 kB\nRss: 1 kB",
					   "Referenced: 4 kB" };
	uint64_t now = MS, due;
	struct sampler *sampler = sampler_open(&(struct sampler_config){
		.root = root, .now = tick, .clock = &now, .process = 100 });
	struct touched touched;
	size_t i, n;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		tree_write(root, "/proc/100/smaps_rollup", bad[i]);
		ok(touched_read(root, 100, &touched) < 0 && errno == EPROTO,
		   "no counts in '%s'", bad[i]);
	}
	touch(root, 10, 0);
	is_int(touched_read(root, 100, &touched), 0, "but these are");
	go(sampler, &now);
	tree_remove(root, "/proc/100/smaps_rollup");
	due = go(sampler, &now);
	sampler_readings(sampler, &n);
	ok(n == 0 && sampler_error(sampler) == ENOENT &&
		   !sampler_looks(sampler) && due >= now + 25 * MS,
	   "a process that ends meanwhile gives no reading");
	touch(root, 10, 0);
	tree_remove(root, "/proc/100/clear_refs");
	go(sampler, &now);
	sampler_readings(sampler, &n);
	ok(n == 0 && !sampler_looks(sampler), "bits that cannot be cleared");
	is_int(touched_process(root, 101), 100, "whose thread it is");
	is_int(touched_process(root, 7), -1, "... of none");
	tree_write(root, "/proc/7/status", "Tgid:\t0");
	is_int(touched_process(root, 7), -1, "... or of what cannot be");
	tree_write(root, "/proc/7/status", "Tgid:\t99999999999");
	is_int(touched_process(root, 7), -1, "... beyond any process");
	sampler_close(sampler);
}

int main(void)
{
	char *root = make_tree();

	test_look(root);
	test_idle(root);
	test_choice(root);
	test_failure(root);
	tree_close(root);
	return done();
}
