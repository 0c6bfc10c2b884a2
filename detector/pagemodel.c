/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "pagemodel.h"

int pagemodel_open(struct pagemodel *model, const struct program *program,
		   uint32_t nonce)
{
	size_t frames = program_frames(program), i;

	*model = (struct pagemodel){
		.program = program,
		.nonce = nonce,
		.page = calloc(program->pages, sizeof(*model->page)),
		.cell = calloc(frames * program->actors, sizeof(*model->cell)),
		.snapshot = calloc((size_t)program->pages * program->actors,
				   sizeof(*model->snapshot)),
	};
	if (!model->page || !model->cell || !model->snapshot) {
		pagemodel_close(model);
		return -1;
	}
	for (i = 0; i < program->pages; i++)
		model->page[i] = (struct page_state){
			.rights = RIGHTS_RW,
			.frame = (long)i,
			.before = -1,
		};
	/* new memory is empty */
	for (i = 0; i < frames * program->actors; i++)
		model->cell[i] = (struct cell){ .n = 1 };
	return 0;
}

void pagemodel_close(struct pagemodel *model)
{
	free(model->page);
	free(model->cell);
	free(model->snapshot);
	*model = (struct pagemodel){ 0 };
}

bool cell_has(const struct cell *cell, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < cell->n; i++)
		if (cell->may[i] == value)
			return true;
	return cell->any;
}

struct cell *pagemodel_cells(const struct pagemodel *model, long frame)
{
	return frame < 0 ? NULL :
			   &model->cell[(size_t)frame * model->program->actors];
}

/* advancing ------------------------------------------------------------ */

static void take_snapshot(struct pagemodel *model, const struct group *group,
			  size_t step)
{
	unsigned int page, actor;

	model->has_snapshot = true;
	for (page = 0; page < model->program->pages; page++)
		for (actor = 0; actor < model->program->actors; actor++)
			group_visible(
				group, step, page, actor,
				&model->snapshot[page * model->program->actors +
						 actor]);
}

/* The new contents of a page, cell[actors]; retired: of the frame it had. */
static void advance_cells(const struct group *group, unsigned int page,
			  long operation, bool leaves, struct cell *cell,
			  struct cell *retired)
{
	unsigned int actor;

	for (actor = 0; actor < group->model->program->actors; actor++) {
		group_visible(group, GROUP_END, page, actor, &cell[actor]);
		if (leaves)
			group_retired(group, (size_t)operation, page, actor,
				      &retired[actor]);
	}
}

static void store(struct pagemodel *model, long frame, const struct cell *cell)
{
	struct cell *to = pagemodel_cells(model, frame);
	unsigned int actor;

	for (actor = 0; to && actor < model->program->actors; actor++)
		to[actor] = cell[actor];
}

static void advance_page(struct pagemodel *model, const struct group *group,
			 unsigned int page)
{
	const struct program *program = model->program;
	struct page_state *state = &model->page[page];
	struct cell cell[64] = { 0 }, retired[64] = { 0 };
	long operation = group_operation(group, page);
	const struct step *step = operation < 0 ? NULL :
						  &program->step[operation];
	enum effect effect = step ? verb_info[step->verb].effect : EFFECT_NONE;
	bool leaves = effect == EFFECT_NEW || effect == EFFECT_GONE;

	advance_cells(group, page, operation, leaves, cell, retired);
	if (leaves) {
		store(model, state->frame, retired);
		if (state->frame >= 0)
			state->before = state->frame;
		state->frame = -1;
	}
	if (effect == EFFECT_NEW)
		state->frame = (long)program_frame(program, (size_t)operation) +
			       (long)(page - step->first);
	store(model, state->frame, cell);
	if (step && page >= step->first && page - step->first < step->count)
		page_operate(step, state);
}

static bool is_mapped(const struct pagemodel *model, long frame)
{
	unsigned int page;

	for (page = 0; page < model->program->pages; page++)
		if (model->page[page].frame == frame)
			return true;
	return false;
}

/* A truncation also empties what is in the file behind and mapped nowhere. */
static void truncate_rest(struct pagemodel *model, const struct step *step)
{
	long frames = (long)program_frames(model->program);
	long frame = model->page[step->first].frame;
	unsigned int actor;

	for (; frame < frames; frame++)
		for (actor = 0;
		     !is_mapped(model, frame) && actor < model->program->actors;
		     actor++)
			pagemodel_cells(model, frame)[actor] =
				(struct cell){ .n = 1 };
}

void pagemodel_advance(struct pagemodel *model, const struct group *group)
{
	const struct program *program = model->program;
	unsigned int page;
	size_t i;

	/* The group refers to the state before it, page by page. */
	for (i = group->first; i < group->end; i++)
		if (program->step[i].verb == VERB_FORK)
			take_snapshot(model, group, i);
	for (page = 0; page < program->pages; page++)
		advance_page(model, group, page);
	for (i = group->first; i < group->end; i++)
		if (program->step[i].verb == VERB_TRUNCATE)
			truncate_rest(model, &program->step[i]);
}
