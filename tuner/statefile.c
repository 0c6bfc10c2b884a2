/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modelfile.h"
#include "output.h"
#include "statefile.h"
#include "why.h"

#define MAX_BYTES ((off_t)1 << 20)

static char *join(const char *root, const char *path)
{
	char *name;

	return asprintf(&name, "%s%s", root, path) < 0 ? NULL : name;
}

/* True if only we, or root, can write to it. */
static bool is_ours(const struct stat *st)
{
	return (st->st_uid == geteuid() || st->st_uid == 0) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

int statefile_make_directory(const char *root, const char *path, char **why)
{
	char *name;
	struct stat st;
	int status = -1;

	if (asprintf(&name, "%s%s/", root, path) < 0)
		return why_set(why, 0, "%s", strerror(ENOMEM));
	if (modelfile_make_directory(name) < 0) {
		why_set(why, 0, "cannot make '%s': %s", name, strerror(errno));
	} else if (lstat(name, &st) < 0) {
		why_set(why, 0, "cannot use '%s': %s", name, strerror(errno));
	} else if (!is_ours(&st)) {
		errno = EACCES;
		why_set(why, 0,
			"%s: expected a directory of root's that nobody "
			"else can write to",
			name);
	} else {
		status = 0;
	}
	free(name);
	return status;
}

/* Open for reading what may be trusted; *why NULL: not there. */
static FILE *open_trusted(const char *name, char **why)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	FILE *file;

	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0) {
		why_set(why, 0, "cannot read '%s': %s", name, strerror(errno));
		return NULL;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > MAX_BYTES || !is_ours(&st)) {
		why_set(why, 0,
			"%s: expected a regular file of at most 1 MiB that only "
			"root can write",
			name);
		close(fd);
		return NULL;
	}
	file = fdopen(fd, "r");
	if (!file) {
		why_set(why, 0, "cannot read '%s': %s", name, strerror(errno));
		close(fd);
	}
	return file;
}

json_t *statefile_read(const char *root, const char *path, int schema,
		       char **why)
{
	char *name = join(root, path);
	json_error_t at;
	json_t *json = NULL;
	const json_t *has;
	FILE *file;

	*why = NULL;
	if (!name) {
		why_set(why, 0, "%s", strerror(ENOMEM));
		return NULL;
	}
	file = open_trusted(name, why);
	if (file) {
		json = json_loadf(file, JSON_REJECT_DUPLICATES, &at);
		fclose(file);
		has = json_object_get(json, "schema");
		if (!json) {
			why_set(why, 0,
				"%s:%d: expected a file that tune wrote: %s",
				name, at.line, at.text);
		} else if (!json_is_integer(has) ||
			   json_integer_value(has) != schema) {
			why_set(why, 0,
				"%s: expected a file that tune wrote, of "
				"schema %d",
				name, schema);
			json_decref(json);
			json = NULL;
		}
	}
	free(name);
	return json;
}

void statefile_blame(const char *root, const char *path, char **why)
{
	char *text = *why;

	why_set(why, 0, "%s%s: %s", root, path, text ? text : strerror(ENOMEM));
	free(text);
}

/* Have the directory of name on the disk, and so a rename in it. */
static void sync_directory(const char *name)
{
	char *directory = strdup(name), *slash;
	int fd;

	slash = directory ? strrchr(directory, '/') : NULL;
	if (slash) {
		slash[1] = '\0';
		fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0) {
			fsync(fd);
			close(fd);
		}
	}
	free(directory);
}

int statefile_write(const char *root, const char *path, json_t *json)
{
	char *name = join(root, path);
	struct output output;
	int status = -1;

	if (!name || !json) {
		error(0, ENOMEM, "%s%s", root, path);
	} else if (output_open(&output, name) == 0) {
		fchmod(fileno(output.to), 0644);
		if (json_dumpf(json, output.to, JSON_INDENT(2)) < 0 ||
		    fputc('\n', output.to) == EOF) {
			error(0, errno, "cannot write '%s'", name);
			output_abandon(&output);
		} else {
			status = output_commit(&output);
		}
		if (status == 0)
			sync_directory(name);
	}
	json_decref(json);
	free(name);
	return status;
}

int statefile_remove(const char *root, const char *path, char **why)
{
	char *name = join(root, path);
	int status = 0;

	if (!name)
		return why_set(why, 0, "%s", strerror(ENOMEM));
	if (unlink(name) < 0 && errno != ENOENT)
		status = why_set(why, 0, "cannot remove '%s': %s", name,
				 strerror(errno));
	else
		sync_directory(name);
	free(name);
	return status;
}
