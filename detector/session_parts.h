/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_parts: what the systematic and the random sessions share.
 */
#ifndef TLBTUNE_SESSION_PARTS_H
#define TLBTUNE_SESSION_PARTS_H

#include "session.h"

/* Programs on their way into a process, and the tally of each. */
struct list {
	struct program *program;
	size_t *tally; /* index */
	size_t n;
};

/* Takes the program over. 0, or -1 with ENOMEM. */
int list_add(struct list *list, const struct program *program, size_t tally);
void list_free(struct list *list);

/* Run them in one process and count what came of them. */
void list_run(struct session *session, struct list *list);

/* A new tally; NULL on ENOMEM. */
struct tally *session_tally(struct session *session, const char *name,
			    const struct check_kind *kind, enum memory memory);

bool session_is_over(const struct session *session);

/* Whether anything is left to test. */
bool session_is_any_on(const struct session *session);

#endif
