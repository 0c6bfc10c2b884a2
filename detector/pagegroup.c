/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagegroup: what happens before what in a group, and what therefore can be
 * seen. See pagemodel.h.
 */
#include <config.h>

#include "pagemodel.h"

static void cell_add(struct cell *cell, uint64_t value)
{
	if (cell_has(cell, value))
		return;
	if (cell->n < CELL_MAX)
		cell->may[cell->n++] = value;
	else
		cell->any = true;
}

/* order ---------------------------------------------------------------- */

void group_order(struct group *group, const struct pagemodel *model,
		 size_t first, size_t end, const struct outcome *outcome)
{
	const struct step *step = model->program->step;
	size_t i, j;

	*group = (struct group){
		.model = model,
		.first = first,
		.end = end,
		.outcome = outcome,
	};
	/* Edges lead from lower to higher steps: one pass closes them. */
	for (i = first; i < end; i++)
		for (j = first; j < i; j++)
			if (step[j].actor == step[i].actor ||
			    step[i].after == (int)(j - first))
				group->before[i - first] |=
					(uint64_t)1 << (j - first) |
					group->before[j - first];
}

bool group_before(const struct group *group, size_t a, size_t b)
{
	return group->before[b - group->first] >> (a - group->first) & 1;
}

/* The same for a reader that may be GROUP_END. */
static bool before(const struct group *group, size_t a, size_t b)
{
	return b == GROUP_END || group_before(group, a, b);
}

static bool is_after(const struct group *group, size_t a, size_t b)
{
	return b != GROUP_END && group_before(group, b, a);
}

long group_operation(const struct group *group, unsigned int page)
{
	const struct step *step = group->model->program->step;
	size_t i;

	for (i = group->first; i < group->end; i++)
		if (!verb_accesses(step[i].verb) &&
		    step_affects(&step[i], page))
			return (long)i;
	return -1;
}

/* rights --------------------------------------------------------------- */

void page_operate(const struct step *step, struct page_state *page)
{
	const struct verb_info *info = &verb_info[step->verb];

	if (info->rights != RIGHTS_KEPT)
		page->rights = info->rights;
	if (info->protect >= 0)
		page->protect = info->protect;
	if (info->effect == EFFECT_NEW || info->effect == EFFECT_GONE)
		page->protect = false;
}

/* Whether an access of that kind succeeds. */
static bool permits(const struct page_state *page, enum verb verb)
{
	if (verb == VERB_READ)
		return page->rights & RIGHTS_R;
	return page->rights == RIGHTS_RW && !page->protect;
}

static bool may(const struct group *group, size_t step, unsigned int page,
		bool wanted)
{
	const struct step *steps = group->model->program->step;
	enum verb verb = steps[step].verb;
	struct page_state old = group->model->page[page], new = old;
	long operation = group_operation(group, page);

	if (operation < 0)
		return permits(&old, verb) == wanted;
	if (page >= steps[operation].first &&
	    page - steps[operation].first < steps[operation].count)
		page_operate(&steps[operation], &new);
	if (group_before(group, (size_t)operation, step))
		return permits(&new, verb) == wanted;
	if (permits(&old, verb) == wanted)
		return true;
	if (group_before(group, step, (size_t)operation))
		return false;
	return permits(&new, verb) == wanted ||
	       (!wanted && verb_info[steps[operation].verb].gap);
}

bool group_may_fault(const struct group *group, size_t step, unsigned int page)
{
	return may(group, step, page, false);
}

bool group_may_succeed(const struct group *group, size_t step,
		       unsigned int page)
{
	return may(group, step, page, true);
}

/* content -------------------------------------------------------------- */

/* A step that puts a value into one slot of one page. */
struct event {
	size_t step;
	uint64_t value;
};

struct events {
	size_t n;
	struct event event[64];
};

static bool wrote(const struct group *group, size_t i, unsigned int page,
		  unsigned int actor)
{
	const struct step *step = &group->model->program->step[i];

	return step->verb == VERB_WRITE && step->actor == actor &&
	       step_affects(step, page) &&
	       !group->outcome[i].flag[page - step->first];
}

/*
 * True if the operation empties the page, where frame (the one mapped before
 * the group) is what a truncation of the file is judged by.
 */
static bool empties(const struct group *group, size_t i, unsigned int page)
{
	const struct pagemodel *model = group->model;
	const struct step *step = &model->program->step[i];
	enum effect effect = verb_info[step->verb].effect;

	if (verb_accesses(step->verb) || !step_affects(step, page))
		return false;
	if (step->verb == VERB_TRUNCATE)
		return model->page[page].frame >=
		       model->page[step->first].frame;
	if (verb_info[step->verb].partial &&
	    !group->outcome[i].flag[page - step->first])
		return false;
	return effect == EFFECT_ZERO || effect == EFFECT_NEW;
}

static void collect(const struct group *group, unsigned int page,
		    unsigned int actor, struct events *events)
{
	size_t i;

	events->n = 0;
	for (i = group->first; i < group->end; i++) {
		if (wrote(group, i, page, actor))
			events->event[events->n++] = (struct event){
				i, subject_value(group->model->nonce, i, page)
			};
		else if (empties(group, i, page))
			events->event[events->n++] = (struct event){ i, 0 };
	}
}

/* Whether something replaced what step (GROUP_END: what was there) left. */
static bool replaced(const struct group *group, const struct events *events,
		     size_t step, size_t reader)
{
	size_t i;

	for (i = 0; i < events->n; i++) {
		size_t other = events->event[i].step;

		if (other != step && before(group, other, reader) &&
		    (step == GROUP_END || group_before(group, step, other)))
			return true;
	}
	return false;
}

/* What reader may see where initial was; limit: of the frame before it. */
static void visible(const struct group *group, const struct events *events,
		    const struct cell *initial, size_t reader,
		    struct cell *cell)
{
	size_t i;

	*cell = (struct cell){ 0 };
	if (!replaced(group, events, GROUP_END, reader))
		*cell = *initial;
	for (i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];

		if (event->step != reader &&
		    !is_after(group, event->step, reader) &&
		    !replaced(group, events, event->step, reader))
			cell_add(cell, event->value);
	}
}

static const struct cell *initial_cell(const struct group *group,
				       unsigned int page, unsigned int actor)
{
	static const struct cell empty = { .n = 1 };
	const struct pagemodel *model = group->model;
	const struct cell *cells =
		pagemodel_cells(model, model->page[page].frame);

	return cells ? &cells[actor] : &empty;
}

void group_visible(const struct group *group, size_t step, unsigned int page,
		   unsigned int actor, struct cell *cell)
{
	struct events events;

	collect(group, page, actor, &events);
	visible(group, &events, initial_cell(group, page, actor), step, cell);
}

/* What was there, and writes that did not begin after the operation returned.
 */
void group_retired(const struct group *group, size_t operation,
		   unsigned int page, unsigned int actor, struct cell *cell)
{
	struct events all, events = { 0 };
	size_t i;

	collect(group, page, actor, &all);
	for (i = 0; i < all.n; i++)
		if (all.event[i].step != operation &&
		    !group_before(group, operation, all.event[i].step))
			events.event[events.n++] = all.event[i];
	visible(group, &events, initial_cell(group, page, actor), operation,
		cell);
}
