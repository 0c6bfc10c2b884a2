/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generate: rounds of "threads load translations, some operate, threads test".
 *
 * What is tested is mostly what has just been changed, and mostly after the
 * call has returned: this is where a fault shows. Some accesses are concurrent
 * with the operation, which is where a race may be.
 */
#include <config.h>

#include <string.h>

#include "generate.h"
#include "random.h"

#define THP_PAGES 512
#define ROUNDS 6
#define PAGES_BEYOND 30 /* more than the threshold */

struct source {
	uint64_t state;
	struct program *program;
	unsigned int group;
	bool mapped[THP_PAGES + 1 + 1024];
	int status;
};

/* A random number below n. */
static unsigned int below(struct source *source, unsigned int n)
{
	source->state = random_stream(source->state, 1);
	return (unsigned int)((source->state >> 16) % n);
}

static bool chance(struct source *source, unsigned int percent)
{
	return below(source, 100) < percent;
}

static void add(struct source *source, struct step step)
{
	step.group = source->group;
	if (!verb_accesses(step.verb))
		step.from = step.first;
	if (program_add(source->program, &step) < 0)
		source->status = -1;
}

/* A range of at least one page within first..first + count - 1. */
static void pick_range(struct source *source, unsigned int first,
		       unsigned int count, struct step *step)
{
	step->first = first;
	step->count = count;
	if (chance(source, 40))
		return;
	step->first = first + below(source, count);
	step->count = 1 + below(source, first + count - step->first);
}

static void add_access(struct source *source, unsigned int actor,
		       unsigned int first, unsigned int count, int after,
		       bool sleep)
{
	struct step step = {
		.verb = chance(source, 50) ? VERB_READ : VERB_WRITE,
		.actor = actor,
		.after = after,
		.sleep = sleep,
	};

	pick_range(source, first, count, &step);
	step.from = step.first + below(source, step.count);
	add(source, step);
}

static void add_holds(struct source *source)
{
	unsigned int actor;

	for (actor = 0; actor < source->program->actors; actor++)
		if (chance(source, 75))
			add_access(source, actor, 0, source->program->pages, -1,
				   false);
	source->group++;
}

/* operations ----------------------------------------------------------- */

static bool all_mapped(const struct source *source, const struct step *step)
{
	return !memchr(&source->mapped[step->first], 0, step->count);
}

/* An operation that can be done to the range. */
static enum verb pick_verb(struct source *source, const struct step *step,
			   bool alone)
{
	for (;;) {
		enum verb verb =
			(enum verb)(VERB_MPROTECT_R +
				    below(source, VERBS - VERB_MPROTECT_R));
		const struct verb_info *info = &verb_info[verb];

		if (!info->random ||
		    !(info->memories & 1u << source->program->memory) ||
		    (info->needs_mapped && !all_mapped(source, step)) ||
		    (info->alone && !alone))
			continue;
		return verb;
	}
}

static void apply(struct source *source, const struct step *step)
{
	enum effect effect = verb_info[step->verb].effect;

	if (effect == EFFECT_GONE)
		memset(&source->mapped[step->first], false, step->count);
	else if (effect == EFFECT_NEW)
		memset(&source->mapped[step->first], true, step->count);
}

/*
 * One operation, or one each by several actors on parts of their own. Returns
 * how many; they are the first steps of the group.
 */
static unsigned int add_operations(struct source *source, struct step *step)
{
	struct program *program = source->program;
	unsigned int n = 1, i, part;

	if (chance(source, 30) && program->pages >= program->actors)
		n = 2 + below(source, program->actors - 1);
	part = program->pages / n;
	for (i = 0; i < n; i++) {
		step[i] = (struct step){
			.actor = n == 1 ? below(source, program->actors) : i,
			.after = -1,
		};
		pick_range(source, i * part, part, &step[i]);
		step[i].verb = pick_verb(source, &step[i], n == 1);
		add(source, step[i]);
	}
	return n;
}

static bool is_operator(const struct step *step, unsigned int n,
			unsigned int actor)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (step[i].actor == actor)
			return true;
	return false;
}

static void add_round(struct source *source)
{
	struct step step[64];
	unsigned int n, actor, of;

	add_holds(source);
	n = add_operations(source, step);
	for (actor = 0; actor < source->program->actors; actor++) {
		bool operates = is_operator(step, n, actor);

		of = below(source, n);
		if (!chance(source, 85))
			continue;
		if (chance(source, 15))
			add_access(source, actor, step[of].first,
				   step[of].count, -1, false);
		else
			add_access(source, actor, step[of].first,
				   step[of].count, (int)of,
				   actor > 0 && !operates &&
					   chance(source, 20));
	}
	source->group++;
	for (of = 0; of < n; of++)
		apply(source, &step[of]);
}

int generate(const struct generate_bounds *bounds, uint64_t seed,
	     struct program *program)
{
	struct source source = { .state = seed, .program = program };
	unsigned int rounds, most = bounds->threshold + PAGES_BEYOND;

	memset(source.mapped, true, sizeof(source.mapped));
	if (most > 1024)
		most = 1024;
	*program = (struct program){
		.memory = bounds->memory,
		.layout = (enum layout)below(&source, LAYOUTS),
		.actors = 2 + below(&source, bounds->actors - 1),
		.pages = bounds->memory == MEMORY_THP ?
				 THP_PAGES :
				 1 + below(&source, most),
	};
	if (bounds->memory == MEMORY_HUGETLB)
		program->at = below(&source, 512);
	if (chance(&source, 50) && bounds->memory != MEMORY_THP)
		program->pages = 1 + below(&source, 12);
	add(&source, (struct step){
			     .verb = VERB_WRITE,
			     .count = program->pages,
			     .after = -1,
		     });
	source.group++;
	for (rounds = 1 + below(&source, ROUNDS); rounds > 0; rounds--)
		add_round(&source);
	if (source.status < 0)
		program_free(program);
	return source.status;
}
