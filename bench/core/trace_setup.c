/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <limits.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"
#include "trace_private.h"
#include "trace_text.h"

#define CLOCK "mono_raw" /* the kernel's name for CLOCK_MONOTONIC_RAW */

int trace_fail(char **why, const char *format, ...)
{
	char *what = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&what, format, args) < 0 ||
	    asprintf(why, "cannot trace: %s", what) < 0)
		*why = NULL;
	free(what);
	va_end(args);
	return -1;
}

/* the life of an instance ----------------------------------------------- */

static void remove_instance(struct guard *guard)
{
	if (!guard->instance || guard->owner != getpid())
		return;
	tracefs_trace_off(guard->instance);
	if (guard->held >= 0)
		close(guard->held);
	tracefs_instance_destroy(guard->instance);
	tracefs_instance_free(guard->instance);
	guard->instance = NULL;
}

static void remove_at_exit(int status, void *guard)
{
	(void)status;
	remove_instance(guard);
}

/* Remove what processes of ours left when they were killed. */
static void remove_abandoned(const char *directory)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *instances;

	snprintf(path, sizeof(path), "%s/instances", directory);
	instances = opendir(path);
	if (!instances)
		return;
	while ((entry = readdir(instances)))
		if (trace_text_abandoned("", entry->d_name) &&
		    unlinkat(dirfd(instances), entry->d_name, AT_REMOVEDIR) ==
			    0)
			error(0, 0,
			      "removed the tracing instance %s of a process "
			      "that was killed",
			      entry->d_name);
	closedir(instances);
}

static int make_instance(struct trace *trace, const char *directory, char **why)
{
	struct guard *guard = calloc(1, sizeof(*guard));
	char *name = trace_text_name(program_invocation_short_name, getpid());

	remove_abandoned(directory);
	if (!guard || !name || on_exit(remove_at_exit, guard) != 0) {
		free(guard);
		free(name);
		return -1;
	}
	guard->held = -1;
	guard->owner = getpid();
	guard->instance = tracefs_instance_create(name);
	trace->guard = guard;
	free(name);
	if (!guard->instance)
		return trace_fail(why, "no tracing instance: %s",
				  strerror(errno));
	guard->held = tracefs_instance_file_open(guard->instance, "tracing_on",
						 O_RDWR);
	return 0;
}

int trace_set(struct trace *trace, const char *file, const char *text,
	      char **why)
{
	if (tracefs_instance_file_write(trace->guard->instance, file, text) >=
	    0)
		return 0;
	return trace_fail(why, "%s: cannot write '%s': %s", file, text,
			  strerror(errno));
}

static int set_up_instance(struct trace *trace, char **why)
{
	struct tracefs_instance *instance = trace->guard->instance;

	tracefs_trace_off(instance);
	if (trace_set(trace, "trace_clock", CLOCK, why) < 0)
		return -1;
	/* What does not fit is counted, and does not replace what is there. */
	if (tracefs_option_disable(instance, TRACEFS_OPTION_OVERWRITE) < 0)
		return trace_fail(why, "options/overwrite: %s",
				  strerror(errno));
	if (trace->config.whose == TRACE_PROCESS &&
	    tracefs_option_enable(instance, TRACEFS_OPTION_EVENT_FORK) < 0)
		return trace_fail(why, "options/event-fork: %s",
				  strerror(errno));
	if (trace->config.buffer_kib) {
		char size[24];

		snprintf(size, sizeof(size), "%zu", trace->config.buffer_kib);
		return trace_set(trace, "buffer_size_kb", size, why);
	}
	return 0;
}

/* finding tracefs and the events ---------------------------------------- */

/* Where tracefs is mounted, malloc'ed, or NULL. */
static char *find_mount(void)
{
	FILE *mounts = setmntent("/proc/mounts", "r");
	const struct mntent *entry;
	char *directory = NULL;

	if (!mounts)
		return NULL;
	while (!directory && (entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_type, "tracefs"))
			directory = strdup(entry->mnt_dir);
	endmntent(mounts);
	return directory;
}

/* Threads can be told by their numbers. 0, or -1 with *why. */
static int check_numbers(const struct trace_config *config, char **why)
{
	const char *namespace = settings_pid_namespace("");

	if (config->whose == TRACE_ANYONE || !namespace ||
	    !strcmp(namespace, "initial"))
		return 0;
	return trace_fail(why, "in this container threads have other numbers "
			       "than the kernel traces them by");
}

/* The directory to use, malloc'ed; NULL with *why. */
static char *find_directory(const struct trace_config *config, char **why)
{
	char *directory = config->directory ? strdup(config->directory) :
					      find_mount();
	char path[PATH_MAX];

	if (!directory) {
		trace_fail(why, "tracefs is not mounted");
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/instances", directory);
	if (access(path, W_OK | X_OK) == 0 &&
	    tracefs_set_tracing_dir(directory) == 0)
		return directory;
	trace_fail(why, "%s: %s%s", path, strerror(errno),
		   errno == EACCES ? " (tracing needs root)" : "");
	free(directory);
	return NULL;
}

static int find_event(struct tep_handle *tep, const struct trace_want *want,
		      struct found *found, char **why)
{
	size_t i;

	found->event = tep_find_event_by_name(tep, want->system, want->name);
	if (!found->event)
		return trace_fail(why, "this kernel has no event %s:%s",
				  want->system, want->name);
	for (i = 0; i < TRACE_FIELDS && want->field[i]; i++) {
		found->field[i] = tep_find_field(found->event, want->field[i]);
		if (!found->field[i])
			return trace_fail(why, "%s:%s has no field '%s' here",
					  want->system, want->name,
					  want->field[i]);
	}
	return 0;
}

static int find_events(struct trace *trace, const char *directory, char **why)
{
	const struct trace_config *config = &trace->config;
	const char **system = calloc(config->wants + 1, sizeof(*system));
	size_t i;
	int status = 0;

	trace->found = calloc(config->wants, sizeof(*trace->found));
	if (!system || !trace->found) {
		free(system);
		return -1;
	}
	for (i = 0; i < config->wants; i++)
		system[i] = config->want[i].system;
	trace->tep = tracefs_local_events_system(directory, system);
	free(system);
	if (!trace->tep)
		return trace_fail(why, "%s/events: %s", directory,
				  strerror(errno));
	for (i = 0; i < config->wants && status == 0; i++)
		status = find_event(trace->tep, &config->want[i],
				    &trace->found[i], why);
	return status;
}

struct trace *trace_open(const struct trace_config *config, char **why)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	char *directory;

	*why = NULL;
	tracefs_set_loglevel(TEP_LOG_NONE);
	directory = find_directory(config, why);
	if (!trace || !directory) {
		free(directory);
		free(trace);
		return NULL;
	}
	trace->config = *config;
	if (check_numbers(config, why) < 0 ||
	    find_events(trace, directory, why) < 0 ||
	    make_instance(trace, directory, why) < 0 ||
	    set_up_instance(trace, why) < 0) {
		trace_close(trace);
		trace = NULL;
	}
	free(directory);
	return trace;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	if (trace->guard)
		remove_instance(trace->guard);
	tep_free(trace->tep);
	free(trace->found);
	free(trace->thread);
	free(trace);
}
