/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "knobfile.h"
#include "settings.h"
#include "sysfile.h"
#include "text.h"
#include "why.h"

/* looking --------------------------------------------------------------- */

/* A file of the tree opened for writing; -1 with errno. */
static int open_to_write(const char *root, enum knob_file file)
{
	char *name;
	int fd;

	if (asprintf(&name, "%s%s", root, knob_path[file]) < 0)
		return -1;
	fd = open(name, O_WRONLY | O_CLOEXEC);
	free(name);
	return fd;
}

static void look_at(const char *root, enum knob_file file,
		    struct knob_look *look)
{
	int fd;

	*look = (struct knob_look){ .text = sysfile_read(root,
							 knob_path[file]) };
	if (!look->text)
		look->read_error = errno;
	if (file == KNOB_FILE_PAGES)
		return;
	fd = open_to_write(root, file);
	if (fd < 0)
		look->write_error = errno;
	else
		close(fd);
}

static int debugfs_mounted(const char *root)
{
	char *mounts = sysfile_read(root, "/proc/self/mounts");
	int mounted = -1;

	if (mounts)
		mounted = strstr(mounts, " /sys/kernel/debug debugfs ") != NULL;
	free(mounts);
	return mounted;
}

static char *lockdown_level(const char *root)
{
	char *text = sysfile_read(root, "/sys/kernel/security/lockdown");
	char *level = text_bracketed(text ? text : "");

	free(text);
	return level;
}

static char *container(const char *root)
{
	json_t *hint = settings_container_hint(root);
	const char *name = json_string_value(hint);
	char *copy = name ? strdup(name) : NULL;

	json_decref(hint);
	return copy;
}

void knobfile_look(const char *root, struct knob_facts *facts)
{
	int file;

	*facts = (struct knob_facts){
		.root = geteuid() == 0,
		.debugfs = debugfs_mounted(root),
		.level = lockdown_level(root),
		.container = container(root),
	};
	facts->lockdown = facts->level && strcmp(facts->level, "none") != 0;
	for (file = 0; file < KNOB_FILES; file++)
		look_at(root, (enum knob_file)file, &facts->file[file]);
}

void knobfile_forget(struct knob_facts *facts)
{
	int file;

	for (file = 0; file < KNOB_FILES; file++)
		free(facts->file[file].text);
	free(facts->level);
	free(facts->container);
	*facts = (struct knob_facts){ 0 };
}

void knobfile_find(const char *root, struct knob *knob)
{
	struct knob_facts facts;

	knobfile_look(root, &facts);
	knob_decide(&facts, knob);
	knobfile_forget(&facts);
}

/* writing --------------------------------------------------------------- */

/*
 * One write(2), as the kernel's handlers want it, and no O_TRUNC: a file of a
 * made-up tree is never empty between two values.
 */
static int write_one(const char *root, const struct knob_write *what)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d\n", what->value);
	int fd = open_to_write(root, what->file);
	ssize_t done;
	int error;

	if (fd < 0)
		return -1;
	done = write(fd, text, (size_t)len);
	error = done < 0 ? errno : EIO;
	if (done == len)
		error = ftruncate(fd, len) < 0 && errno == EIO ? EIO : 0;
	close(fd);
	errno = error;
	return error ? -1 : 0;
}

int knobfile_move(const char *root, const struct knob_value *value, char **why)
{
	const char *fault = knob_fault(value);
	struct knob_write writes[KNOB_WRITES];
	size_t n, i;

	if (fault)
		return why_set(why, 0, "cannot write %s: expected %s",
			       knob_name[value->kind], fault);
	n = knob_writes(value, writes);
	for (i = 0; i < n; i++)
		if (write_one(root, &writes[i]) < 0)
			return why_set(why, 0, "cannot write %d to '%s%s': %s",
				       writes[i].value, root,
				       knob_path[writes[i].file],
				       strerror(errno));
	return 0;
}

int knobfile_write(const char *root, const struct knob_value *value, char **why)
{
	char wanted[KNOB_TEXT], got[KNOB_TEXT];
	struct knob now;

	if (knobfile_move(root, value, why) < 0)
		return -1;
	knobfile_find(root, &now);
	if (knob_took(value, &now.now))
		return 0;
	knob_text(value, wanted);
	knob_text(&now.now, got);
	return why_set(why, 0, "%s: wrote %s, and read back %s",
		       knob_name[value->kind], wanted, got);
}
