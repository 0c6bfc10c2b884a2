/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tap-sample: tests with a known outcome, for tap.t to test the harness with.
 *
 * The one argument says how it is to end.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* Every comparison, once with each outcome. */
static void compare(void)
{
	is_double(1.0, 1.5, 0.5, "at the tolerance");
	is_double(1.0, 1.5, 0.49, "past the tolerance");
	is_double(NAN, NAN, 0, "NAN wanted and got");
	is_double(NAN, 1, 1e9, "NAN got");
	is_double(1, NAN, 1e9, "NAN wanted");
	is_double(1, 1, NAN, "NAN as the tolerance");
	is_double(INFINITY, INFINITY, 0, "INFINITY wanted and got");
	is_double(-INFINITY, INFINITY, 1e9, "the other INFINITY");
	is_double(1, INFINITY, INFINITY, "INFINITY wanted");
	is_int(-1, -1, "the same integers");
	is_int(1LL << 32, 0, "integers that differ above 32 bits");
	is_string("a", "a", "the same strings");
	is_string("a", "b", "other strings");
	is_string(NULL, NULL, "NULL wanted and got");
	is_string(NULL, "", "NULL got");
	is_string("", NULL, "NULL wanted");
	errno = ERANGE;
	ok(!ok(0, "a failure"), "ok returns the outcome");
	ok(ok(4, "true is not only 1"), "ok returns the outcome");
	ok(errno == ERANGE, "errno is kept");
	ok(1, "a name # SKIP\nnot ok with %s", "traps");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "skip-all") == 0)
		skip_all("for %s", "a reason");
	if (strcmp(mode, "empty") == 0)
		return done();
	ok(1, "the first");
	if (strcmp(mode, "fail") == 0)
		ok(0, "the second");
	else if (strcmp(mode, "skip") == 0)
		skip(2, "for %s", "a reason");
	else if (strcmp(mode, "crash") == 0)
		abort();
	else if (strcmp(mode, "leave") == 0)
		return EXIT_SUCCESS;
	else if (strcmp(mode, "compare") == 0)
		compare();
	return done();
}
