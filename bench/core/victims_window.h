/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * victims_window: the windows of victims.h, for victims.c alone.
 */
#ifndef TLBTUNE_VICTIMS_WINDOW_H
#define TLBTUNE_VICTIMS_WINDOW_H

#include "bystanders.h"
#include "team.h"
#include "victims.h"

struct victims_session {
	struct bench_run *run;
	const struct victims_plan *plan;
	const struct placement *placement;
	struct team *team;
	struct bystanders *bystanders;
	struct victims *victims;
	size_t targets; /* flushes in a window */
	size_t flushes; /* done */
	double call_ns; /* of the last one */
	char *why;
};

/* Say what failed, as errno has it; returns -1. */
int victims_fail(struct victims_session *s, const char *what);

/* Whether there have been as many flushes as were asked for. */
bool victims_enough(const struct victims_session *s);

/* Every target once, so that the first window finds warm caches. 0 or -1. */
int victims_warm_up(struct victims_session *s);

/* Measure one window, with timed slices or without. 0 or -1. */
int victims_window(struct victims_session *s, enum victims_window window,
		   bool timed);

#endif
