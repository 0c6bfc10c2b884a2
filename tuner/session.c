/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>

#include "derive.h"
#include "knobfile.h"
#include "session.h"
#include "why.h"

/* Ceilings at which there are sizes enough on both sides to fit the costs. */
#define IN_REACH_MIN 12
#define IN_REACH_MAX 128

static void say_found(const struct session *session, enum journal_found found)
{
	char text[KNOB_TEXT];

	if (found != JOURNAL_RESTORED)
		return;
	knob_text(&session->journal.original, text);
	error(0, 0, "restored %s to %s: a tune that moved it had been killed",
	      knob_name[session->journal.original.kind], text);
}

/* Without the rights to move the knob nothing can be restored either. */
static void say_left(const struct session *session)
{
	if (journal_is_there(session->root))
		error(0, 0,
		      "a tune that was killed has left the knob moved: as "
		      "root, any start of tune restores it");
}

int session_open(struct session *session, const char *root,
		 const volatile int *stop)
{
	enum journal_found found;
	char *why;

	*session = (struct session){ .root = root, .journal.lock = -1 };
	knobfile_find(root, &session->knob);
	if (!session->knob.writable) {
		say_left(session);
		return 0;
	}
	if (journal_open(&session->journal, root, stop, &found, &why) < 0) {
		error(0, 0, "%s", why_text(why));
		free(why);
		return -1;
	}
	session->locked = true;
	say_found(session, found);
	/* It may have been moved until the lock was ours. */
	knobfile_find(root, &session->knob);
	return 0;
}

int session_begin(struct session *session, struct record *record, char **why)
{
	const struct knob_value *now = &session->knob.now;

	*why = NULL;
	session->usual = *now;
	if (!session->locked)
		return 0;
	if (journal_begin(&session->journal, now, why) < 0)
		return -1;
	record->knob_ceiling = now->pages;
	if (now->pages < 0 ||
	    (now->pages >= IN_REACH_MIN && now->pages <= IN_REACH_MAX))
		return 0;
	session->usual = (struct knob_value){
		.kind = now->kind,
		.entries = DERIVE_STOCK_CEILING, /* >> 0 */
		.pages = DERIVE_STOCK_CEILING,
	};
	if (knobfile_write(session->root, &session->usual, why) < 0)
		return -1;
	record->in_force = now->pages;
	record->knob_ceiling = session->usual.pages;
	return 0;
}

int session_measure_both(struct session *session, const struct measure *measure,
			 double seconds, struct record *record, char **why)
{
	const struct both_plan plan = {
		.root = session->root,
		.kind = session->knob.now.kind,
		.blocks = BOTH_BLOCKS,
		.seconds = seconds,
	};

	*why = NULL;
	if (!session->locked || *measure->stop)
		return 0;
	if (measure_both(measure, &plan, record, why) < 0)
		return -1;
	return knobfile_write(session->root, &session->usual, why);
}

int session_end(struct session *session, char **why)
{
	*why = NULL;
	return session->locked ? journal_end(&session->journal, why) : 0;
}

void session_close(struct session *session)
{
	if (session->locked)
		journal_close(&session->journal);
	session->locked = false;
}
