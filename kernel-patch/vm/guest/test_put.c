/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * put FILE TEXT: write to a file of /proc or /sys, for the commands after it.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "tap.h"

int test_put(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_WRONLY) : -1;
	ssize_t put;

	if (fd < 0)
		return EXIT_FAILURE;
	put = write(fd, argv[2], strlen(argv[2]));
	is_int(put, (ssize_t)strlen(argv[2]), "%s into %s: %s", argv[2],
	       argv[1], put < 0 ? strerror(errno) : "written");
	close(fd);
	return done();
}
