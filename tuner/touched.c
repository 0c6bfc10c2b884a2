/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sysfile.h"
#include "text.h"
#include "touched.h"

#define PAGE_KIB 4

int touched_clear(const char *root, pid_t process)
{
	int fd, status = -1;
	char *path;

	if (asprintf(&path, "%s/proc/%d/clear_refs", root, (int)process) < 0)
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

/* The text of /proc/ID/name, or NULL with errno. */
static char *read_proc(const char *root, pid_t id, const char *name)
{
	char *path, *text;

	if (asprintf(&path, "/proc/%d/%s", (int)id, name) < 0)
		return NULL;
	text = sysfile_read(root, path);
	free(path);
	return text;
}

/* A field of it; NAN. */
static double number(const char *text, const char *name)
{
	char *field = text_field(text, name);
	double x = field ? text_number(field, NULL) : NAN;

	free(field);
	return x >= 0 ? x : NAN;
}

static double pages(const char *text, const char *name)
{
	return number(text, name) / PAGE_KIB;
}

/* The same of what a kernel without huge pages does not tell. */
static double pages_if_any(const char *text, const char *name)
{
	double x = pages(text, name);

	return isnan(x) ? 0 : x;
}

int touched_read(const char *root, pid_t process, struct touched *touched)
{
	char *text = read_proc(root, process, "smaps_rollup");

	if (!text)
		return -1;
	*touched = (struct touched){
		.pages = pages(text, "Referenced"),
		.huge = pages_if_any(text, "AnonHugePages") +
			pages_if_any(text, "ShmemPmdMapped") +
			pages_if_any(text, "FilePmdMapped"),
		.resident = pages(text, "Rss"),
	};
	free(text);
	errno = EPROTO;
	return isnan(touched->pages) || isnan(touched->resident) ? -1 : 0;
}

pid_t touched_process(const char *root, pid_t thread)
{
	char *text = read_proc(root, thread, "status");
	double process = text ? number(text, "Tgid") : NAN;

	free(text);
	return process >= 1 && process <= INT_MAX ? (pid_t)process : -1;
}
