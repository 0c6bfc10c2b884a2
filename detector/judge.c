/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "pagemodel.h"
#include "why.h"

const char *const finding_text[] = {
	[FINDING_NO_FAULT] = "an access that had to fault did not",
	[FINDING_READ] = "a thread read what is no longer in the page",
	[FINDING_VIEW] = "a write went to another page than the one mapped",
	[FINDING_SNAPSHOT] = "a write reached the memory of a forked child",
	[FINDING_FAULT] = "an access that had to succeed faulted",
};

struct trial {
	const struct subject *subject;
	const struct program *program;
	struct pagemodel model;
	struct outcome *outcome; /* [steps] */
	uint64_t *slot;		 /* [actors] */
	long *operation;	 /* [pages] step that changed it last, or -1 */
	bool nothing;		 /* a partial operation took no page */
	struct finding *finding;
};

/* memory --------------------------------------------------------------- */

static void free_outcomes(struct trial *trial)
{
	size_t i;

	for (i = 0; trial->outcome && i < trial->program->steps; i++) {
		free(trial->outcome[i].flag);
		free(trial->outcome[i].value);
	}
	free(trial->outcome);
}

static void close_trial(struct trial *trial)
{
	free_outcomes(trial);
	free(trial->slot);
	free(trial->operation);
	pagemodel_close(&trial->model);
}

static bool allocate_outcomes(struct trial *trial)
{
	const struct program *program = trial->program;
	size_t i;

	trial->outcome = calloc(program->steps, sizeof(*trial->outcome));
	if (!trial->outcome)
		return false;
	for (i = 0; i < program->steps; i++) {
		const struct step *step = &program->step[i];
		struct outcome *outcome = &trial->outcome[i];

		outcome->flag = calloc(step->count, 1);
		if (step->verb == VERB_READ)
			outcome->value =
				calloc((size_t)step->count * program->actors,
				       sizeof(*outcome->value));
		if (!outcome->flag ||
		    (step->verb == VERB_READ && !outcome->value))
			return false;
	}
	return true;
}

static bool open_trial(struct trial *trial, uint32_t nonce)
{
	const struct program *program = trial->program;
	unsigned int page;

	trial->slot = calloc(program->actors, sizeof(*trial->slot));
	trial->operation = calloc(program->pages, sizeof(*trial->operation));
	if (!trial->slot || !trial->operation || !allocate_outcomes(trial) ||
	    pagemodel_open(&trial->model, program, nonce) < 0)
		return false;
	for (page = 0; page < program->pages; page++)
		trial->operation[page] = -1;
	return true;
}

/* comparing ------------------------------------------------------------ */

static bool find(struct trial *trial, const struct finding *finding)
{
	*trial->finding = *finding;
	trial->finding->cpu = trial->outcome[finding->step].cpu;
	if (finding->operation >= 0)
		trial->finding->initiator_cpu =
			trial->outcome[finding->operation].cpu;
	return true;
}

/* The operation that a step is judged by: in its group, or before. */
static long operation_of(const struct trial *trial, const struct group *group,
			 unsigned int page)
{
	long operation = group_operation(group, page);

	return operation < 0 ? trial->operation[page] : operation;
}

/* The slots that a read step saw in a page. */
static const uint64_t *seen_in(const struct trial *trial, size_t i,
			       unsigned int page)
{
	const struct step *step = &trial->program->step[i];
	size_t at = (size_t)(page - step->first) * trial->program->actors;

	return trial->outcome[i].value + at;
}

/* The functions below return true when there is a finding. */

static bool compare_read(struct trial *trial, const struct group *group,
			 size_t i, unsigned int page)
{
	const struct program *program = trial->program;
	const uint64_t *seen = seen_in(trial, i, page);
	unsigned int actor;
	struct cell cell;

	for (actor = 0; actor < program->actors; actor++) {
		group_visible(group, i, page, actor, &cell);
		if (!cell_has(&cell, seen[actor]))
			return find(trial, &(struct finding){
						   .kind = FINDING_READ,
						   .step = i,
						   .page = page,
						   .actor = actor,
						   .operation = operation_of(
							   trial, group, page),
						   .got = seen[actor],
						   .wanted = cell.may[0],
					   });
	}
	return false;
}

static bool compare_access(struct trial *trial, const struct group *group,
			   size_t i, unsigned int page)
{
	const struct step *step = &trial->program->step[i];
	bool faulted = trial->outcome[i].flag[page - step->first];
	bool allowed = faulted ? group_may_fault(group, i, page) :
				 group_may_succeed(group, i, page);

	if (!allowed)
		return find(trial,
			    &(struct finding){
				    .kind = faulted ? FINDING_FAULT :
						      FINDING_NO_FAULT,
				    .step = i,
				    .page = page,
				    .actor = step->actor,
				    .operation =
					    operation_of(trial, group, page),
				    .got = step->verb == VERB_READ && !faulted ?
						   *seen_in(trial, i, page) :
						   0,
			    });
	return step->verb == VERB_READ && !faulted &&
	       compare_read(trial, group, i, page);
}

static bool compare_accesses(struct trial *trial, const struct group *group)
{
	size_t i;

	for (i = group->first; i < group->end; i++) {
		const struct step *step = &trial->program->step[i];
		unsigned int n;

		/* in the order of the accesses: the first is the one to show */
		for (n = 0; verb_accesses(step->verb) && n < step->count; n++) {
			unsigned int page =
				step->first +
				(step->from - step->first + n) % step->count;

			if (compare_access(trial, group, i, page))
				return true;
		}
	}
	return false;
}

/* The last step of the group, or before, that wrote to the page. */
static size_t last_writer(const struct trial *trial, size_t end,
			  unsigned int page, unsigned int actor)
{
	const struct step *step = trial->program->step;
	size_t i = end;

	while (i-- > 0)
		if (step[i].verb == VERB_WRITE && step[i].actor == actor &&
		    step_affects(&step[i], page))
			return i;
	return end - 1;
}

/*
 * What was seen of a page, in trial->slot, against what its cells allow. What
 * is seen, if allowed, is from now on what the cell contains. True if something
 * is found.
 */
static bool compare(struct trial *trial, enum finding_kind kind, size_t end,
		    unsigned int page, struct cell *cell)
{
	unsigned int actor;

	for (actor = 0; actor < trial->program->actors; actor++) {
		uint64_t got = trial->slot[actor];

		if (!cell_has(&cell[actor], got))
			return find(trial,
				    &(struct finding){
					    .kind = kind,
					    .step = last_writer(trial, end,
								page, actor),
					    .operation = trial->operation[page],
					    .page = page,
					    .actor = actor,
					    .got = got,
					    .wanted = cell[actor].may[0],
				    });
		cell[actor] = (struct cell){ .n = 1, .may = { got } };
	}
	return false;
}

/* One frame of the page, by the second view. */
static bool compare_view(struct trial *trial, size_t end, unsigned int page,
			 long frame)
{
	const struct subject *subject = trial->subject;
	struct cell *cell = pagemodel_cells(&trial->model, frame);

	if (!cell || subject->view(subject->context, page, (size_t)frame,
				   trial->slot) < 0)
		return false;
	return compare(trial, FINDING_VIEW, end, page, cell);
}

static bool compare_snapshot(struct trial *trial, size_t end, unsigned int page)
{
	const struct subject *subject = trial->subject;

	if (!trial->model.has_snapshot ||
	    subject->snapshot(subject->context, page, trial->slot) < 0)
		return false;
	return compare(
		trial, FINDING_SNAPSHOT, end, page,
		&trial->model.snapshot[(size_t)page * trial->program->actors]);
}

static bool is_touched(const struct group *group, unsigned int page)
{
	const struct step *step = group->model->program->step;
	size_t i;

	for (i = group->first; i < group->end; i++)
		if (step[i].verb != VERB_READ && step_affects(&step[i], page))
			return true;
	return false;
}

static bool compare_views(struct trial *trial, const struct group *group)
{
	unsigned int page;

	for (page = 0; page < trial->program->pages; page++) {
		const struct page_state *state = &trial->model.page[page];

		if (is_touched(group, page) &&
		    (compare_view(trial, group->end, page, state->frame) ||
		     compare_view(trial, group->end, page, state->before) ||
		     compare_snapshot(trial, group->end, page)))
			return true;
	}
	return false;
}

/* running -------------------------------------------------------------- */

static bool took_nothing(const struct trial *trial, const struct group *group)
{
	size_t i;

	for (i = group->first; i < group->end; i++) {
		const struct step *step = &trial->program->step[i];

		if (verb_info[step->verb].partial &&
		    !memchr(trial->outcome[i].flag, 1, step->count))
			return true;
	}
	return false;
}

/* 0, or -1 with *why: an operation that the system refused. */
static int check_errors(const struct trial *trial, const struct group *group,
			char **why)
{
	size_t i;

	for (i = group->first; i < group->end; i++) {
		int error = trial->outcome[i].error;

		if (!error)
			continue;
		return why_set(why, 0, "%s: %s",
			       verb_info[trial->program->step[i].verb].name,
			       trial->outcome[i].hint ? trial->outcome[i].hint :
							strerror(error));
	}
	return 0;
}

static enum verdict run_group(struct trial *trial, size_t first, size_t end,
			      char **why)
{
	const struct subject *subject = trial->subject;
	struct group group;
	unsigned int page;

	if (subject->run(subject->context, first, end, trial->outcome, why) < 0)
		return VERDICT_CANNOT;
	group_order(&group, &trial->model, first, end, trial->outcome);
	if (check_errors(trial, &group, why) < 0)
		return VERDICT_CANNOT;
	trial->nothing |= took_nothing(trial, &group);
	if (compare_accesses(trial, &group))
		return VERDICT_STALE;
	for (page = 0; page < trial->program->pages; page++)
		trial->operation[page] = operation_of(trial, &group, page);
	/* takes the pages one by one: it must not see its own changes */
	pagemodel_advance(&trial->model, &group);
	if (compare_views(trial, &group))
		return VERDICT_STALE;
	return VERDICT_CLEAN;
}

enum verdict judge(const struct subject *subject, const struct program *program,
		   uint32_t nonce, struct finding *finding, char **why)
{
	struct trial trial = {
		.subject = subject,
		.program = program,
		.finding = finding,
	};
	enum verdict verdict = VERDICT_CLEAN;
	size_t first, end;

	*why = NULL;
	*finding = (struct finding){ 0 };
	if (!open_trial(&trial, nonce)) {
		close_trial(&trial);
		return VERDICT_CANNOT;
	}
	if (subject->open(subject->context, program, nonce, why) < 0) {
		close_trial(&trial);
		return VERDICT_CANNOT;
	}
	for (first = 0; first < program->steps && verdict == VERDICT_CLEAN;
	     first = end) {
		end = program_group_end(program, first);
		verdict = run_group(&trial, first, end, why);
	}
	if (verdict == VERDICT_CLEAN && trial.nothing)
		verdict = VERDICT_NOTHING;
	subject->close(subject->context);
	close_trial(&trial);
	return verdict;
}
