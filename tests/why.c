/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sentence that says why, and what is said when there is no memory for it.
 */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "why.h"

/* Where no memory is left: a sentence that would take more than there is. */
static void test_no_memory(void)
{
	char *why = (char *)"what was there before";
	volatile int width = INT_MAX; /* hidden from -Wformat-overflow */

	if (getenv("SANITIZER")) {
		skip(2, "the %s sanitizer has an allocator of its own",
		     getenv("SANITIZER"));
		return;
	}
	/* Longer than an int can say: asprintf fails, as it does on ENOMEM. */
	is_int(why_set(&why, EAGAIN, "%*d%*d", width, 1, width, 2), -1,
	       "a sentence that cannot be");
	ok(!why && errno == EAGAIN,
	   "... is NULL, and errno what was asked for");
}

int main(void)
{
	char *why = NULL;

	errno = EINTR;
	is_int(why_set(&why, 0, "page %d of %s", 7, "9"), -1, "always -1");
	is_string(why, "page 7 of 9", "the sentence");
	is_int(errno, EINTR, "errno stays");
	is_string(why_text(why), why, "for people");
	free(why);
	why_set(&why, ENOSPC, "full");
	is_int(errno, ENOSPC, "or is what it should be");
	free(why);
	is_string(why_text(NULL), strerror(ENOMEM), "no memory is a reason");
	test_no_memory();
	return done();
}
