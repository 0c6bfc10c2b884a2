/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sysctl: what the three sysctls accept, refuse and show.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "knob.h"
#include "tap.h"

#define NOBODY 65534

/* Text that is refused leaves everything as it is. */
static void refused(const char *path, const char *text, const char *why)
{
	const long factor = knob_read(KNOB_FACTOR);
	const long entries = knob_read(KNOB_ENTRIES);
	const long pages = knob_read(KNOB_PAGES);

	is_int(knob_write_text(path, text), EINVAL, "%s: '%s' is EINVAL: %s",
	       strrchr(path, '/') + 1, text, why);
	ok(knob_read(KNOB_FACTOR) == factor &&
		   knob_read(KNOB_ENTRIES) == entries &&
		   knob_read(KNOB_PAGES) == pages,
	   "... and nothing has changed");
}

/* Factor and entries that are accepted, and the pages that result. */
static void state(long factor, long entries, const char *name)
{
	is_int(knob_read(KNOB_FACTOR), factor, "%s: factor", name);
	is_int(knob_read(KNOB_ENTRIES), entries, "%s: entries", name);
	is_int(knob_read(KNOB_PAGES),
	       knob_ceiling_halving(factor, (unsigned long)entries),
	       "%s: pages", name);
}

static void test_ranges(void)
{
	is_int(knob_set(-2, 512), 0, "factor -2, E 512");
	refused(KNOB_FACTOR, "-3", "below the range");
	refused(KNOB_FACTOR, "17", "above the range");
	refused(KNOB_FACTOR, "abc", "no number");
	refused(KNOB_FACTOR, "4294967296", "no int");
	refused(KNOB_ENTRIES, "-1", "negative");
	refused(KNOB_ENTRIES, "x", "no number");
	for (long factor = -2; factor <= 16; factor++) {
		is_int(knob_write(KNOB_FACTOR, factor), 0, "factor %ld",
		       factor);
		state(factor, 512, "accepted");
	}
}

static void test_order(void)
{
	is_int(knob_set(-2, 0), 0, "factor -2, E 0");
	state(-2, 0, "E 0");
	refused(KNOB_FACTOR, "0", "E is 0");
	refused(KNOB_FACTOR, "3", "E is 0");
	is_int(knob_write(KNOB_FACTOR, -1), 0, "factor -1 needs no E");
	state(-1, 0, "factor -1");
	is_int(knob_write(KNOB_ENTRIES, 1024), 0, "E 1024 under factor -1");
	is_int(knob_write(KNOB_FACTOR, 3), 0, "factor 3");
	state(3, 1024, "factor 3");
	refused(KNOB_ENTRIES, "0", "a factor needs it");
	is_int(knob_write(KNOB_ENTRIES, 256), 0, "another E under a factor");
	state(3, 256, "E 256");
	is_int(knob_write(KNOB_ENTRIES, 1), 0, "E 1 under a factor");
	state(3, 1, "E 1: never less than a page");
}

static int mode(const char *path)
{
	struct stat status;

	return stat(path, &status) ? -1 : (int)(status.st_mode & 0777);
}

/* As somebody who is not root: the errors are the exit status. */
static int errors_of_nobody(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(100);
		if (knob_read(KNOB_FACTOR) == KNOB_UNKNOWN ||
		    knob_read(KNOB_ENTRIES) == KNOB_UNKNOWN ||
		    knob_read(KNOB_PAGES) == KNOB_UNKNOWN)
			_exit(101);
		if (knob_write(KNOB_FACTOR, 0) != EACCES ||
		    knob_write(KNOB_ENTRIES, 64) != EACCES)
			_exit(102);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) ?
		       -1 :
		       WEXITSTATUS(status);
}

int test_sysctl(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	is_int(knob_read(KNOB_FACTOR), -2, "the factor at boot");
	is_int(knob_read(KNOB_PAGES), STOCK_CEILING, "the pages at boot");
	ok(knob_read(KNOB_ENTRIES) >= 0, "the entries at boot");
	is_int(mode(KNOB_FACTOR), 0644, "mode of tlb_flushall_factor");
	is_int(mode(KNOB_ENTRIES), 0644, "mode of tlb_entries");
	is_int(mode(KNOB_PAGES), 0444, "mode of tlb_flushall_pages");
	is_int(knob_write(KNOB_PAGES, 5), EACCES,
	       "tlb_flushall_pages cannot be written by root either");
	is_int(errors_of_nobody(), 0, "others may read and not write");
	test_ranges();
	test_order();
	is_int(knob_set(-2, 512), 0, "the default is back");
	state(-2, 512, "the default");
	return done();
}
