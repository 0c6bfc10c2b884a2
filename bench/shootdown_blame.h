/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shootdown --blame: who answered last, and what held it, in rounds of their
 * own: events slow down what is traced, so none of these calls is in a time.
 */
#ifndef TLBTUNE_SHOOTDOWN_BLAME_H
#define TLBTUNE_SHOOTDOWN_BLAME_H

#include "core/blame.h"
#include "shootdown.h"

struct shootdown_blame {
	char *why; /* nothing is known; NULL: it is */
	size_t threads;
	struct blame_call *call; /* [calls] */
	struct blame *blame;	 /* [calls] */
	size_t calls;
	double lost; /* events; NAN: unknown */
};

/*
 * Trace calls beside the threads of the plan's largest row, and explain them.
 * Each event and call is written to log as a line, unless that is NULL. 0, also
 * where nothing can be known (out->why); -1 with errno.
 */
int shootdown_trace(const struct shootdown_plan *plan,
		    struct shootdown_blame *out, FILE *log);

void shootdown_blame_free(struct shootdown_blame *blame);

/* As JSON; NULL on ENOMEM. And for people, from that. */
json_t *shootdown_blame_json(const struct shootdown_blame *blame);
void shootdown_blame_text(const json_t *blame, FILE *to);

#endif
