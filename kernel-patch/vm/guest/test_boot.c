/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * boot FACTOR [E]: the factor, and E, that the kernel has come up with, and
 * flushes accordingly.
 */
#include <config.h>

#include <stdlib.h>

#include "area.h"
#include "guest.h"
#include "knob.h"
#include "sweep.h"
#include "tap.h"

#define MAX 520

int test_boot(int argc, char **argv)
{
	const long factor = argc > 1 ? atol(argv[1]) : -2;
	const long entries = knob_read(KNOB_ENTRIES);
	const unsigned long ceiling =
		knob_ceiling_halving(factor, (unsigned long)entries);
	struct area area;

	is_int(knob_read(KNOB_FACTOR), factor, "factor %ld at boot", factor);
	if (argc > 2)
		is_int(entries, atol(argv[2]), "E %s at boot", argv[2]);
	else
		ok(entries > 0, "E %ld at boot", entries);
	is_int(knob_read(KNOB_PAGES), ceiling, "%lu pages at boot", ceiling);
	area_open(&area, MAX, false);
	sweep_test(&area, AREA_MPROTECT, ceiling, MAX, "as booted");
	area_close(&area);
	return done();
}
