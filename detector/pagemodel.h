/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagemodel: what each page may contain, and what an access to it may do.
 *
 * A step that returned before another began happened before it. Of an access
 * that began after an operation returned, only the new state is allowed; of one
 * that is concurrent with it, the old and the new. That is all that is
 * demanded, so an access that is late but legal is never counted.
 *
 * A value can be seen in a slot unless the write (or wipe) that it comes from
 * began after the reader ended, or something that happened after that write and
 * before the reader took its place.
 *
 * Pure.
 */
#ifndef TLBTUNE_PAGEMODEL_H
#define TLBTUNE_PAGEMODEL_H

#include "program.h"
#include "subject.h"

/* The values that one slot may have; 0 is an empty page. */
#define CELL_MAX 6

struct cell {
	unsigned int n;
	bool any; /* more than CELL_MAX: whatever is seen is allowed */
	uint64_t may[CELL_MAX];
};

struct page_state {
	enum rights rights; /* of mprotect */
	bool protect;	    /* against writes, by userfaultfd */
	long frame;	    /* what is mapped there, or -1 */
	long before;	    /* frame that was there before, or -1 */
};

struct pagemodel {
	const struct program *program;
	uint32_t nonce;
	struct page_state *page; /* [pages] */
	struct cell *cell;	 /* [frames][actors] */
	struct cell *snapshot;	 /* [pages][actors] */
	bool has_snapshot;
};

/* 0, or -1 with ENOMEM. */
int pagemodel_open(struct pagemodel *model, const struct program *program,
		   uint32_t nonce);
void pagemodel_close(struct pagemodel *model);

/* A group whose outcome is known, steps first..end-1. */
struct group {
	const struct pagemodel *model; /* the state before it */
	size_t first, end;
	const struct outcome *outcome; /* [steps of the program] */
	uint64_t before[64]; /* bit j of before[i]: step j is before step i */
};

void group_order(struct group *group, const struct pagemodel *model,
		 size_t first, size_t end, const struct outcome *outcome);

/* True if step a of the program happens before step b, both of the group. */
bool group_before(const struct group *group, size_t a, size_t b);

/* The step of the group that operates on the page, or -1. */
long group_operation(const struct group *group, unsigned int page);

/* Whether an access step may fault on a page, and whether it may succeed. */
bool group_may_fault(const struct group *group, size_t step, unsigned int page);
bool group_may_succeed(const struct group *group, size_t step,
		       unsigned int page);

/* A reader that comes after all of the group. */
#define GROUP_END SIZE_MAX

/* What a step of the group, or one at GROUP_END, may see in a slot. */
void group_visible(const struct group *group, size_t step, unsigned int page,
		   unsigned int actor, struct cell *cell);

/* The same in the frame that an operation of the group took off the page. */
void group_retired(const struct group *group, size_t operation,
		   unsigned int page, unsigned int actor, struct cell *cell);

/* What an operation does to the rights of a page in its range. */
void page_operate(const struct step *step, struct page_state *page);

/* Advance the model to the state after the group. */
void pagemodel_advance(struct pagemodel *model, const struct group *group);

bool cell_has(const struct cell *cell, uint64_t value);

/* The cells of the frame of a page, [actors]; NULL where none is mapped. */
struct cell *pagemodel_cells(const struct pagemodel *model, long frame);

#endif
