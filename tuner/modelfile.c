/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lock.h"
#include "modeldb.h"
#include "modelfile.h"
#include "output.h"
#include "saved.h"
#include "why.h"

/* A database of every CPU model ever made would be smaller. */
#define MAX_BYTES ((off_t)64 << 20)

/* Digits that survive reading and writing again; 17 would show 0.1 as
 * 0.10000000000000001. */
#define DIGITS 15

/* places ---------------------------------------------------------------- */

char *modelfile_of_user(void)
{
	const char *data = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");
	char *path;
	int len;

	/* The XDG specification: a relative path is to be ignored. */
	if (data && data[0] == '/') {
		len = asprintf(&path, "%s/tlbtune/cpus.json", data);
	} else if (home && home[0] == '/') {
		len = asprintf(&path, "%s/.local/share/tlbtune/cpus.json",
			       home);
	} else {
		errno = ENOENT;
		return NULL;
	}
	return len < 0 ? NULL : path;
}

/* data/cpus.json beside the running program, if it is there; or NULL. */
static char *beside_program(void)
{
	char *program = realpath("/proc/self/exe", NULL);
	char *path = NULL;

	if (program &&
	    asprintf(&path, "%s/data/cpus.json", dirname(program)) < 0)
		path = NULL;
	free(program);
	if (path && access(path, F_OK) < 0) {
		free(path);
		path = NULL;
	}
	return path;
}

char *modelfile_of_package(void)
{
	const char *directory = getenv("TLBTUNE_DATADIR");
	char *path = directory ? NULL : beside_program();

	if (!path && asprintf(&path, "%s/cpus.json",
			      directory ? directory : PKGDATADIR) < 0)
		return NULL;
	return path;
}

int modelfile_make_directory(const char *path)
{
	char *copy = strdup(path), *slash;
	int status = copy ? 0 : -1;

	for (slash = copy ? strchr(copy + 1, '/') : NULL; slash && !status;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			status = -1;
		*slash = '/';
	}
	free(copy);
	return status;
}

/* reading --------------------------------------------------------------- */

json_t *modelfile_read(const char *path, char **why)
{
	struct stat st;
	char *fault = NULL;
	json_t *db;

	*why = NULL;
	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			why_set(why, 0, "cannot read '%s': %s", path,
				strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_BYTES) {
		why_set(why, 0, "%s: expected a regular file of at most %d MiB",
			path, (int)(MAX_BYTES >> 20));
		return NULL;
	}
	db = saved_read(path, "a JSON database of CPU models", why);
	if (db && modeldb_check(db, &fault) < 0) {
		why_set(why, 0, "%s: %s", path,
			fault ? fault : strerror(ENOMEM));
		free(fault);
		json_decref(db);
		return NULL;
	}
	return db;
}

/* writing --------------------------------------------------------------- */

/*
 * The file that path means, so that all its names lead to one lock. A dangling
 * symbolic link is refused: writing would replace the link.
 */
static char *resolve(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 && errno == ENOENT)
		return strdup(path);
	return realpath(path, NULL);
}

int modelfile_open(struct modelfile *file, const char *path, char **why)
{
	*why = NULL;
	*file = (struct modelfile){ .lock = -1 };
	file->path = resolve(path);
	if (!file->path ||
	    asprintf(&file->lock_path, "%s.lock", file->path) < 0) {
		why_set(why, 0, "cannot write '%s': %s", path, strerror(errno));
		file->lock_path = NULL;
		modelfile_close(file);
		return -1;
	}
	/* A directory has a place for a lock beside it, but is no database. */
	if (access(file->path, W_OK) == 0 || errno == ENOENT)
		file->lock = lock_wait(file->lock_path, NULL);
	if (file->lock < 0) {
		why_set(why, 0, "cannot write '%s': %s", path, strerror(errno));
		modelfile_close(file);
		return -1;
	}
	file->db = modelfile_read(file->path, why);
	if (!file->db && !*why)
		file->db = modeldb_new();
	if (file->db)
		return 0;
	if (!*why)
		*why = strdup(strerror(ENOMEM));
	modelfile_close(file);
	return -1;
}

int modelfile_write(struct modelfile *file)
{
	struct output output;

	if (output_open(&output, file->path) < 0)
		return -1;
	if (json_dumpf(file->db, output.to,
		       JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)) < 0 ||
	    fputc('\n', output.to) == EOF) {
		output_abandon(&output);
		error(0, errno, "cannot write '%s'", file->path);
		return -1;
	}
	return output_commit(&output);
}

void modelfile_close(struct modelfile *file)
{
	if (file->lock >= 0) {
		unlink(file->lock_path);
		close(file->lock);
	}
	json_decref(file->db);
	free(file->path);
	free(file->lock_path);
	*file = (struct modelfile){ .lock = -1 };
}
