/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "shrink.h"

#define MAX_ACTORS 64

struct search {
	struct program *program; /* the shortest that fails so far */
	shrink_fails fails;
	void *context;
	size_t left;  /* questions */
	bool changed; /* in this pass */
	bool no_memory;
};

/* Take the candidate over if it fails as well. It is used up either way. */
static bool try(struct search *search, struct program *candidate)
{
	size_t step;

	if (search->left > 0 && candidate->steps > 0 &&
	    !program_fault(candidate, &step)) {
		search->left--;
		if (search->fails(search->context, candidate)) {
			program_free(search->program);
			*search->program = *candidate;
			search->changed = true;
			return true;
		}
	}
	program_free(candidate);
	return false;
}

static bool copy(struct search *search, struct program *candidate)
{
	if (search->left == 0)
		return false;
	if (program_copy(candidate, search->program) == 0)
		return true;
	search->no_memory = true;
	search->left = 0;
	return false;
}

/* Whole groups, from the last: what comes after the failure goes at once. */
static void drop_groups(struct search *search)
{
	size_t end = search->program->steps, start, i;
	struct program candidate;

	for (; end > 0 && copy(search, &candidate); end = start) {
		for (start = end - 1;
		     start > 0 && candidate.step[start - 1].group ==
					  candidate.step[end - 1].group;)
			start--;
		for (i = start; i < end; i++)
			program_remove(&candidate, start);
		try(search, &candidate);
	}
}

static void drop_steps(struct search *search)
{
	size_t i = search->program->steps;
	struct program candidate;

	while (i-- > 0 && copy(search, &candidate)) {
		program_remove(&candidate, i);
		try(search, &candidate);
	}
}

/* One step without a page at one of its ends, or without half of them. */
static bool narrow(struct search *search, size_t i, unsigned int gone,
		   bool at_start)
{
	struct program candidate;
	struct step *step;

	if (gone == 0 || search->program->step[i].count <= gone ||
	    !copy(search, &candidate))
		return false;
	step = &candidate.step[i];
	step->count -= gone;
	if (at_start)
		step->first += gone;
	if (step->from < step->first || step->from - step->first >= step->count)
		step->from = step->first;
	return try(search, &candidate);
}

static void narrow_steps(struct search *search)
{
	size_t i;

	for (i = 0; i < search->program->steps; i++) {
		const struct step *step = &search->program->step[i];
		unsigned int gone;

		for (gone = step->count / 2; gone > 0; gone /= 2) {
			while (narrow(search, i, gone, true) ||
			       narrow(search, i, gone, false))
				;
		}
	}
}

/* All ranges at once: the threshold may need many pages in one of them. */
static void narrow_all(struct search *search)
{
	struct program candidate;
	size_t i;

	while (search->program->pages > 1 && copy(search, &candidate)) {
		unsigned int pages = candidate.pages - 1;

		candidate.pages = pages;
		for (i = 0; i < candidate.steps; i++) {
			struct step *step = &candidate.step[i];

			if (step->first >= pages)
				step->first = pages - 1;
			if (step->count > pages - step->first)
				step->count = pages - step->first;
			if (step->from - step->first >= step->count)
				step->from = step->first;
		}
		if (!try(search, &candidate))
			return;
	}
}

/* Pages before the first that is used. */
static void shift(struct search *search)
{
	unsigned int first = search->program->pages;
	struct program candidate;
	size_t i;

	for (i = 0; i < search->program->steps; i++)
		if (search->program->step[i].first < first)
			first = search->program->step[i].first;
	if (first == 0 || !copy(search, &candidate))
		return;
	candidate.pages -= first;
	for (i = 0; i < candidate.steps; i++) {
		candidate.step[i].first -= first;
		candidate.step[i].from -= first;
	}
	try(search, &candidate);
}

/* Begin accesses with the first page, wait awake, in the simplest layout. */
static void simplify(struct search *search)
{
	struct program candidate;
	size_t i;

	for (i = 0; i < search->program->steps; i++) {
		const struct step *step = &search->program->step[i];

		if (step->sleep && copy(search, &candidate)) {
			candidate.step[i].sleep = false;
			try(search, &candidate);
		}
		step = &search->program->step[i];
		if (step->from != step->first && copy(search, &candidate)) {
			candidate.step[i].from = candidate.step[i].first;
			try(search, &candidate);
		}
	}
	if (search->program->layout != LAYOUT_START &&
	    copy(search, &candidate)) {
		candidate.layout = LAYOUT_START;
		try(search, &candidate);
	}
}

/* If any operation will do, then the plainest: it needs least around it. */
static void plain_operations(struct search *search)
{
	struct program candidate;
	size_t i;

	for (i = 0; i < search->program->steps; i++) {
		enum verb verb = search->program->step[i].verb;

		if (verb_accesses(verb) || verb == VERB_MUNMAP ||
		    !copy(search, &candidate))
			continue;
		candidate.step[i].verb = VERB_MUNMAP;
		try(search, &candidate);
	}
}

/* Number the actors that have steps from 0 on. */
static void drop_actors(struct search *search)
{
	unsigned int name[MAX_ACTORS] = { 0 }, n = 0;
	bool used[MAX_ACTORS] = { false };
	struct program candidate;
	unsigned int actor;
	size_t i;

	for (i = 0; i < search->program->steps; i++)
		used[search->program->step[i].actor] = true;
	for (actor = 0; actor < search->program->actors; actor++)
		if (used[actor])
			name[actor] = n++;
	if (n == search->program->actors || !copy(search, &candidate))
		return;
	candidate.actors = n;
	for (i = 0; i < candidate.steps; i++)
		candidate.step[i].actor = name[candidate.step[i].actor];
	if (!try(search, &candidate) && copy(search, &candidate)) {
		/* perhaps it has to be these: spare those behind them */
		for (actor = candidate.actors; actor > 1 && !used[actor - 1];)
			actor--;
		candidate.actors = actor;
		if (actor < search->program->actors)
			try(search, &candidate);
		else
			program_free(&candidate);
	}
}

int shrink(struct program *program, shrink_fails fails, void *context,
	   size_t limit)
{
	struct search search = {
		.program = program,
		.fails = fails,
		.context = context,
		.left = limit,
	};

	do {
		search.changed = false;
		drop_groups(&search);
		drop_steps(&search);
		narrow_all(&search);
		narrow_steps(&search);
		plain_operations(&search);
		shift(&search);
		simplify(&search);
		drop_actors(&search);
	} while (search.changed && search.left > 0);
	return search.no_memory ? -1 : 0;
}
