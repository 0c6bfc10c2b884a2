/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bystanders.h"

/* Two lines of 64 bytes: x86 prefetches the other one of such a pair. */
#define LINE 128

struct bystander {
	alignas(LINE) struct access_cursor cursor;
	uint64_t last; /* when the last slice ended; 0: none has */
	struct histogram turn[2];
};

struct bystanders {
	alignas(LINE) atomic_uint turn; /* the lowest bit is an index */
	alignas(LINE) const struct access *access;
	const struct clock *clock; /* NULL: nothing is timed */
	size_t n;
	struct bystander *each;
};

struct bystanders *bystanders_open(size_t n)
{
	struct bystanders *bystanders =
		aligned_alloc(LINE, sizeof(*bystanders));

	if (!bystanders)
		return NULL;
	*bystanders = (struct bystanders){
		.n = n,
		.each = aligned_alloc(LINE, (n + 1) * sizeof(struct bystander)),
	};
	if (!bystanders->each) {
		free(bystanders);
		errno = ENOMEM;
		return NULL;
	}
	return bystanders;
}

void bystanders_close(struct bystanders *bystanders)
{
	if (!bystanders)
		return;
	free(bystanders->each);
	free(bystanders);
}

void bystanders_restart(struct bystanders *bystanders,
			const struct access *access, const struct clock *clock)
{
	size_t i;

	bystanders->access = access;
	bystanders->clock = clock;
	for (i = 0; i < bystanders->n; i++) {
		struct bystander *each = &bystanders->each[i];

		each->cursor = (struct access_cursor){ 0 };
		each->last = 0;
		if (!clock)
			continue;
		histogram_clear(&each->turn[0]);
		histogram_clear(&each->turn[1]);
	}
}

static unsigned int turn_of(const struct bystanders *bystanders)
{
	return atomic_load_explicit(&bystanders->turn, memory_order_acquire);
}

/* The time since the last slice ended. */
static void count_slice(const struct bystanders *bystanders,
			struct bystander *self)
{
	uint64_t now = clock_now(bystanders->clock);

	if (self->last)
		histogram_add(&self->turn[turn_of(bystanders) % 2],
			      now - self->last);
	self->last = now;
}

void bystanders_work(void *context, size_t index)
{
	const struct bystanders *bystanders = context;
	struct bystander *self = &bystanders->each[index];

	access_slice(bystanders->access, &self->cursor);
	if (bystanders->clock)
		count_slice(bystanders, self);
}

double bystanders_ns(const struct bystanders *bystanders, uint64_t rounds,
		     double ns)
{
	const struct access *access = bystanders->access;
	double accesses = (double)rounds * (double)access->pages /
			  (double)access_slices(access);

	return (double)bystanders->n * ns / accesses;
}

void bystanders_turn(struct bystanders *bystanders)
{
	/* seq_cst: before the caller looks at their rounds. */
	atomic_fetch_add(&bystanders->turn, 1);
}

void bystanders_take(struct bystanders *bystanders, struct histogram *into)
{
	unsigned int before = turn_of(bystanders) + 1; /* modulo 2 */
	size_t i;

	for (i = 0; i < bystanders->n; i++) {
		struct histogram *turn = &bystanders->each[i].turn[before % 2];

		histogram_merge(into, turn);
		histogram_clear(turn);
	}
}
