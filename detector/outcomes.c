/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outcomes: where the threads write what they see. See struct live for why it
 * is not where the judge reads it.
 */
#include <config.h>

#include <string.h>

#include "child.h"
#include "live_parts.h"

static size_t outcome_size(const struct program *program,
			   const struct step *step)
{
	size_t flags = (step->count + 7) / 8 * 8;
	size_t values = (size_t)step->count * program->actors;

	return flags +
	       (step->verb == VERB_READ ? values * sizeof(uint64_t) : 0);
}

int outcomes_open(struct live *live)
{
	const struct program *program = live->program;
	size_t size = program->steps * sizeof(*live->outcome), i;
	char *at;

	for (i = 0; i < program->steps; i++)
		size += outcome_size(program, &program->step[i]);
	live->outcome = child_share(size);
	if (!live->outcome)
		return -1;
	live->outcome_len = size;
	at = (char *)&live->outcome[program->steps];
	for (i = 0; i < program->steps; i++) {
		const struct step *step = &program->step[i];

		live->outcome[i].flag = (unsigned char *)at;
		live->outcome[i].value =
			(uint64_t *)(void *)(at + (step->count + 7) / 8 * 8);
		at += outcome_size(program, step);
	}
	return 0;
}

void outcomes_copy(const struct live *live, size_t i, struct outcome *outcome)
{
	const struct step *step = &live->program->step[i];
	const struct outcome *from = &live->outcome[i];

	outcome->error = from->error;
	outcome->hint = from->hint;
	outcome->cpu = from->cpu;
	memcpy(outcome->flag, from->flag, step->count);
	if (step->verb == VERB_READ)
		memcpy(outcome->value, from->value,
		       (size_t)step->count * live->program->actors *
			       sizeof(*from->value));
}
