/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stock: the rule that a kernel has without a factor, at its default and at
 * what is written to debugfs. The same for a stock kernel and a patched one.
 */
#include <config.h>

#include <stdio.h>

#include "area.h"
#include "guest.h"
#include "knob.h"
#include "sweep.h"
#include "tap.h"

#define MAX 80

int test_stock(int argc, char **argv)
{
	static const long ceilings[] = { STOCK_CEILING, 0, 1, 10, 64,
					 STOCK_CEILING };
	struct area area;

	(void)argc;
	(void)argv;
	is_int(knob_read(KNOB_CEILING), STOCK_CEILING, "ceiling at boot");
	area_open(&area, MAX, false);
	for (size_t i = 0; i < sizeof(ceilings) / sizeof(*ceilings); i++) {
		char name[64];

		snprintf(name, sizeof(name), "debugfs %ld", ceilings[i]);
		if (i)
			is_int(knob_write(KNOB_CEILING, ceilings[i]), 0,
			       "%s: written", name);
		for (int op = 0; op < AREA_OPS; op++)
			sweep_test(&area, op, (unsigned long)ceilings[i], MAX,
				   i ? name : "the default");
	}
	area_close(&area);
	return done();
}
