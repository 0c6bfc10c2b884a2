/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal: never leave a knob moved.
 *
 * Before the first write the value in force is put into a journal, and only a
 * knob that has its value back loses it. So after any death of the process the
 * next start finds the journal and restores the value. One process at a time
 * moves the knob, or writes what is kept for the next boot: it holds a lock,
 * which its children hold too, so that none of them is left when the next one
 * gets it.
 *
 * Both are in /run/tlbtune, which a boot empties as it does the knobs. In case
 * it does not, a journal of another boot is worth nothing.
 */
#ifndef TLBTUNE_JOURNAL_H
#define TLBTUNE_JOURNAL_H

#include <stdbool.h>

#include "knob.h"

struct journal_guard;

struct journal {
	char *root;
	int lock;    /* -1: none */
	bool moving; /* the knob may be elsewhere than at original */
	int owner;   /* the process that restores; its children do not */
	struct knob_value original;
	struct journal_guard *guard; /* for the end of the process */
};

/* What journal_open found. */
enum journal_found {
	JOURNAL_NONE,
	JOURNAL_RESTORED, /* the value in journal->original is back */
	JOURNAL_STALE,	  /* of another boot; removed */
};

/*
 * Lock, which waits for another process after one line on stderr, and restore
 * what one that was killed has left. Returns 0, or -1 with *why a malloc'ed
 * sentence (EINTR: *stop ended the waiting; EACCES: not ours to lock; then
 * there is nothing to be closed); a journal that cannot be trusted is refused.
 */
int journal_open(struct journal *journal, const char *root,
		 const volatile int *stop, enum journal_found *found,
		 char **why);

/*
 * Write the journal: from now on the knob may be moved. It is restored when the
 * process exits. 0, or -1 with *why (NULL: it has been said).
 */
int journal_begin(struct journal *journal, const struct knob_value *original,
		  char **why);

/* Restore the knob, forget the journal. 0, or -1 with *why. */
int journal_end(struct journal *journal, char **why);

/* Unlock; a knob still moved is restored, with a line on stderr on failure. */
void journal_close(struct journal *journal);

/* 1 if there is a journal, which someone else's start left; else 0. */
int journal_is_there(const char *root);

#endif
