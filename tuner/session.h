/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session: the knob of this kernel from the start of a program to its end.
 *
 * Opening it restores what a tune that was killed has left. Where the knob is
 * writable the session holds its lock; then it may be moved for measuring, and
 * closing, or any end of the process, puts it back.
 */
#ifndef TLBTUNE_SESSION_H
#define TLBTUNE_SESSION_H

#include "journal.h"
#include "measure.h"

struct session {
	const char *root;
	struct knob knob;	 /* as it was found, or restored */
	struct knob_value usual; /* while it is not moved for measuring */
	struct journal journal;
	bool locked;
};

/*
 * *stop ends the waiting for another tune. What there is to be said goes to
 * stderr. 0, or -1 after a line on stderr: a journal that cannot be trusted, or
 * a knob that cannot be restored.
 */
int session_open(struct session *session, const char *root,
		 const volatile int *stop);

/*
 * Begin to move the knob: write the journal, and have a ceiling with both of
 * its sides in reach, so that both ways can be timed without moving it; where
 * the one in force is not, record->in_force becomes it. What the knob then says
 * becomes record->knob_ceiling. A session without a writable knob does nothing.
 * 0, or -1 with *why (NULL: it has been said).
 */
int session_begin(struct session *session, struct record *record, char **why);

/*
 * measure_both for so long, if the session can. The knob then is as it was
 * after session_begin. 0, or -1 with *why.
 */
int session_measure_both(struct session *session, const struct measure *measure,
			 double seconds, struct record *record, char **why);

/* No more moving: the knob is put back. 0, or -1 with *why. */
int session_end(struct session *session, char **why);

/* The knob is put back and unlocked. */
void session_close(struct session *session);

#endif
