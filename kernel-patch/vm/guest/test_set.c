/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * set FACTOR [E]: for the commands after it.
 */
#include <config.h>

#include <stdlib.h>

#include "guest.h"
#include "knob.h"
#include "tap.h"

int test_set(int argc, char **argv)
{
	const long entries = argc > 2 ? atol(argv[2]) : 512;

	if (argc < 2)
		return EXIT_FAILURE;
	is_int(knob_set(atol(argv[1]), entries), 0, "factor %s, E %ld", argv[1],
	       entries);
	return done();
}
