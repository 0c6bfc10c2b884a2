/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stride: huge pages are flushed by the stock rule whatever the factor, and
 * small pages next to them by the factor.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "area.h"
#include "guest.h"
#include "knob.h"
#include "sweep.h"
#include "tap.h"

#define MAX 36	    /* huge pages */
#define LOW 4	    /* another ceiling of the stock rule */
#define ENTRIES 512 /* the E of these tests */

/* KiB of this process that are in huge pages. */
static long huge_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "AnonHugePages: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

/* Flush n small pages of a huge page, which splits its mapping. */
static void test_part(long factor)
{
	const unsigned long ceiling = knob_ceiling_halving(factor, ENTRIES);
	struct area huge, part;
	struct sweep sweep = { .area = &part,
			       .op = AREA_MPROTECT,
			       .ceiling = ceiling };

	area_open(&huge, 2, true);
	part = huge;
	part.unit = PAGE;
	part.target = huge.target + 8 * PAGE;
	area_operate(&part, AREA_MPROTECT, 1);
	area_restore(&part, AREA_MPROTECT, 1);
	sweep.first = sweep.last = ceiling < 1	 ? 1 :
				   ceiling < 256 ? ceiling :
						   256;
	is_int(sweep_run(&sweep), 1,
	       "factor %ld: %zu pages of a huge page as small ones", factor,
	       sweep.last);
	area_close(&huge);
}

int test_stride(int argc, char **argv)
{
	static const long factors[] = { -2, -1, 0, 4 };
	struct area area;

	(void)argc;
	(void)argv;
	area_open(&area, MAX, true);
	ok(huge_kib() >= (MAX + 2) * 2048, "the area is in huge pages");
	for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++) {
		char name[64];

		snprintf(name, sizeof(name), "factor %ld, 2 MiB", factors[i]);
		is_int(knob_set(factors[i], ENTRIES), 0, "%s: set", name);
		sweep_test(&area, AREA_MPROTECT, STOCK_CEILING, MAX, name);
		test_part(factors[i]);
		/* To zero a huge page again takes an emulator long. */
		is_int(knob_write(KNOB_CEILING, LOW), 0, "%s: debugfs", name);
		is_int(knob_set(factors[i], ENTRIES), 0, "%s: again", name);
		sweep_test(&area, AREA_MUNMAP, LOW, MAX, name);
		sweep_test(&area, AREA_MADVISE, LOW, MAX, name);
		is_int(knob_write(KNOB_CEILING, STOCK_CEILING), 0,
		       "%s: debugfs as before", name);
		ok(huge_kib() >= (MAX + 2) * 2048, "%s: still huge", name);
	}
	area_close(&area);
	is_int(knob_write(KNOB_FACTOR, -2), 0, "the default is back");
	return done();
}
