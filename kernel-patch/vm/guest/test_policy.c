/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy: for every factor, every n and every kind of operation the decision is
 * that of the policy's own text and of an independent formula, and the flush is
 * that of the decision.
 *
 * policy [E...]: number of TLB entries; one that is a power of 2, one that is
 * not, and one that the clamp cuts are the default.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "area.h"
#include "guest.h"
#include "knob.h"
#include "sweep.h"
#include "tap.h"

#define MAX 520	  /* pages: past the clamp of 512 */
#define ALL_N 512 /* of a larger E, only n around the ceiling are tried */

static void test_factor(struct area *area, long entries, long factor)
{
	const unsigned long ceiling =
		knob_ceiling_patch(factor, (unsigned long)entries);
	char name[64];

	snprintf(name, sizeof(name), "E %ld, factor %ld", entries, factor);
	is_int(knob_set(factor, entries), 0, "%s: set", name);
	is_int(ceiling, knob_ceiling_halving(factor, (unsigned long)entries),
	       "%s: the formula agrees with the text of the patch", name);
	is_int(knob_read(KNOB_PAGES), ceiling, "%s: tlb_flushall_pages", name);
	for (int op = 0; op < AREA_OPS; op++) {
		if (entries <= ALL_N)
			sweep_test(area, op, ceiling, MAX, name);
		else
			sweep_around(area, op, ceiling, name);
	}
}

/* Another E under a factor is in force at once. */
static void test_entries(struct area *area)
{
	static const long entries[] = { 64, 1024, 256 };

	is_int(knob_set(2, 512), 0, "factor 2, E 512");
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		const unsigned long ceiling =
			knob_ceiling_halving(2, (unsigned long)entries[i]);
		char name[64];

		snprintf(name, sizeof(name), "E %ld under factor 2",
			 entries[i]);
		is_int(knob_write(KNOB_ENTRIES, entries[i]), 0, "%s: set",
		       name);
		sweep_around(area, AREA_MPROTECT, ceiling, name);
	}
}

int test_policy(int argc, char **argv)
{
	static const char *const usual[] = { "512", "48", "1536" };
	const char *const *entries =
		argc > 1 ? (const char *const *)(argv + 1) : usual;
	const int count = argc > 1 ? argc - 1 : 3;
	struct area area;

	area_open(&area, MAX, false);
	for (int i = 0; i < count; i++)
		for (long factor = -2; factor <= 10; factor++)
			test_factor(&area, atol(entries[i]), factor);
	test_entries(&area);
	area_close(&area);
	is_int(knob_write(KNOB_FACTOR, -2), 0, "the default is back");
	return done();
}
