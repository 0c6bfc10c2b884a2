/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claim: a contradiction between CPUID and what was measured is named, with
 * both numbers, and nothing else is.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "tap.h"

static const struct estimate measured = { 2048, { 1990, 2110 } };

static void test_judge(void)
{
	static const struct {
		int entries;
		enum claim_verdict verdict;
	} cases[] = {
		{ -1, CLAIM_UNKNOWN },	     { 1, CLAIM_CONTRADICTS },
		{ 1989, CLAIM_CONTRADICTS }, { 1990, CLAIM_AGREES },
		{ 2048, CLAIM_AGREES },	     { 2110, CLAIM_AGREES },
		{ 2111, CLAIM_CONTRADICTS }, { 65536, CLAIM_CONTRADICTS },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_string(claim_name[claim_judge(cases[i].entries, &measured)],
			  claim_name[cases[i].verdict], "%d entries",
			  cases[i].entries);
}

/* What is unknown, or known without an interval, contradicts nothing. */
static void test_unknown(void)
{
	const struct estimate unknown[] = {
		stats_unknown(),	 { 2048, { NAN, NAN } },
		{ 2048, { 1990, NAN } }, { 2048, { -INFINITY, INFINITY } },
		{ NAN, { 1990, 2110 } },
	};
	size_t i;

	for (i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		is_string(claim_name[claim_judge(64, &unknown[i])], "unknown",
			  "64 entries against %g [%g, %g]", unknown[i].value,
			  unknown[i].ci95.lo, unknown[i].ci95.hi);
		ok(!claim_sentence("it", 64, TLB_DECODED, &unknown[i]),
		   "... is no contradiction");
	}
}

static void test_sentence(void)
{
	char *text =
		claim_sentence("the last level", 64, TLB_INFERRED, &measured);

	is_string(text,
		  "CPUID says 64 entries of the last level (inferred), 2048 "
		  "[1990, 2110] were measured",
		  "both numbers are named");
	free(text);
	ok(!claim_sentence("the last level", 2048, TLB_DECODED, &measured),
	   "agreement is no contradiction");
	ok(!claim_sentence("the last level", -1, TLB_UNKNOWN, &measured),
	   "nor is what CPUID does not tell");
}

int main(void)
{
	test_judge();
	test_unknown();
	test_sentence();
	return done();
}
