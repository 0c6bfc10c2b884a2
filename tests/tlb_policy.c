/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy that the kernel series adds, the very text, for every factor and
 * every number of entries: against the formula of the documentation in floating
 * point, and, in bytes, against counting pages.
 */
#include <config.h>

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "tap.h"

#define PAGE_SHIFT 12
#include "kernel-patch/tlb_policy.h"

#define PAGE (1UL << PAGE_SHIFT)
#define STOCK 33UL
#define FACTOR_MIN (-2)
#define FACTOR_MAX 16
#define ENTRIES_MAX 65536U
#define CLAMP 512UL

/* min(clamp, max(1, floor(E / 2^f))), and the two factors that are not shifts.
 */
static unsigned long expected(int factor, unsigned int entries)
{
	if (factor == -2)
		return STOCK;
	if (factor == -1)
		return 0;
	return (unsigned long)fmin(CLAMP,
				   fmax(1, floor(entries / exp2(factor))));
}

/* The first entries for which the ceiling is wrong; 0 if it never is. */
static unsigned int first_wrong(int factor)
{
	unsigned int entries;

	for (entries = 1; entries <= ENTRIES_MAX; entries++) {
		if (tlb_policy_ceiling(factor, entries, STOCK) !=
		    expected(factor, entries))
			return entries;
	}
	return 0;
}

static void test_ceiling(void)
{
	int factor;

	for (factor = FACTOR_MIN; factor <= FACTOR_MAX; factor++)
		is_int(first_wrong(factor), 0, "factor %d: every E", factor);
	is_int(tlb_policy_ceiling(0, 64, STOCK), 64, "all of 64 entries");
	is_int(tlb_policy_ceiling(5, 4096, STOCK), 128, "4096 >> 5");
	is_int(tlb_policy_ceiling(2, 4096, STOCK), 512, "4096 >> 2, clamped");
	is_int(tlb_policy_ceiling(16, 1536, STOCK), 1, "at least one page");
	is_int(tlb_policy_ceiling(-2, 0, 70000), 70000, "stock is not clamped");
	is_int(tlb_policy_ceiling(-3, 1536, STOCK), 0, "too small: full");
	is_int(tlb_policy_ceiling(17, 1536, STOCK), 0, "too large: full");
}

/* A larger factor, or fewer entries, never mean more single flushes. */
static void test_monotone(void)
{
	int factor, falls = 0;
	unsigned int entries;

	for (factor = 0; factor <= FACTOR_MAX; factor++) {
		for (entries = 1; entries < ENTRIES_MAX; entries++) {
			unsigned long here =
				tlb_policy_ceiling(factor, entries, STOCK);

			falls += tlb_policy_ceiling(factor, entries + 1,
						    STOCK) < here;
			falls += factor < FACTOR_MAX &&
				 tlb_policy_ceiling(factor + 1, entries,
						    STOCK) > here;
		}
	}
	is_int(falls, 0, "the ceiling is monotone in E and in the factor");
}

static void test_valid(void)
{
	const unsigned int entries[] = {
		0, 1, 1536, ENTRIES_MAX, ENTRIES_MAX + 1, UINT_MAX
	};
	const int limits[] = { INT_MIN, INT_MIN + 1, INT_MAX };
	int factor, wrong = 0;
	size_t i, j;

	for (i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		bool known = entries[i] > 0 && entries[i] <= ENTRIES_MAX;

		for (factor = -100; factor <= 100; factor++) {
			bool shift = factor >= 0 && factor <= FACTOR_MAX;
			bool special = factor == -1 || factor == -2;
			bool want = (special && (known || !entries[i])) ||
				    (shift && known);

			wrong += tlb_policy_valid(factor, entries[i]) != want;
		}
		for (j = 0; j < sizeof(limits) / sizeof(*limits); j++)
			wrong += tlb_policy_valid(limits[j], entries[i]);
	}
	is_int(wrong, 0, "-2 ... 16, and E of 0 only without a shift");
}

/* Lengths around every multiple of a page, for which full != want(length). */
static int wrong_lengths(unsigned long limit, unsigned long ceiling,
			 bool round_up)
{
	unsigned long pages, length;
	int wrong = 0, around;

	for (pages = 0; pages < CLAMP + 3; pages++) {
		for (around = -1; around <= 1; around++) {
			unsigned long n = pages;

			if (!pages && around < 0)
				continue;
			length = pages * PAGE + (unsigned long)around;
			if (around > 0 && round_up)
				n++;
			if (around < 0 && !round_up)
				n--;
			wrong += (length > limit) != (n > ceiling);
		}
	}
	return wrong;
}

static void test_limit(void)
{
	const unsigned long stock[] = { 0, 1, 33, 511, 512, 513, INT_MAX };
	const unsigned int entries[] = { 1, 64, 1536, 4096, ENTRIES_MAX };
	int factor, wrong = 0;
	size_t i;

	for (factor = -1; factor <= FACTOR_MAX; factor++) {
		for (i = 0; i < sizeof(entries) / sizeof(*entries); i++)
			wrong += wrong_lengths(
				tlb_policy_limit(factor, entries[i], STOCK),
				expected(factor, entries[i]), true);
	}
	is_int(wrong, 0, "a part of a page counts as a page");

	for (wrong = 0, i = 0; i < sizeof(stock) / sizeof(*stock); i++)
		wrong += wrong_lengths(tlb_policy_limit(-2, 1536, stock[i]),
				       stock[i], false);
	is_int(wrong, 0, "the stock rule counts whole pages");
	is_int((long long)tlb_policy_limit(-2, 1536, STOCK),
	       34 * (long long)PAGE - 1, "33 pages and nearly one more");
	ok(tlb_policy_limit(-2, 0, ULONG_MAX) == ULONG_MAX &&
		   tlb_policy_limit(-2, 0, ULONG_MAX >> PAGE_SHIFT) ==
			   ULONG_MAX,
	   "a stock ceiling beyond the address space does not wrap");
	ok(tlb_policy_limit(0, ENTRIES_MAX, STOCK) < ULONG_MAX &&
		   tlb_policy_limit(-1, ENTRIES_MAX, STOCK) == 0,
	   "everything, 0 to ULONG_MAX, is flushed in full");
}

int main(void)
{
	test_ceiling();
	test_monotone();
	test_valid();
	test_limit();
	return done();
}
