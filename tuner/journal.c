/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cost.h"
#include "journal.h"
#include "knobfile.h"
#include "knobjson.h"
#include "lock.h"
#include "statefile.h"
#include "sysfile.h"
#include "why.h"

#define DIRECTORY "/run/tlbtune"
#define LOCK DIRECTORY "/lock"
#define JOURNAL DIRECTORY "/journal"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

#define SCHEMA 1

/* the file -------------------------------------------------------------- */

static json_t *boot_id(const char *root)
{
	char *text = sysfile_read(root, BOOT_ID);
	json_t *json = text && *text ? json_string(text) : json_null();

	free(text);
	return json;
}

/* True if json is of another boot than this one. */
static bool is_stale(const char *root, const json_t *json)
{
	const json_t *then = json_object_get(json, "boot_id");
	json_t *now = boot_id(root);
	bool stale = json_is_string(then) && json_is_string(now) &&
		     !json_equal(then, now);

	json_decref(now);
	return stale;
}

static int write_journal(const struct journal *journal)
{
	json_t *json = json_pack("{s:i, s:o, s:i, s:o}", "schema", SCHEMA,
				 "boot_id", boot_id(journal->root), "pid",
				 (int)getpid(), "value",
				 knobjson_value(&journal->original));

	return statefile_write(journal->root, JOURNAL, json);
}

/* recovering ------------------------------------------------------------ */

static int recover(struct journal *journal, enum journal_found *found,
		   char **why)
{
	json_t *json;
	int status = -1;

	*found = JOURNAL_NONE;
	json = statefile_read(journal->root, JOURNAL, SCHEMA, why);
	if (!json)
		return *why ? -1 : 0;
	if (is_stale(journal->root, json)) {
		*found = JOURNAL_STALE;
		status = statefile_remove(journal->root, JOURNAL, why);
	} else if (knobjson_read(json_object_get(json, "value"),
				 &journal->original, why) < 0) {
		statefile_blame(journal->root, JOURNAL, why);
	} else if (knobfile_write(journal->root, &journal->original, why) ==
		   0) {
		*found = JOURNAL_RESTORED;
		status = statefile_remove(journal->root, JOURNAL, why);
	}
	json_decref(json);
	return status;
}

/* locking --------------------------------------------------------------- */

static int take_lock(const char *root, const volatile int *stop)
{
	char *path;
	int fd, saved;

	if (asprintf(&path, "%s" LOCK, root) < 0)
		return -1;
	fd = lock_try(path);
	if (fd < 0 && errno == EWOULDBLOCK) {
		error(0, 0, "waiting for another tune, which has the knob");
		fd = lock_wait(path, stop);
	}
	saved = errno;
	free(path);
	errno = saved;
	return fd;
}

int journal_open(struct journal *journal, const char *root,
		 const volatile int *stop, enum journal_found *found,
		 char **why)
{
	int saved;

	*why = NULL;
	*journal = (struct journal){ .lock = -1, .root = strdup(root) };
	if (!journal->root ||
	    statefile_make_directory(root, DIRECTORY, why) < 0)
		goto fail;
	journal->lock = take_lock(root, stop);
	if (journal->lock < 0) {
		why_set(why, 0, "cannot lock '%s" LOCK "': %s", root,
			strerror(errno));
		goto fail;
	}
	if (recover(journal, found, why) == 0)
		return 0;
fail:
	saved = errno;
	journal_close(journal);
	errno = saved;
	return -1;
}

/* moving ---------------------------------------------------------------- */

/* What outlives the journal until the process exits. */
struct journal_guard {
	struct journal *journal; /* NULL: closed */
};

static void restore_at_exit(int status, void *context)
{
	struct journal_guard *guard = context;

	(void)status;
	if (guard->journal)
		journal_close(guard->journal);
	free(guard);
}

static int guard(struct journal *journal)
{
	struct journal_guard *guard;

	if (journal->guard)
		return 0;
	guard = malloc(sizeof(*guard));
	if (!guard)
		return -1;
	guard->journal = journal;
	if (on_exit(restore_at_exit, guard) != 0) {
		free(guard);
		return -1;
	}
	journal->guard = guard;
	return 0;
}

int journal_begin(struct journal *journal, const struct knob_value *original,
		  char **why)
{
	const char *fault = knob_fault(original);

	*why = NULL;
	if (fault)
		return why_set(why, 0, "%s could not be restored: expected %s",
			       knob_name[original->kind], fault);
	journal->original = *original;
	if (guard(journal) < 0) {
		*why = strdup(strerror(ENOMEM));
		return -1;
	}
	if (write_journal(journal) < 0)
		return -1;
	journal->owner = getpid();
	journal->moving = true;
	return 0;
}

int journal_end(struct journal *journal, char **why)
{
	*why = NULL;
	if (!journal->moving || journal->owner != getpid())
		return 0;
	if (knobfile_write(journal->root, &journal->original, why) < 0 ||
	    statefile_remove(journal->root, JOURNAL, why) < 0)
		return -1;
	journal->moving = false;
	return 0;
}

void journal_close(struct journal *journal)
{
	char *why = NULL;

	if (journal->moving && journal_end(journal, &why) < 0) {
		error(0, 0, "the next start will try again: %s", why_text(why));
		free(why);
		journal->moving = false;
	}
	if (journal->guard)
		journal->guard->journal = NULL;
	if (journal->lock >= 0)
		close(journal->lock);
	free(journal->root);
	*journal = (struct journal){ .lock = -1 };
}

int journal_is_there(const char *root)
{
	struct stat st;
	char *path;
	int there = 0;

	if (asprintf(&path, "%s" JOURNAL, root) >= 0) {
		there = lstat(path, &st) == 0;
		free(path);
	}
	return there;
}
