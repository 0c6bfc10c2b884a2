/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply: bring a choice into force and keep it, undo that, or apply at boot
 * what was kept. Each adds the member `setting` to a report: {"verdict",
 * "knob", "old", "new", "files", "why", "dry_run"}.
 */
#ifndef TLBTUNE_APPLY_H
#define TLBTUNE_APPLY_H

#include <jansson.h>
#include <stdio.h>

#include "session.h"

struct apply_options {
	bool dry_run; /* --dry-run: say what would be done */
	bool force;   /* --force */
};

/*
 * Each returns the exit status, after one line on stderr where it is not
 * STATUS_OK. The session must hold its lock, or nothing is written.
 */

/* What the report recommends, unless it came from another machine than now. */
int apply_choice(const struct session *session,
		 const struct apply_options *options, json_t *report,
		 const json_t *now);

int apply_undo(const struct session *session,
	       const struct apply_options *options, json_t *report);

/* What is stored, if it was measured on this machine (STATUS_CANNOT_RUN). */
int apply_stored(const struct session *session,
		 const struct apply_options *options, json_t *report,
		 const json_t *now);

/* The member setting, for people. */
void apply_text(const json_t *report, FILE *to);

#endif
