/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "knobjson.h"
#include "output.h"
#include "persist.h"
#include "setting.h"
#include "statefile.h"
#include "sysfile.h"
#include "why.h"

#define DIRECTORY "/var/lib/tlbtune"
#define UNDO DIRECTORY "/undo.json"
#define STORED DIRECTORY "/choice.json"
#define SCHEMA 1

static const enum knob_kind kinds[] = { KNOB_FACTOR, KNOB_CEILING };

/* files of others ---------------------------------------------------------- */

/* 1 if there is a regular file, 0 if nothing, -1 with *why otherwise. */
static int is_there(const char *root, const char *path, char **why)
{
	struct stat st;
	char *name;
	int there = 0;

	if (asprintf(&name, "%s%s", root, path) < 0)
		return why_set(why, 0, "%s", strerror(ENOMEM));
	if (lstat(name, &st) == 0) {
		there = S_ISREG(st.st_mode) ?
				1 :
				why_set(why, 0, "%s: expected a regular file",
					name);
	} else if (errno != ENOENT && errno != ENOTDIR) {
		there = why_set(why, 0, "cannot read '%s': %s", name,
				strerror(errno));
	}
	free(name);
	return there;
}

/* The text of a file, null where there is none; NULL with *why. */
static json_t *file_json(const char *root, const char *path, bool force,
			 char **why)
{
	int there = is_there(root, path, why);
	json_t *json = NULL;
	char *text;
	size_t size;

	if (there < 0)
		return NULL;
	if (!there)
		return json_null();
	text = sysfile_load(root, path, &size);
	if (!text)
		why_set(why, 0, "cannot read '%s%s': %s", root, path,
			strerror(errno));
	else if (!force &&
		 strncmp(text, SETTING_MARK, strlen(SETTING_MARK)) != 0)
		why_set(why, 0,
			"%s%s: expected a file that tune wrote (--force "
			"replaces it, and --undo brings it back)",
			root, path);
	else if (strlen(text) != size || !(json = json_string(text)))
		why_set(why, 0, "%s%s: expected text in UTF-8", root, path);
	free(text);
	return json;
}

/* Replace a file, or remove it for text null. */
static int put_file(const char *root, const char *path, const json_t *text,
		    char **why)
{
	struct output output;
	char *name;
	int status = -1;

	if (json_is_null(text))
		return statefile_remove(root, path, why);
	*why = NULL;
	if (asprintf(&name, "%s%s", root, path) < 0)
		return -1;
	if (output_open(&output, name) == 0) {
		fputs(json_string_value(text), output.to);
		status = output_commit(&output);
	}
	free(name);
	return status;
}

/* saving ---------------------------------------------------------------- */

int persist_save(const char *root, const struct knob_value *value, bool force,
		 bool *saved, char **why)
{
	json_t *files = json_object(), *json;
	size_t i;

	*saved = false;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *path = setting_path(kinds[i]);
		json_t *text = file_json(root, path, force, why);

		if (!text || json_object_set_new(files, path, text) < 0) {
			json_decref(files);
			return -1;
		}
	}
	json = statefile_read(root, UNDO, SCHEMA, why);
	if (json || *why) {
		json_decref(json);
		json_decref(files);
		return *why ? -1 : 0;
	}
	if (statefile_make_directory(root, DIRECTORY, why) < 0) {
		json_decref(files);
		return -1;
	}
	json = json_pack("{s:i, s:o, s:o}", "schema", SCHEMA, "value",
			 knobjson_value(value), "files", files);
	if (statefile_write(root, UNDO, json) < 0)
		return -1;
	*saved = true;
	return 0;
}

int persist_saved(const char *root, struct knob_value *value, char **why)
{
	json_t *json = statefile_read(root, UNDO, SCHEMA, why);
	int status = 0;

	*value = (struct knob_value){ .kind = KNOB_NONE, .pages = -1 };
	if (!json)
		return *why ? -1 : 0;
	status = knobjson_read(json_object_get(json, "value"), value, why);
	if (status < 0)
		statefile_blame(root, UNDO, why);
	json_decref(json);
	return status;
}

/* Files to be put back: ours alone, each with text or null. */
static int check_files(const json_t *files, char **why)
{
	size_t i;

	if (json_object_size(files) != sizeof(kinds) / sizeof(*kinds))
		return why_set(why, 0, "%s: files: expected two", UNDO);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *path = setting_path(kinds[i]);
		const json_t *text = json_object_get(files, path);

		if (!json_is_null(text) && !json_is_string(text))
			return why_set(why, 0,
				       "%s: files: %s: expected text or null",
				       UNDO, path);
	}
	return 0;
}

int persist_undo(const char *root, json_t *files, char **why)
{
	json_t *json = statefile_read(root, UNDO, SCHEMA, why);
	const json_t *saved = json_object_get(json, "files");
	int status = json ? check_files(saved, why) : -1;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds) && status == 0; i++) {
		const char *path = setting_path(kinds[i]);
		int there = is_there(root, path, why);

		if (there < 0)
			status = -1;
		else if (there || !json_is_null(json_object_get(saved, path)))
			status = put_file(root, path,
					  json_object_get(saved, path), why);
		else
			continue;
		json_array_append_new(files, json_string(path));
	}
	json_decref(json);
	if (status == 0)
		status = statefile_remove(root, STORED, why);
	return status < 0 ? -1 : statefile_remove(root, UNDO, why);
}

/* writing --------------------------------------------------------------- */

bool persist_is_written(const char *root, const struct knob_value *value)
{
	char *text = setting_text(value);
	size_t size;
	char *there = sysfile_load(root, setting_path(value->kind), &size);
	bool same = text && there && !strcmp(text, there);

	free(text);
	free(there);
	return same;
}

/* The directory that the file for value is in. */
static int make_directory(const char *root, const char *path, char **why)
{
	char *directory = strdup(path);
	int status = -1;

	if (!directory)
		return why_set(why, 0, "%s", strerror(ENOMEM));
	*strrchr(directory, '/') = '\0';
	status = statefile_make_directory(root, directory, why);
	free(directory);
	return status;
}

int persist_write(const char *root, const struct knob_value *value, char **why)
{
	const char *path = setting_path(value->kind);
	char *text = setting_text(value);
	json_t *json = json_string(text ? text : "");
	int status = -1;

	if (!text || !json)
		why_set(why, 0, "%s", strerror(ENOMEM));
	else if (make_directory(root, path, why) == 0 &&
		 is_there(root, path, why) >= 0)
		status = put_file(root, path, json, why);
	json_decref(json);
	free(text);
	return status;
}

int persist_store(const char *root, const struct knob_value *value,
		  const json_t *environment, char **why)
{
	json_t *json = json_pack("{s:i, s:o, s:O}", "schema", SCHEMA, "value",
				 knobjson_value(value), "environment",
				 environment);

	*why = NULL;
	return statefile_write(root, STORED, json);
}

int persist_stored(const char *root, struct knob_value *value,
		   json_t **environment, char **why)
{
	json_t *json = statefile_read(root, STORED, SCHEMA, why);
	int status = 0;

	*environment = NULL;
	if (!json)
		return *why ? -1 : 0;
	status = knobjson_read(json_object_get(json, "value"), value, why);
	if (status == 0 &&
	    !json_is_object(json_object_get(json, "environment")))
		status = why_set(why, 0, "environment: expected an object");
	if (status < 0)
		statefile_blame(root, STORED, why);
	else
		*environment =
			json_incref(json_object_get(json, "environment"));
	json_decref(json);
	return status;
}
