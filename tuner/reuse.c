/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "reuse.h"
#include "sysfile.h"
#include "text.h"

#define WHILE_NS 10000000

/* Clear the accessed bits of all pages. 0 or -1. */
static int clear(const char *root, pid_t pid)
{
	char *path;
	int fd, status = -1;

	if (asprintf(&path, "%s/proc/%d/clear_refs", root, (int)pid) < 0)
		return -1;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return -1;
	if (write(fd, "1", 1) == 1)
		status = 0;
	close(fd);
	return status;
}

double reuse_pages(const char *root, pid_t pid)
{
	const struct timespec while_ns = { .tv_nsec = WHILE_NS };
	char *path, *text, *field;
	double kib = NAN;

	if (clear(root, pid) < 0)
		return NAN;
	nanosleep(&while_ns, NULL);
	if (asprintf(&path, "/proc/%d/smaps_rollup", (int)pid) < 0)
		return NAN;
	text = sysfile_read(root, path);
	field = text ? text_field(text, "Referenced") : NULL;
	if (field)
		kib = text_number(field, NULL);
	free(field);
	free(text);
	free(path);
	return kib / 4;
}
