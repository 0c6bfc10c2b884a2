/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debugfs: the old ceiling file is the stock rule, and writing it chooses that.
 */
#include <config.h>

#include <errno.h>

#include "area.h"
#include "guest.h"
#include "knob.h"
#include "sweep.h"
#include "tap.h"

#define MAX 140

int test_debugfs(int argc, char **argv)
{
	struct area area;

	(void)argc;
	(void)argv;
	area_open(&area, MAX, false);
	is_int(knob_set(3, 512), 0, "factor 3, E 512");
	is_int(knob_write(KNOB_CEILING, 20), 0, "20 pages to debugfs");
	is_int(knob_read(KNOB_FACTOR), -2, "the factor has become -2");
	is_int(knob_read(KNOB_ENTRIES), 512, "E is what it was");
	is_int(knob_read(KNOB_PAGES), 20, "20 pages result");
	for (int op = 0; op < AREA_OPS; op++)
		sweep_test(&area, op, 20, MAX, "debugfs 20");
	is_int(knob_write(KNOB_FACTOR, 2), 0, "factor 2");
	is_int(knob_read(KNOB_CEILING), 20, "debugfs still shows 20");
	is_int(knob_read(KNOB_PAGES), 128, "128 pages result");
	sweep_test(&area, AREA_MPROTECT, 128, MAX, "factor 2");
	ok(knob_write(KNOB_CEILING, -1) == EINVAL, "-1 to debugfs is EINVAL");
	is_int(knob_read(KNOB_FACTOR), 2, "... and does not touch the factor");
	is_int(knob_write(KNOB_FACTOR, -2), 0, "factor -2");
	is_int(knob_read(KNOB_PAGES), 20, "the stock rule is 20 again");
	sweep_test(&area, AREA_MPROTECT, 20, MAX, "factor -2");
	is_int(knob_write(KNOB_CEILING, STOCK_CEILING), 0, "33 again");
	area_close(&area);
	return done();
}
