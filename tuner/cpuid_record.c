/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded machines as files: the text of all CPUs, or a directory with a file
 * for each, as hwloc-gather-cpuid writes it.
 */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cpuid_format.h"
#include "sysfile.h"
#include "why.h"

static int read_file(const char *path, struct cpuid_machine *out, char **why)
{
	size_t size;
	char *text = sysfile_load("", path, &size), *reason;
	int status, error = errno;

	if (!text)
		return why_set(why, error, "'%s': %s", path, strerror(error));
	if (memchr(text, '\0', size)) {
		free(text);
		return why_set(why, EINVAL,
			       "'%s': expected text, found a NUL byte", path);
	}
	status = cpuid_parse(text, out, &reason);
	error = errno;
	free(text);
	if (!status)
		return 0;
	why_set(why, error, "'%s': %s", path,
		reason ? reason : strerror(error));
	free(reason);
	return -1;
}

/* The number of a file pu0, pu1 ...; -1: it is another. */
static int number_of(const char *name)
{
	int number;

	if (cpuid_skip(&name, "pu") && cpuid_decimal(&name, &number) && !*name)
		return number;
	return -1;
}

static int is_pu(const struct dirent *entry)
{
	return number_of(entry->d_name) >= 0;
}

/* Append the only CPU of file to the machine. */
static int add_file(struct cpuid_machine *machine, const char *file, int number,
		    char **why)
{
	struct cpuid_machine one;
	int status = -1;

	if (read_file(file, &one, why) < 0)
		return -1;
	if (one.n != 1) {
		why_set(why, EINVAL, "'%s': expected one CPU, got %zu", file,
			one.n);
	} else if (cpuid_add_cpu(machine, (unsigned int)number) < 0) {
		if (errno == E2BIG)
			why_set(why, EINVAL, "'%s': more than %d CPUs", file,
				CPUID_MAX_CPUS);
	} else {
		struct cpuid_cpu *to = &machine->cpu[machine->n - 1];
		struct cpuid_cpu *from = &one.cpu[0];

		to->leaf = from->leaf;
		to->n = from->n;
		to->size = from->size;
		*from = (struct cpuid_cpu){ 0 };
		machine->format = one.format;
		status = 0;
	}
	cpuid_free(&one);
	return status;
}

static int read_directory(const char *path, struct cpuid_machine *out,
			  char **why)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_pu, versionsort);
	int status = 0, i;
	char *file;

	if (n < 0)
		return why_set(why, errno, "'%s': %s", path, strerror(errno));
	for (i = 0; i < n; i++) {
		if (!status &&
		    asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			status = -1;
		else if (!status) {
			status = add_file(out, file,
					  number_of(entries[i]->d_name), why);
			free(file);
		}
		free(entries[i]);
	}
	free(entries);
	if (!status && n == 0)
		return why_set(why, EINVAL,
			       "'%s': expected files pu0, pu1 ... of "
			       "hwloc-gather-cpuid in the directory",
			       path);
	return status;
}

int cpuid_read_record(const char *path, struct cpuid_machine *out, char **why)
{
	struct stat st;
	int status, error;

	*out = (struct cpuid_machine){ 0 };
	*why = NULL;
	if (stat(path, &st) < 0) {
		error = errno;
		return why_set(why, error, "'%s': %s", path, strerror(error));
	}
	if (!S_ISDIR(st.st_mode))
		return read_file(path, out, why);
	status = read_directory(path, out, why);
	if (!status)
		return 0;
	error = errno;
	cpuid_free(out);
	errno = error;
	return -1;
}
