/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bystanders: what the threads beside the caller do: access a working set, a
 * slice of it a round, so that their rounds show soon whether they go on.
 *
 * They can time what they do. Then each keeps the durations of its slices in
 * histograms, without a gap: what interrupts a thread between two slices is
 * part of the next. There are two histograms, one is written while the other is
 * read; the caller says which by a turn, and a slice counts for the turn in
 * which it ends. So the slice that a call of the caller interrupts belongs to
 * the turn that the caller began just before.
 */
#ifndef TLBTUNE_BYSTANDERS_H
#define TLBTUNE_BYSTANDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "access.h"
#include "clock.h"
#include "histogram.h"

struct bystanders;

/* For n threads; NULL with errno. */
struct bystanders *bystanders_open(size_t n);
void bystanders_close(struct bystanders *bystanders);

/*
 * Begin anew, at the start of access; with a clock slices are timed. To be
 * called while the threads are parked. access must stay until then, too.
 */
void bystanders_restart(struct bystanders *bystanders,
			const struct access *access, const struct clock *clock);

/* The work of thread index of a team: the next slice. */
void bystanders_work(void *context, size_t index);

/* ns per access of one of the threads, of that many rounds of all within ns. */
double bystanders_ns(const struct bystanders *bystanders, uint64_t rounds,
		     double ns);

/* Slices that end from now on count for the next turn. */
void bystanders_turn(struct bystanders *bystanders);

/*
 * Move what was counted for the turn before this one to into; ticks of the
 * clock. Nobody may write to it any more: each thread has begun and finished a
 * round since the turn, or is parked.
 */
void bystanders_take(struct bystanders *bystanders, struct histogram *into);

#endif
