/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * statefile: the small JSON files that tune keeps for itself below a root
 * directory. They say what is written to the kernel as root, so that one which
 * anyone else could have written is refused.
 */
#ifndef TLBTUNE_STATEFILE_H
#define TLBTUNE_STATEFILE_H

#include <jansson.h>

/*
 * Make the directory root + path, one below an existing one or more, and check
 * that it is ours and nobody else can write to it. 0, or -1 with errno and *why
 * a malloc'ed sentence.
 */
int statefile_make_directory(const char *root, const char *path, char **why);

/*
 * Read the object in root + path, whose member schema must be the number given.
 * NULL with *why NULL where there is no such file, or with *why: it is no
 * regular file of ours that only we can write, is too large, or is not JSON.
 */
json_t *statefile_read(const char *root, const char *path, int schema,
		       char **why);

/* Put "root + path: " before the sentence *why. */
void statefile_blame(const char *root, const char *path, char **why);

/*
 * Replace root + path by json, whose reference is taken over, as a whole and on
 * the disk. 0, or -1 after one line on stderr.
 */
int statefile_write(const char *root, const char *path, json_t *json);

/* Remove root + path; that it is not there is fine. 0, or -1 with *why. */
int statefile_remove(const char *root, const char *path, char **why);

#endif
