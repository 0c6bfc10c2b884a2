/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysfile.h"
#include "text.h"
#include "trace_text.h"

#define PREFIX "tlbtune-"
#define COMM_MAX 15 /* characters of a program's name that the kernel keeps */

char *trace_text_name(const char *program, pid_t process)
{
	char *name;

	if (asprintf(&name, PREFIX "%s-%d", program, (int)process) < 0)
		return NULL;
	return name;
}

/* The name of the program that runs as process, malloc'ed, or NULL. */
static char *running(const char *root, double process)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.0f/comm", process);
	return sysfile_read(root, path);
}

bool trace_text_abandoned(const char *root, const char *name)
{
	const char *program = name + strlen(PREFIX);
	const char *dash = strrchr(name, '-');
	double process = dash ? text_integer(dash + 1) : NAN;
	char *self, *comm;
	size_t length;
	bool gone;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || dash <= program ||
	    !(process > 0 && process <= INT32_MAX))
		return false;
	self = sysfile_read(root, "/proc/self/comm");
	comm = running(root, process);
	length = (size_t)(dash - program);
	if (length > COMM_MAX)
		length = COMM_MAX;
	/* Without a /proc nobody can tell. */
	gone = self && !(comm && strlen(comm) == length &&
			 strncmp(comm, program, length) == 0);
	free(self);
	free(comm);
	return gone;
}

struct range {
	pid_t first, last;
};

/* Ranges of successive threads; returns how many. */
static size_t find_ranges(const pid_t *thread, size_t n, struct range *range)
{
	size_t ranges = 0, i;

	for (i = 0; i < n; i++)
		if (ranges && thread[i] <= range[ranges - 1].last + 1)
			range[ranges - 1].last = thread[i];
		else
			range[ranges++] =
				(struct range){ thread[i], thread[i] };
	return ranges;
}

/* Join the two ranges with the smallest gap between them. */
static size_t join_nearest(struct range *range, size_t ranges)
{
	size_t best = 1, i;

	for (i = 2; i < ranges; i++)
		if (range[i].first - range[i - 1].last <
		    range[best].first - range[best - 1].last)
			best = i;
	range[best - 1].last = range[best].last;
	memmove(&range[best], &range[best + 1],
		(ranges - best - 1) * sizeof(*range));
	return ranges - 1;
}

static char *print_ranges(const struct range *range, size_t ranges,
			  const char *other)
{
	char *text = NULL;
	size_t size, i;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	if (other)
		fprintf(to, "(%s)&&(", other);
	for (i = 0; i < ranges; i++)
		fprintf(to, "%s(common_pid>=%d&&common_pid<=%d)", i ? "||" : "",
			(int)range[i].first, (int)range[i].last);
	if (other)
		fputc(')', to);
	if (fclose(to) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

char *trace_text_filter(const pid_t *thread, size_t n, const char *other,
			size_t room)
{
	struct range *range = calloc(n + 1, sizeof(*range));
	char *text = NULL;
	size_t ranges;

	if (!range)
		return NULL;
	ranges = find_ranges(thread, n, range);
	text = print_ranges(range, ranges, other);
	while (text && strlen(text) >= room && ranges > 1) {
		free(text);
		ranges = join_nearest(range, ranges);
		text = print_ranges(range, ranges, other);
	}
	free(range);
	return text;
}

static double count(const char *stats, const char *name)
{
	char *value = text_field(stats, name);
	double number = value ? text_integer(value) : NAN;

	free(value);
	return number;
}

double trace_text_lost(const char *stats)
{
	return count(stats, "overrun") + count(stats, "dropped events");
}
