/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_random: random programs, and those that somebody wrote down.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "random.h"
#include "session_parts.h"
#include "shrink.h"

/* Programs of each memory in one process. */
#define RANDOM_PROGRAMS 64
#define REPLAY_REPEAT 100

/* How often to run a program, for a race to be seen again. */
#define SHRINK_REPEAT 25
#define SHRINK_ONE_SECONDS 2

/* Programs to try, and time for them. */
#define SHRINK_LIMIT 600
#define SHRINK_SECONDS 30

/* random --------------------------------------------------------------- */

struct shrinking {
	struct session *session;
	struct finding *finding;
	double deadline;
};

static bool fails(void *context, const struct program *program)
{
	struct shrinking *shrinking = context;
	const struct session *session = shrinking->session;
	double one = batch_clock() + SHRINK_ONE_SECONDS;
	struct batch batch = {
		.placement = session->placement,
		.stop = session->stop,
		.program = program,
		.n = 1,
		.repeat = program->memory == MEMORY_THP ? 1 : SHRINK_REPEAT,
		.deadline = one < shrinking->deadline ? one :
							shrinking->deadline,
	};
	struct batch_failure failure;
	struct batch_result *result;
	bool stale;

	if (batch_clock() > shrinking->deadline || *session->stop)
		return false;
	result = batch_run(&batch, &failure);
	if (!result) {
		free(failure.why);
		return false;
	}
	stale = result->stale >= 0;
	if (stale)
		*shrinking->finding = result->finding;
	batch_free(&batch, result);
	return stale;
}

static void shrink_failure(struct session *session)
{
	struct shrinking shrinking = {
		.session = session,
		.finding = &session->finding,
		.deadline = batch_clock() + SHRINK_SECONDS,
	};

	if (shrink(&session->program, fails, &shrinking, SHRINK_LIMIT) < 0)
		session->failed = strdup(strerror(ENOMEM));
	session->shrunk = true;
}

static int add_random(struct session *session, size_t i, uint64_t number,
		      struct list *list)
{
	const struct generate_bounds bounds = {
		.threshold = session->bounds.threshold,
		.actors = session->bounds.threads + 1,
		.memory = session->tally[i].memory,
	};
	struct program program;

	if (generate(&bounds, random_stream(session->seed, number), &program) <
	    0)
		return -1;
	if (list_add(list, &program, i) < 0) {
		program_free(&program);
		return -1;
	}
	return 0;
}

/* Programs for one process: of all small memories, or one of huge pages. */
static void random_batch(struct session *session, bool huge, uint64_t *number)
{
	struct list list = { 0 };
	size_t n, i;

	for (n = 0; n < (huge ? 1 : RANDOM_PROGRAMS); n++)
		for (i = 0; i < session->tallies; i++)
			if (!session->tally[i].off &&
			    (session->tally[i].memory == MEMORY_THP) == huge &&
			    add_random(session, i, (*number)++, &list) < 0)
				session->failed = strdup(strerror(ENOMEM));
	if (!session->failed)
		list_run(session, &list);
	list_free(&list);
}

void session_random(struct session *session)
{
	uint64_t number = 0;

	while (session_is_any_on(session) && !session_is_over(session)) {
		random_batch(session, false, &number);
		if (!session_is_over(session))
			random_batch(session, true, &number);
	}
	if (session->stale && !session->failed)
		shrink_failure(session);
}

/* replay --------------------------------------------------------------- */

void session_replay(struct session *session, const struct program *program)
{
	struct tally *tally =
		session_tally(session, SESSION_REPLAY, NULL, program->memory);

	while (tally && !tally->off && !session_is_over(session)) {
		struct list list = { 0 };
		struct program copy;
		size_t n;

		for (n = 0;
		     n < (program->memory == MEMORY_THP ? 1 : REPLAY_REPEAT);
		     n++)
			if (program_copy(&copy, program) == 0 &&
			    list_add(&list, &copy, 0) < 0)
				program_free(&copy);
		list_run(session, &list);
		list_free(&list);
	}
}
