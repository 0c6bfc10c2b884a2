/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modelfile: where databases of CPU models are, and how several programs write
 * to one at the same time without losing anything.
 *
 * A writer holds a lock on FILE.lock from before it reads until it has replaced
 * FILE as a whole. Locking FILE itself would not do, as it is replaced. Readers
 * need no lock.
 */
#ifndef TLBTUNE_MODELFILE_H
#define TLBTUNE_MODELFILE_H

#include <jansson.h>

/*
 * The user's own database: $XDG_DATA_HOME/tlbtune/cpus.json, by default in
 * ~/.local/share. malloc'ed; NULL with errno (ENOENT: there is no home).
 */
char *modelfile_of_user(void);

/*
 * The database that came with the program: in the directory $TLBTUNE_DATADIR,
 * else in data/ beside the program (as in the build root), else where it was
 * installed. malloc'ed; NULL with ENOMEM.
 */
char *modelfile_of_package(void);

/* Make the directories that path is in. 0 or -1 with errno. */
int modelfile_make_directory(const char *path);

/*
 * Read a database. Returns NULL with *why, a malloc'ed sentence that names the
 * file, the place and what was expected, or with *why NULL where there is no
 * such file.
 */
json_t *modelfile_read(const char *path, char **why);

struct modelfile {
	json_t *db; /* to be changed by the caller */
	char *path, *lock_path;
	int lock;
};

/*
 * Lock a database and read it; a file that is not there is an empty one. Waits
 * for other writers. 0, or -1 with *why as above (never NULL but on ENOMEM).
 */
int modelfile_open(struct modelfile *file, const char *path, char **why);

/* Replace the file by file->db. 0, or -1 after one line on stderr. */
int modelfile_write(struct modelfile *file);

/* Unlock and forget. */
void modelfile_close(struct modelfile *file);

#endif
