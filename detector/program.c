/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "program.h"

#define MAX_ACTORS 64
#define MAX_PAGES 4096
#define MAX_GROUP 64
#define HUGE_UNITS 512 /* 4 KiB units of a huge page */

const char *const memory_name[MEMORIES] = {
	[MEMORY_SHARED] = "shared",
	[MEMORY_PRIVATE] = "private",
	[MEMORY_THP] = "thp",
	[MEMORY_HUGETLB] = "hugetlb",
};

const char *const layout_name[LAYOUTS] = {
	[LAYOUT_START] = "start",
	[LAYOUT_ACROSS] = "across",
	[LAYOUT_ALONE] = "alone",
};

#define BIT(memory) (1u << (memory))
#define FILES (BIT(MEMORY_SHARED) | BIT(MEMORY_HUGETLB))
#define ANONYMOUS (BIT(MEMORY_PRIVATE) | BIT(MEMORY_THP))
#define ALL (FILES | ANONYMOUS)

const struct verb_info verb_info[VERBS] = {
	[VERB_READ] = { "read", ALL, EFFECT_NONE, RIGHTS_KEPT, -1,
			.random = true },
	[VERB_WRITE] = { "write", ALL, EFFECT_NONE, RIGHTS_KEPT, -1,
			 .random = true },
	[VERB_MPROTECT_R] = { "mprotect-r", ALL, EFFECT_NONE, RIGHTS_R, -1,
			      .needs_mapped = true, .random = true },
	[VERB_MPROTECT_NONE] = { "mprotect-none", ALL, EFFECT_NONE, RIGHTS_NONE,
				 -1, .needs_mapped = true, .random = true },
	[VERB_MPROTECT_RW] = { "mprotect-rw", ALL, EFFECT_NONE, RIGHTS_RW, -1,
			       .needs_mapped = true, .random = true },
	[VERB_MUNMAP] = { "munmap", ALL, EFFECT_GONE, RIGHTS_NONE, -1,
			  .random = true },
	[VERB_MAP] = { "map-over", FILES | BIT(MEMORY_PRIVATE), EFFECT_NEW,
		       RIGHTS_RW, -1, .gap = true, .random = true },
	[VERB_REMAP] = { "munmap-map", FILES | BIT(MEMORY_PRIVATE), EFFECT_NEW,
			 RIGHTS_RW, -1, .gap = true, .random = true },
	[VERB_DONTNEED] = { "dontneed", ANONYMOUS, EFFECT_ZERO, RIGHTS_KEPT, -1,
			    .needs_mapped = true, .random = true },
	[VERB_FREE] = { "free", ANONYMOUS, EFFECT_ZERO, RIGHTS_KEPT, -1,
			.needs_mapped = true, .partial = true },
	[VERB_MREMAP] = { "mremap", FILES | BIT(MEMORY_PRIVATE), EFFECT_GONE,
			  RIGHTS_NONE, -1, .needs_mapped = true,
			  .random = true },
	[VERB_FORK] = { "fork", ANONYMOUS, EFFECT_NONE, RIGHTS_KEPT, -1,
			.alone = true, .random = true },
	[VERB_PUNCH] = { "punch", FILES, EFFECT_ZERO, RIGHTS_KEPT, -1,
			 .needs_mapped = true, .random = true },
	[VERB_TRUNCATE] = { "truncate", FILES, EFFECT_ZERO, RIGHTS_KEPT, -1,
			    .needs_mapped = true, .gap = true, .alone = true,
			    .random = true },
	[VERB_UFFD_WP] = { "uffd-wp", BIT(MEMORY_SHARED) | BIT(MEMORY_PRIVATE),
			   EFFECT_NONE, RIGHTS_KEPT, 1, .needs_mapped = true },
	[VERB_UFFD_RW] = { "uffd-rw", BIT(MEMORY_SHARED) | BIT(MEMORY_PRIVATE),
			   EFFECT_NONE, RIGHTS_KEPT, 0, .needs_mapped = true },
	[VERB_KSM] = { "ksm", BIT(MEMORY_PRIVATE), EFFECT_NONE, RIGHTS_KEPT, -1,
		       .needs_mapped = true, .partial = true },
	[VERB_MIGRATE] = { "migrate", BIT(MEMORY_SHARED) | BIT(MEMORY_PRIVATE),
			   EFFECT_NONE, RIGHTS_KEPT, -1, .needs_mapped = true,
			   .partial = true },
	[VERB_COLLAPSE] = { "collapse", BIT(MEMORY_THP), EFFECT_NONE,
			    RIGHTS_KEPT, -1, .needs_mapped = true,
			    .partial = true },
};

size_t program_unit(const struct program *program)
{
	return program->memory == MEMORY_HUGETLB ? (size_t)2 << 20 : 4096;
}

int program_add(struct program *program, const struct step *step)
{
	struct step *steps =
		reallocarray(program->step, program->steps + 1, sizeof(*steps));

	if (!steps)
		return -1;
	program->step = steps;
	program->step[program->steps++] = *step;
	return 0;
}

static size_t group_start(const struct program *program, size_t step)
{
	while (step > 0 &&
	       program->step[step - 1].group == program->step[step].group)
		step--;
	return step;
}

size_t program_group_end(const struct program *program, size_t first)
{
	size_t end = first;

	while (end < program->steps &&
	       program->step[end].group == program->step[first].group)
		end++;
	return end;
}

void program_remove(struct program *program, size_t gone)
{
	size_t start = group_start(program, gone);
	size_t end = program_group_end(program, start);
	int index = (int)(gone - start);
	size_t i;

	for (i = start; i < end; i++) {
		struct step *step = &program->step[i];

		if (step->after == index) {
			step->after = -1;
			step->sleep = false;
		} else if (step->after > index) {
			step->after--;
		}
	}
	memmove(&program->step[gone], &program->step[gone + 1],
		(program->steps - gone - 1) * sizeof(*program->step));
	program->steps--;
}

int program_copy(struct program *to, const struct program *from)
{
	struct step *steps = calloc(from->steps + 1, sizeof(*steps));

	if (!steps)
		return -1;
	if (from->steps)
		memcpy(steps, from->step, from->steps * sizeof(*steps));
	*to = *from;
	to->step = steps;
	return 0;
}

void program_free(struct program *program)
{
	free(program->step);
	*program = (struct program){ 0 };
}

size_t program_frame(const struct program *program, size_t step)
{
	size_t frame = program->pages, i;

	for (i = 0; i < step && i < program->steps; i++)
		if (verb_info[program->step[i].verb].effect == EFFECT_NEW)
			frame += program->step[i].count;
	return frame;
}

size_t program_frames(const struct program *program)
{
	return program_frame(program, program->steps);
}

bool step_affects(const struct step *step, unsigned int page)
{
	if (verb_info[step->verb].alone)
		return true;
	return page >= step->first && page - step->first < step->count;
}

/* What is wrong with a step by itself. */
static const char *step_fault(const struct program *program, size_t i,
			      size_t start)
{
	const struct step *step = &program->step[i];

	if (!(verb_info[step->verb].memories & BIT(program->memory)))
		return "not for this memory";
	if (step->actor >= program->actors)
		return "no such actor";
	if (step->count == 0 || step->first >= program->pages ||
	    step->count > program->pages - step->first)
		return "pages out of range";
	if (step->from < step->first || step->from - step->first >= step->count)
		return "begins outside its pages";
	if (step->after < -1 || step->after >= (int)(i - start))
		return "awaits a step that is not before it in its group";
	if (step->sleep && (step->after < 0 || step->actor == 0))
		return "sleeps without awaiting a step, or is actor 0's";
	/* its CPU is idle only before all else that it does */
	for (; step->sleep && start < i; start++)
		if (program->step[start].actor == step->actor)
			return "sleeps after its actor's first step of a group";
	return NULL;
}

/* Two operations of a group on the same page. */
static bool collide(const struct step *a, const struct step *b)
{
	if (verb_accesses(a->verb) || verb_accesses(b->verb))
		return false;
	return verb_info[a->verb].alone || verb_info[b->verb].alone ||
	       (a->first < b->first + b->count &&
		b->first < a->first + a->count);
}

/* What is wrong with a step among the others; mapped[] is before its group. */
static const char *group_fault(const struct program *program, size_t i,
			       size_t start, const bool *mapped)
{
	const struct step *step = &program->step[i];
	unsigned int page;

	for (; start < i; start++)
		if (collide(&program->step[start], step))
			return "a page has two operations in one group";
	if (!verb_info[step->verb].needs_mapped)
		return NULL;
	for (page = step->first; page < step->first + step->count; page++)
		if (!mapped[page])
			return "a page is not mapped";
	return NULL;
}

static void apply_mapped(const struct step *step, bool *mapped)
{
	enum effect effect = verb_info[step->verb].effect;
	unsigned int page;

	for (page = step->first; page < step->first + step->count; page++) {
		if (effect == EFFECT_GONE)
			mapped[page] = false;
		else if (effect == EFFECT_NEW)
			mapped[page] = true;
	}
}

/* step is left at the offender. */
static const char *steps_fault(const struct program *program, bool *mapped,
			       size_t *step)
{
	size_t start, end, i;
	const char *fault;

	for (start = 0; start < program->steps; start = end) {
		end = program_group_end(program, start);
		for (i = start; i < end; i++) {
			*step = i;
			if (i - start >= MAX_GROUP)
				return "too many steps in a group";
			fault = step_fault(program, i, start);
			if (!fault)
				fault = group_fault(program, i, start, mapped);
			if (fault)
				return fault;
		}
		for (i = start; i < end; i++)
			apply_mapped(&program->step[i], mapped);
	}
	*step = program->steps;
	return NULL;
}

const char *program_fault(const struct program *program, size_t *step)
{
	bool mapped[MAX_PAGES];

	*step = program->steps;
	if (program->pages < 1 || program->pages > MAX_PAGES)
		return "expected 1 to 4096 pages";
	if (program->actors < 1 || program->actors > MAX_ACTORS)
		return "expected 1 to 64 actors";
	if (program->memory == MEMORY_THP && program->pages != HUGE_UNITS)
		return "expected 512 pages of thp memory";
	if (program->at >= HUGE_UNITS)
		return "expected at from 0 to 511";
	memset(mapped, true, sizeof(mapped));
	return steps_fault(program, mapped, step);
}
