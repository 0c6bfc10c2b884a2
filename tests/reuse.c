/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reuse: W of simulated programs, against the pages that are counted, one by
 * one, to be touched in two successive windows.
 */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "random.h"
#include "reuse.h"
#include "tap.h"

#define PAGES 4096

/* The page that a program touches at a time 0, 1, ... */
typedef size_t (*program)(size_t time, size_t pages);

/* Nine of ten touches: pages in turn; the tenth is of one never touched. */
static size_t hot_and_cold(size_t time, size_t pages)
{
	return time % 10 ? time % pages : pages + time / 10;
}

static size_t in_turn(size_t time, size_t pages)
{
	return time % pages;
}

static size_t at_random(size_t time, size_t pages)
{
	return random_stream(7, time) % pages;
}

/* Run it for two windows; *both becomes the pages touched in each of them. */
static struct reuse_reading look(program at, size_t pages, size_t first,
				 size_t second, size_t *both)
{
	bool *in[2] = { calloc(PAGES, 1), calloc(PAGES, 1) };
	struct reuse_reading reading = {
		.gap_ns = (double)first,
		.window_ns = { (double)first, (double)(first + second) },
		.resident = PAGES,
	};
	size_t i;

	for (i = 0; i < first + second; i++)
		in[i >= first][at(i, pages)] = true;
	for (i = *both = 0; i < PAGES; i++) {
		reading.pages[0] += in[0][i];
		reading.pages[1] += in[0][i] || in[1][i];
		*both += in[0][i] && in[1][i];
	}
	free(in[0]);
	free(in[1]);
	return reading;
}

static void test_programs(void)
{
	static const struct {
		const char *name;
		program at;
		size_t pages, first, second;
		double tolerance;
	} cases[] = {
		{ "64 hot pages and cold ones", hot_and_cold, 64, 5000, 5000,
		  0 },
		{ "... the second window longer", hot_and_cold, 64, 5000, 7000,
		  0.5 },
		{ "... shorter", hot_and_cold, 64, 7000, 5000, 0.5 },
		{ "1000 hot pages", hot_and_cold, 1000, 9000, 9000, 0 },
		{ "only cold pages", hot_and_cold, 1, 2000, 2000, 0 },
		{ "in turn, none twice", in_turn, 4000, 1000, 1000, 0 },
		{ "in turn, some twice", in_turn, 1500, 1000, 1000, 0 },
		{ "in turn, all twice", in_turn, 700, 1000, 1000, 0 },
		{ "at random, few twice", at_random, 2000, 500, 500, 40 },
		{ "at random, most twice", at_random, 500, 1000, 1000, 30 },
	};
	size_t i, both;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct reuse_reading reading = look(cases[i].at, cases[i].pages,
						    cases[i].first,
						    cases[i].second, &both);

		is_double(reuse_pages(&reading), (double)both,
			  cases[i].tolerance, "%s: %zu", cases[i].name, both);
	}
}

/* Of pages at random, n of N, what is known of it: N (1 - (1 - 1/N)^n)^2. */
static void test_expectation(void)
{
	const double share = 1 - pow(1 - 1. / 300, 400);
	struct reuse_reading reading[16];
	struct reuse reuse;
	size_t i, both;

	for (i = 0; i < 16; i++)
		reading[i] = look(at_random, 300, 400 + i, 400 + i, &both);
	if (reuse_of(reading, 16, 0, &reuse) < 0)
		skip_all("no memory");
	is_double(reuse.pages.value, 300 * share * share, 15,
		  "the median of many readings is what is expected");
	ok(reuse.pages.ci95.lo <= reuse.pages.value &&
		   reuse.pages.value <= reuse.pages.ci95.hi &&
		   reuse.spread.n == 16,
	   "... within its interval");
}

static void test_unusable(void)
{
	static const struct reuse_reading bad[] = {
		{ 1e6, { 1e6, 1.4e6 }, 0, { 10, 20 }, 0, 100 },
		{ 1e6, { 1e6, 3.1e6 }, 0, { 10, 20 }, 0, 100 },
		{ 1e6, { 0, 2e6 }, 0, { 10, 20 }, 0, 100 },
		{ 1e6, { 0, 0 }, 0, { 10, 20 }, 0, 100 },
		{ 1e6, { -1e6, -2e6 }, 0, { 10, 20 }, 0, 100 },
		{ 1e6, { NAN, 2e6 }, 0, { 10, 20 }, 0, 100 },
		{ 1e6, { 1e6, INFINITY }, 0, { 10, 20 }, 0, 100 },
		{ 1e6, { 1e6, 2e6 }, 0, { NAN, 20 }, 0, 100 },
		{ 1e6, { 1e6, 2e6 }, 0, { 10, NAN }, 0, 100 },
		{ 1e6, { 1e6, 2e6 }, 0, { -1, 20 }, 0, 100 },
	};
	const struct reuse_reading fewer = {
		1e6, { 1e6, 2e6 }, 0, { 20, 10 }, 0, 100,
	};
	struct reuse reuse;
	size_t i, n = sizeof(bad) / sizeof(*bad);

	for (i = 0; i < n; i++)
		is_double(reuse_pages(&bad[i]), NAN, 0,
			  "reading %zu says nothing", i);
	is_double(reuse_pages(&fewer), 20, 0, "pages may be unmapped");
	is_int(reuse_of(bad, n, 64, &reuse), 0, "no reading says anything");
	ok(reuse.spread.n == 0 && isnan(reuse.pages.value) &&
		   isnan(reuse.pages.ci95.lo) && isnan(reuse.at_most),
	   "... nothing is known then");
	is_int(reuse_of(NULL, 0, 64, &reuse), 0, "nor is it without any");
	ok(reuse.spread.n == 0 && isnan(reuse.pages.value), "... unknown");
}

static void test_bounds(void)
{
	struct reuse_reading two[2] = {
		{ 1e6, { 2e6, 4e6 }, 0, { 300, 400 }, 0, 5000 },
		{ 1e6, { 2e6, 4e6 }, 0, { 200, 220 }, 512, 5000 },
	};
	struct reuse reuse;

	reuse_of(two, 2, 0, &reuse);
	is_double(reuse.pages.value, 190, 1e-9, "the median of 200 and 180");
	is_double(reuse.at_most, 300, 0, "at most what was touched at once");
	is_double(reuse.huge, 512, 0, "the most in huge pages");
	is_string(reuse_window_name[reuse.window], "longer", "a longer window");
	reuse_of(two, 2, 190, &reuse);
	is_double(reuse.pages.value, 185, 1e-9, "each at most E");
	is_double(reuse.at_most, 190, 0, "... and the bound");
	reuse_of(two, 1, 0, &reuse);
	ok(reuse.pages.value == 200 && isnan(reuse.pages.ci95.lo),
	   "one reading has no interval");
	two[0].gap_ns = two[1].gap_ns = 2.5e6;
	reuse_of(two, 2, 0, &reuse);
	is_double(reuse.at_most, 375, 1e-9,
		  "more may be touched in a longer time, in proportion");
	is_string(reuse_window_name[reuse.window], "as_flushes", "about equal");
	two[0].gap_ns = two[1].gap_ns = 1e9;
	reuse_of(two, 2, 0, &reuse);
	is_string(reuse_window_name[reuse.window], "shorter", "a shorter one");
	is_double(reuse.at_most, 5000, 0, "... all that it has");
	two[0].gap_ns = two[1].gap_ns = NAN;
	reuse_of(two, 2, 0, &reuse);
	is_string(reuse_window_name[reuse.window], "shorter",
		  "no flush was seen");
	ok(isnan(reuse.gap_ns) && reuse.at_most == 5000, "... unknown gap");
}

/*
 * The interval: of the median, wider by what the ends of windows leave open,
 * and within what is possible.
 */
static void test_interval(void)
{
	struct reuse_reading nine[9];
	struct reuse reuse;
	size_t i;

	for (i = 0; i < 9; i++)
		nine[i] = (struct reuse_reading){
			1e6, { 1e6, 2e6 }, 0, { 200, 300 }, 0, 5000,
		};
	nine[3].pages[0] = nine[3].pages[1] = 0; /* it did not run */
	nine[4].pages[1] = 390;
	nine[5].pages[0] = 2000; /* it came late */
	nine[5].pages[1] = 3000;
	reuse_of(nine, 9, 0, &reuse);
	is_double(reuse.pages.value, 100, 1e-9, "three are out, six are not");
	is_double(reuse.pages.ci95.lo, 10, 1e-9, "from the second smallest");
	is_double(reuse.pages.ci95.hi, 100, 1e-9, "... to the second largest");
	for (i = 0; i < 9; i++)
		nine[i].blur_ns = 2e5;
	reuse_of(nine, 9, 0, &reuse);
	is_double(reuse.pages.ci95.hi, 120, 1e-9,
		  "100 fresh pages in 1 ms, 20 of them in 0.2 ms");
	is_double(reuse.pages.ci95.lo, 0, 0, "... either way, but not below 0");
	reuse_of(nine, 9, 110, &reuse);
	is_double(reuse.pages.ci95.hi, 110, 0, "... and not above E");
}

static void test_window(void)
{
	is_double(reuse_window_ns(5e6, 1e5), 5e6, 0, "a window as flushes are");
	is_double(reuse_window_ns(5e6, 3e6), 6e6, 0, "two looks at least");
	is_double(reuse_window_ns(1e3, 1e3), 1e6, 0, "a millisecond at least");
	is_double(reuse_window_ns(5e9, 1e5), REUSE_WINDOW_MAX_NS, 0,
		  "the limit");
	is_double(reuse_window_ns(NAN, 1e5), REUSE_WINDOW_MAX_NS, 0,
		  "... also where no flush was seen");
	is_double(reuse_window_ns(1e3, 1e9), 2e9, 0,
		  "a look beyond the limit takes what it takes");
}

int main(void)
{
	test_programs();
	test_expectation();
	test_unusable();
	test_bounds();
	test_interval();
	test_window();
	return done();
}
