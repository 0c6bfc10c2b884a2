/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "session_parts.h"

/* Checks of each kind in one process. */
#define ROUNDS 4

/* Programs that cannot run before no more are tried. */
#define REFUSED_MOST 8

/* Longer than asked for, where not everything has had its turn yet. */
#define GRACE_SECONDS 30

/* tallies -------------------------------------------------------------- */

struct tally *session_tally(struct session *session, const char *name,
			    const struct check_kind *kind, enum memory memory)
{
	struct tally *tally = reallocarray(session->tally, session->tallies + 1,
					   sizeof(*tally));

	if (!tally)
		return NULL;
	session->tally = tally;
	tally = &session->tally[session->tallies++];
	*tally = (struct tally){
		.name = name,
		.kind = kind,
		.memory = memory,
	};
	return tally;
}

static void turn_off(struct tally *tally, const char *reason)
{
	tally->off = true;
	if (!tally->reason)
		tally->reason = strdup(reason);
}

int session_add(struct session *session, const struct check_kind *kind)
{
	int memory;

	for (memory = 0; memory < MEMORIES; memory++) {
		struct tally *tally;

		if (!check_applies(kind, (enum memory)memory))
			continue;
		tally = session_tally(session, kind->name, kind,
				      (enum memory)memory);
		if (!tally)
			return -1;
		tally->all = check_count(kind, (enum memory)memory,
					 &session->bounds);
		if (tally->all == 0)
			turn_off(tally, memory == MEMORY_HUGETLB ?
						"fewer than 2 free huge pages "
						"(vm.nr_hugepages)" :
						"nothing to test");
	}
	return 0;
}

int session_add_random(struct session *session)
{
	int memory;

	for (memory = 0; memory <= MEMORY_THP; memory++)
		if (!session_tally(session, SESSION_RANDOM, NULL,
				   (enum memory)memory))
			return -1;
	return 0;
}

size_t session_programs(const struct session *session)
{
	size_t programs = 0, i;

	for (i = 0; i < session->tallies; i++)
		programs += session->tally[i].programs;
	return programs;
}

void session_free(struct session *session)
{
	size_t i;

	for (i = 0; i < session->tallies; i++)
		free(session->tally[i].reason);
	free(session->tally);
	free(session->failed);
	program_free(&session->program);
}

/* batches -------------------------------------------------------------- */

void list_free(struct list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		program_free(&list->program[i]);
	free(list->program);
	free(list->tally);
	*list = (struct list){ 0 };
}

int list_add(struct list *list, const struct program *program, size_t tally)
{
	struct program *programs =
		reallocarray(list->program, list->n + 1, sizeof(*programs));
	size_t *tallies =
		reallocarray(list->tally, list->n + 1, sizeof(*tallies));

	if (programs)
		list->program = programs;
	if (tallies)
		list->tally = tallies;
	if (!programs || !tallies)
		return -1;
	list->program[list->n] = *program;
	list->tally[list->n++] = tally;
	return 0;
}

static void count_program(struct tally *tally, const struct program *program)
{
	size_t i;

	tally->programs++;
	for (i = 0; i < program->steps; i++) {
		const struct step *step = &program->step[i];

		if (verb_accesses(step->verb))
			continue;
		tally->operations++;
		if (tally->least == 0 || step->count < tally->least)
			tally->least = step->count;
		if (step->count > tally->most)
			tally->most = step->count;
	}
}

static void count(struct tally *tally, const struct program *program,
		  const struct batch_entry *entry)
{
	if (!entry->ran)
		return;
	switch (entry->verdict) {
	case VERDICT_CLEAN:
		count_program(tally, program);
		break;
	case VERDICT_NOTHING:
		/* what never succeeds need not be tried again and again */
		if (++tally->nothing >= 3 && tally->programs == 0)
			turn_off(tally, "the kernel took no page");
		break;
	case VERDICT_CANNOT:
		/* of random programs, others may do without what failed */
		if (tally->kind ||
		    (++tally->refused >= REFUSED_MOST && tally->programs == 0))
			turn_off(tally,
				 entry->why[0] ? entry->why : "out of memory");
		break;
	case VERDICT_STALE:
		break;
	}
}

/* True if a kind of check has not run yet; of random programs, if none has. */
static bool has_gaps(const struct session *session)
{
	size_t i;

	for (i = 0; i < session->tallies; i++)
		if (session->tally[i].kind && !session->tally[i].off &&
		    session->tally[i].programs == 0)
			return true;
	return session_programs(session) == 0;
}

/* A machine may be too busy to run it all in time: then it takes longer. */
static double deadline(const struct session *session)
{
	return session->deadline + (has_gaps(session) ? GRACE_SECONDS : 0);
}

static void fail(struct session *session, const struct list *list,
		 const struct batch_failure *failure)
{
	session->failed = failure->why;
	session->cannot = failure->cannot;
	session->died = failure->running >= 0;
	if (session->died && program_copy(&session->program,
					  &list->program[failure->running]) < 0)
		session->died = false;
}

void list_run(struct session *session, struct list *list)
{
	struct batch batch = {
		.placement = session->placement,
		.stop = session->stop,
		.program = list->program,
		.n = list->n,
		.repeat = 1,
		.deadline = deadline(session),
	};
	struct batch_failure failure;
	struct batch_result *result;
	size_t i;

	if (list->n == 0)
		return;
	result = batch_run(&batch, &failure);
	if (!result) {
		fail(session, list, &failure);
		return;
	}
	for (i = 0; i < list->n; i++)
		count(&session->tally[list->tally[i]], &list->program[i],
		      &result->entry[i]);
	if (result->stale >= 0) {
		session->stale = true;
		session->where = &session->tally[list->tally[result->stale]];
		session->finding = result->finding;
		if (program_copy(&session->program,
				 &list->program[result->stale]) < 0)
			session->failed = strdup(strerror(ENOMEM));
	}
	batch_free(&batch, result);
}

bool session_is_over(const struct session *session)
{
	return session->stale || session->failed || *session->stop ||
	       batch_clock() > deadline(session);
}

/* systematic ----------------------------------------------------------- */

/* The next check of a tally. 0, or -1 with ENOMEM. */
static int add_check(struct session *session, size_t i, struct list *list)
{
	struct tally *tally = &session->tally[i];
	struct check check = check_nth(tally->kind, tally->memory,
				       &session->bounds, tally->next);
	struct program program;

	if (check_program(&check, random_stream(session->seed, tally->next),
			  &program) < 0)
		return -1;
	tally->next++;
	if (list_add(list, &program, i) < 0) {
		program_free(&program);
		return -1;
	}
	return 0;
}

/*
 * One process for some of each kind; huge pages in one each, and first: these
 * are the fewer ones, so that a short run gets to all.
 */
static void check_round(struct session *session, bool huge)
{
	const size_t rounds = has_gaps(session) ? 1 : ROUNDS;
	struct list list = { 0 };
	size_t i, n;

	for (n = 0; n < rounds; n++)
		for (i = 0; i < session->tallies && !session_is_over(session);
		     i++) {
			if (session->tally[i].off ||
			    (session->tally[i].memory == MEMORY_THP) != huge ||
			    (huge && n > 0))
				continue;
			if (add_check(session, i, &list) < 0) {
				session->failed = strdup(strerror(ENOMEM));
				break;
			}
			if (huge) {
				list_run(session, &list);
				list_free(&list);
			}
		}
	list_run(session, &list);
	list_free(&list);
}

bool session_is_any_on(const struct session *session)
{
	size_t i;

	for (i = 0; i < session->tallies; i++)
		if (!session->tally[i].off)
			return true;
	return false;
}

void session_check(struct session *session)
{
	while (session_is_any_on(session) && !session_is_over(session)) {
		check_round(session, true);
		if (!session_is_over(session))
			check_round(session, false);
	}
}
