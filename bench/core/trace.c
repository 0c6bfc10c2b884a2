/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"
#include "trace_private.h"
#include "trace_text.h"

#define FILTER_ROOM 4096 /* a page: the kernel takes no longer filter */

/* whose events ---------------------------------------------------------- */

static int compare_threads(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* The threads of a process, ascending. 0, or -1 with errno. */
static int list_threads(struct trace *trace, pid_t process)
{
	char path[64];
	const struct dirent *entry;
	DIR *tasks;
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	tasks = opendir(path);
	if (!tasks)
		return -1;
	trace->threads = 0;
	while ((entry = readdir(tasks))) {
		double id = text_integer(entry->d_name);

		if (!(id > 0))
			continue;
		if (trace->threads == room) {
			pid_t *more;

			room = room ? 2 * room : 16;
			more = reallocarray(trace->thread, room, sizeof(*more));
			if (!more)
				break;
			trace->thread = more;
		}
		trace->thread[trace->threads++] = (pid_t)id;
	}
	closedir(tasks);
	if (entry)
		return -1;
	qsort(trace->thread, trace->threads, sizeof(*trace->thread),
	      compare_threads);
	return 0;
}

static int set_filter(struct trace *trace, const struct trace_want *want,
		      const char *filter, char **why)
{
	char path[256];

	snprintf(path, sizeof(path), "events/%s/%s/filter", want->system,
		 want->name);
	return trace_set(trace, path, filter ? filter : "0", why); /* 0: none */
}

static int set_filters(struct trace *trace, char **why)
{
	const struct trace_config *config = &trace->config;
	int status = 0;
	size_t i;

	for (i = 0; i < config->wants && status == 0; i++) {
		const struct trace_want *want = &config->want[i];
		char *filter;

		if (config->whose != TRACE_OURS) {
			status = set_filter(trace, want, want->filter, why);
			continue;
		}
		filter = trace_text_filter(trace->thread, trace->threads,
					   want->filter, FILTER_ROOM);
		status = filter ? set_filter(trace, want, filter, why) : -1;
		free(filter);
	}
	return status;
}

/* The kernel itself adds the threads that these start, and their children. */
static int follow_threads(struct trace *trace, char **why)
{
	size_t i;

	for (i = 0; i < trace->threads; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d ", (int)trace->thread[i]);
		if (tracefs_instance_file_append(trace->guard->instance,
						 "set_event_pid", id) < 0)
			return trace_fail(why, "set_event_pid: %s",
					  strerror(errno));
	}
	return 0;
}

static int choose_threads(struct trace *trace, char **why)
{
	const struct trace_config *config = &trace->config;
	pid_t process = config->whose == TRACE_PROCESS ? config->process :
							 getpid();

	if (config->whose != TRACE_ANYONE && list_threads(trace, process) < 0)
		return trace_fail(why, "process %d: %s", (int)process,
				  strerror(errno));
	if (set_filters(trace, why) < 0)
		return -1;
	return config->whose == TRACE_PROCESS ? follow_threads(trace, why) : 0;
}

/* recording ------------------------------------------------------------- */

static int switch_events(struct trace *trace, bool on, char **why)
{
	struct tracefs_instance *instance = trace->guard->instance;
	size_t i;

	for (i = 0; i < trace->config.wants; i++) {
		const struct trace_want *want = &trace->config.want[i];

		if ((on ? tracefs_event_enable : tracefs_event_disable)(
			    instance, want->system, want->name) < 0)
			return trace_fail(why, "%s:%s: %s", want->system,
					  want->name, strerror(errno));
	}
	return 0;
}

int trace_start(struct trace *trace, char **why)
{
	struct tracefs_instance *instance = trace->guard->instance;

	*why = NULL;
	if (choose_threads(trace, why) < 0)
		return -1;
	if (tracefs_instance_file_clear(instance, "trace") < 0)
		return trace_fail(why, "trace: %s", strerror(errno));
	if (switch_events(trace, true, why) < 0)
		return -1;
	if (tracefs_trace_on(instance) < 0)
		return trace_fail(why, "tracing_on: %s", strerror(errno));
	return 0;
}

int trace_stop(struct trace *trace, char **why)
{
	struct tracefs_instance *instance = trace->guard->instance;

	*why = NULL;
	if (tracefs_trace_off(instance) < 0)
		return trace_fail(why, "tracing_on: %s", strerror(errno));
	if (switch_events(trace, false, why) < 0)
		return -1;
	/* As long as threads are chosen, each switch between tasks is slower */
	if (trace->config.whose == TRACE_PROCESS &&
	    tracefs_instance_file_clear(instance, "set_event_pid") < 0)
		return trace_fail(why, "set_event_pid: %s", strerror(errno));
	return 0;
}

struct reader {
	struct trace *trace;
	trace_take take;
	void *context;
	int status;
};

/* The number that a field holds; its text goes to event->text. */
static int64_t read_field(struct tep_format_field *field,
			  const struct tep_record *record,
			  struct trace_event *event)
{
	unsigned long long value = 0;
	unsigned int unused;

	if (field->flags & TEP_FIELD_IS_STRING) {
		if (!(field->flags & TEP_FIELD_IS_DYNAMIC) &&
		    field->offset + field->size <= record->size)
			snprintf(event->text, sizeof(event->text), "%.*s",
				 field->size,
				 (const char *)record->data + field->offset);
		return 0;
	}
	tep_read_number_field(field, record->data, &value);
	if (!(field->flags & TEP_FIELD_IS_SIGNED) || field->size >= 8)
		return (int64_t)value;
	unused = 64 - 8 * (unsigned int)field->size;
	return (int64_t)(value << unused) >> unused;
}

/* The filter may have let threads pass that are not ours. */
static bool is_wanted(const struct trace *trace, pid_t thread)
{
	return trace->config.whose != TRACE_OURS ||
	       bsearch(&thread, trace->thread, trace->threads, sizeof(thread),
		       compare_threads);
}

static int read_event(struct tep_event *event, struct tep_record *record,
		      int cpu, void *context)
{
	struct reader *reader = context;
	const struct trace *trace = reader->trace;
	struct trace_event out = {
		.ns = record->ts,
		.cpu = (unsigned int)cpu,
		.thread = tep_data_pid(trace->tep, record),
	};
	size_t i;

	while (out.want < trace->config.wants &&
	       trace->found[out.want].event != event)
		out.want++;
	if (out.want == trace->config.wants || !is_wanted(trace, out.thread))
		return 0;
	for (i = 0; i < TRACE_FIELDS && trace->found[out.want].field[i]; i++)
		out.field[i] = read_field(trace->found[out.want].field[i],
					  record, &out);
	reader->status = reader->take(reader->context, &out);
	return reader->status;
}

int trace_read(struct trace *trace, trace_take take, void *context)
{
	struct reader reader = {
		.trace = trace,
		.take = take,
		.context = context,
	};

	if (tracefs_iterate_raw_events(trace->tep, trace->guard->instance, NULL,
				       0, read_event, &reader) < 0 &&
	    reader.status == 0)
		return -1;
	return reader.status;
}

double trace_lost(const struct trace *trace)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), cpu;
	double lost = 0;

	for (cpu = 0; cpu < cpus; cpu++) {
		char path[64];
		char *stats;

		snprintf(path, sizeof(path), "per_cpu/cpu%ld/stats", cpu);
		stats = tracefs_instance_file_read(trace->guard->instance, path,
						   NULL);
		if (stats)
			lost += trace_text_lost(stats);
		free(stats);
	}
	return lost;
}
