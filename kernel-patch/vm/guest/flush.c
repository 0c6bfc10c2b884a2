/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flush: see flush.h.
 *
 * Flushes at a task switch (reason 0) are left out: when the kernel's own
 * threads run is not decided by what is tested.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flush.h"
#include "guest.h"
#include "knob.h"

#define TRACING "/sys/kernel/tracing/"

static void give_up(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void set(const char *file, const char *text)
{
	char path[256];
	int error;

	snprintf(path, sizeof(path), TRACING "%s", file);
	error = knob_write_text(path, text);
	if (error) {
		errno = error;
		give_up(path);
	}
}

/*
 * The same, unless the file begins with the text already: for another filter,
 * or size, the kernel waits until nobody can use the old one.
 */
static void set_once(const char *file, const char *text)
{
	char path[256], now[64] = "";
	FILE *from;

	snprintf(path, sizeof(path), TRACING "%s", file);
	from = fopen(path, "r");
	if (from && !fgets(now, sizeof(now), from))
		now[0] = '\0';
	if (from)
		fclose(from);
	if (strncmp(now, text, strlen(text)) != 0)
		set(file, text);
}

bool flush_has_range(void)
{
	return access(TRACING "events/tlb/tlb_flush_range", F_OK) == 0;
}

/*
 * To enable an event the kernel patches itself, which flushes as well: only
 * what comes after that is kept.
 */
void flush_trace(void)
{
	int fd;

	set_once("buffer_size_kb", "16384");
	set_once("options/overwrite", "0");
	set_once("events/tlb/tlb_flush/filter", "reason != 0");
	set_once("events/tlb/enable", "1");
	set("tracing_on", "1");
	fd = open(TRACING "trace", O_WRONLY | O_TRUNC);
	if (fd < 0)
		give_up("trace");
	close(fd);
}

void flush_mark(long value)
{
	char text[32];

	snprintf(text, sizeof(text), "mark %ld", value);
	set("trace_marker", text);
}

/* The integer behind key, which ends in ':' or '='; false without one. */
static bool field(const char *text, const char *key, long *value)
{
	size_t length = strlen(key);

	for (const char *p = text; (p = strstr(p, key)); p += length) {
		char *end;

		if (p[length] != ':' && p[length] != '=')
			continue;
		*value = (long)strtoull(p + length + 1, &end, 0);
		return end != p + length + 1;
	}
	return false;
}

/*
 * One line: "  comm-PID  [CPU] flags  time: event: fields". False for lines of
 * other events; a line of ours that is not understood ends the process.
 */
static bool parse(const char *line, struct flush_event *event)
{
	const char *cpu = strstr(line, " [");
	const char *text;
	long shift, full;
	bool good = true;

	memset(event, 0, sizeof(*event));
	if (!cpu || line[0] == '#')
		return false;
	while (cpu > line && cpu[-1] == ' ')
		cpu--;
	while (cpu > line && cpu[-1] >= '0' && cpu[-1] <= '9')
		cpu--;
	event->pid = atoi(cpu);
	if ((text = strstr(line, ": tlb_flush_range: "))) {
		event->kind = FLUSH_RANGE;
		good = field(text, "pages", &event->pages) &&
		       field(text, "stride_shift", &shift) &&
		       field(text, "full", &full);
		event->shift = good ? (int)shift : 0;
		event->full = good && full;
	} else if ((text = strstr(line, ": tlb_flush: "))) {
		const char *reason = strrchr(text, '(');

		event->kind = FLUSH_DONE;
		good = field(text, "pages", &event->pages) && reason;
		event->reason = reason ? atoi(reason + 1) : 0;
	} else if ((text = strstr(line, ": mark "))) {
		event->kind = FLUSH_MARK;
		event->pages = atol(text + strlen(": mark "));
	} else {
		return false;
	}
	if (!good) {
		printf("Bail out! trace line not understood: %s\n", line);
		exit(EXIT_FAILURE);
	}
	return true;
}

/* "dropped events" and "overrun" of every CPU are 0. */
static void check_no_loss(void)
{
	for (int cpu = 0;; cpu++) {
		char path[128], line[128];
		FILE *file;

		snprintf(path, sizeof(path), TRACING "per_cpu/cpu%d/stats",
			 cpu);
		file = fopen(path, "r");
		if (!file)
			break;
		while (fgets(line, sizeof(line), file)) {
			long lost;

			if ((sscanf(line, "dropped events: %ld", &lost) == 1 ||
			     sscanf(line, "overrun: %ld", &lost) == 1) &&
			    lost) {
				printf("Bail out! %ld trace events lost\n",
				       lost);
				exit(EXIT_FAILURE);
			}
		}
		fclose(file);
	}
}

size_t flush_stop(struct flush_event **events)
{
	size_t count = 0, room = 0;
	char *line = NULL;
	size_t size = 0;
	FILE *file;

	set("tracing_on", "0");
	check_no_loss();
	file = fopen(TRACING "trace", "r");
	if (!file)
		give_up("trace");
	*events = NULL;
	while (getline(&line, &size, file) >= 0) {
		if (count == room) {
			room = room ? 2 * room : 1024;
			*events = realloc(*events, room * sizeof(**events));
			if (!*events)
				give_up("trace");
		}
		count += parse(line, *events + count);
	}
	free(line);
	fclose(file);
	return count;
}

struct flush_counts flush_count(void)
{
	struct flush_counts counts;
	const struct {
		const char *name;
		long *value;
	} fields[] = {
		{ "tlb_flush_range_partial", &counts.partial },
		{ "tlb_flush_range_full", &counts.full },
		{ "nr_tlb_local_flush_one", &counts.one },
		{ "nr_tlb_local_flush_all", &counts.all },
		{ "nr_tlb_remote_flush", &counts.remote },
		{ "nr_tlb_remote_flush_received", &counts.received },
	};
	FILE *file = fopen("/proc/vmstat", "r");
	char name[64];
	long value;

	memset(&counts, -1, sizeof(counts));
	if (!file)
		give_up("/proc/vmstat");
	while (fscanf(file, "%63s %ld", name, &value) == 2)
		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
			if (!strcmp(name, fields[i].name))
				*fields[i].value = value;
	fclose(file);
	return counts;
}
