/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * persist: the files that keep a setting across reboots, what was there before
 * them, and the choice that a boot may apply, below a root directory.
 *
 * What was before is saved once, in /var/lib/tlbtune/undo.json, before the
 * first file is written, and stays until it is restored: writing a second
 * setting does not make the first one what to go back to.
 */
#ifndef TLBTUNE_PERSIST_H
#define TLBTUNE_PERSIST_H

#include <jansson.h>
#include <stdbool.h>

#include "knob.h"

/*
 * All functions return 0, or -1 with *why a malloc'ed sentence, NULL where it
 * has been said on stderr.
 */

/*
 * Save value, and the files of sysctl.d and tmpfiles.d, unless something is
 * saved already; *saved tells. Refuses a file that is not ours (SETTING_MARK),
 * unless force.
 */
int persist_save(const char *root, const struct knob_value *value, bool force,
		 bool *saved, char **why);

/* True if the file for value has that text already. */
bool persist_is_written(const char *root, const struct knob_value *value);

/* Write the file for value. */
int persist_write(const char *root, const struct knob_value *value, char **why);

/*
 * Store value with the environment it was measured in, for a later boot, or
 * read them: *environment is a new reference, or NULL where nothing is stored.
 */
int persist_store(const char *root, const struct knob_value *value,
		  const json_t *environment, char **why);
int persist_stored(const char *root, struct knob_value *value,
		   json_t **environment, char **why);

/* What was saved: value; kind KNOB_NONE where nothing was. */
int persist_saved(const char *root, struct knob_value *value, char **why);

/*
 * Put the saved files back, remove what was stored and then what was saved.
 * files: an array to which the paths are appended.
 */
int persist_undo(const char *root, json_t *files, char **why);

#endif
