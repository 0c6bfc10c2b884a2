/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "simmachine.h"

#define NOTHING (-1L) /* no physical page: an empty one on demand */

/* An entry of the page table. */
struct entry {
	bool mapped;
	enum rights rights;
	bool protect; /* by userfaultfd */
	bool copy;    /* on write */
	long frame;   /* of the file */
	long physical;
};

struct cached {
	bool valid, write;
	long physical;
};

struct simmachine {
	enum plant plant;
	enum verb verb;
	unsigned int threshold;
	uint64_t state;

	const struct program *program;
	uint32_t nonce;
	struct entry *entry;   /* [pages] */
	struct cached *cached; /* [actors][pages] */
	long *file;	       /* [frames] physical page */
	long *moved;	       /* [pages] physical page that mremap took */
	struct entry *child;   /* [pages], NULL before a fork */
	uint64_t *memory;      /* [physical pages][actors] */
	long physical;	       /* pages of them */
	bool lazy[64];
	unsigned int operations; /* in this group */
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* physical memory ------------------------------------------------------ */

static uint64_t *slots(const struct simmachine *machine, long physical)
{
	return &machine->memory[(size_t)physical * machine->program->actors];
}

static long new_physical(struct simmachine *machine)
{
	size_t actors = machine->program->actors;

	machine->memory = must(reallocarray(machine->memory,
					    (size_t)machine->physical + 1,
					    actors * sizeof(uint64_t)));
	memset(slots(machine, machine->physical), 0, actors * sizeof(uint64_t));
	return machine->physical++;
}

static bool has_file(const struct simmachine *machine)
{
	return machine->program->memory == MEMORY_SHARED ||
	       machine->program->memory == MEMORY_HUGETLB;
}

static long back(struct simmachine *machine, struct entry *entry)
{
	if (has_file(machine)) {
		long *physical = &machine->file[entry->frame];

		if (*physical == NOTHING)
			*physical = new_physical(machine);
		entry->physical = *physical;
	} else if (entry->physical == NOTHING) {
		entry->physical = new_physical(machine);
	}
	return entry->physical;
}

/* TLBs ----------------------------------------------------------------- */

static struct cached *tlb(const struct simmachine *machine, unsigned int actor,
			  unsigned int page)
{
	return &machine->cached[actor * machine->program->pages + page];
}

static void flush_actor(struct simmachine *machine, unsigned int actor,
			unsigned int first, unsigned int end)
{
	for (; first < end; first++)
		tlb(machine, actor, first)->valid = false;
}

/* Whether the fault keeps an actor's TLB from being flushed at all. */
static bool is_spared(const struct simmachine *machine, unsigned int actor,
		      unsigned int by)
{
	switch (machine->plant) {
	case PLANT_SKIP_REMOTE:
		return actor != by;
	case PLANT_SKIP_ONE:
		return actor == machine->program->actors - 1 && actor != by;
	case PLANT_SKIP_LOCAL:
		return actor == by;
	case PLANT_SKIP_CONCURRENT:
		return machine->operations > 1 && actor != by;
	default:
		return false;
	}
}

static void flush(struct simmachine *machine, unsigned int by,
		  unsigned int first, unsigned int count)
{
	unsigned int end = first + count, actor;

	if (count > machine->threshold) {
		if (machine->plant == PLANT_SKIP_FULL)
			return;
		first = 0;
		end = machine->program->pages;
	} else if (machine->plant == PLANT_SKIP_FIRST) {
		first++;
	} else if (machine->plant == PLANT_SKIP_LAST) {
		end--;
	} else if (machine->plant == PLANT_ONE_PAGE) {
		end = first + 1;
	}
	for (actor = 0; actor < machine->program->actors; actor++)
		if (!machine->lazy[actor] && !is_spared(machine, actor, by))
			flush_actor(machine, actor, first, end);
}

static void wake(struct simmachine *machine, unsigned int actor)
{
	if (machine->lazy[actor] && machine->plant != PLANT_SKIP_LAZY)
		flush_actor(machine, actor, 0, machine->program->pages);
	machine->lazy[actor] = false;
}

/* accesses ------------------------------------------------------------- */

static void copy_on_write(struct simmachine *machine, unsigned int actor,
			  unsigned int page)
{
	struct entry *entry = &machine->entry[page];
	long old = entry->physical;

	entry->copy = false;
	if (old == NOTHING)
		return;
	entry->physical = new_physical(machine);
	memcpy(slots(machine, entry->physical), slots(machine, old),
	       machine->program->actors * sizeof(uint64_t));
	if (machine->plant != PLANT_SKIP_COPY)
		flush(machine, actor, page, 1);
	tlb(machine, actor, page)->valid = false;
}

/* The physical page an access reaches, or NOTHING: it faults. */
static long translate(struct simmachine *machine, unsigned int actor,
		      unsigned int page, bool write)
{
	struct cached *cached = tlb(machine, actor, page);
	struct entry *entry = &machine->entry[page];

	if (cached->valid && (!write || cached->write))
		return cached->physical;
	if (!entry->mapped || !(entry->rights & RIGHTS_R) ||
	    (write && (entry->rights != RIGHTS_RW || entry->protect)))
		return NOTHING;
	if (write && entry->copy)
		copy_on_write(machine, actor, page);
	*cached = (struct cached){ true, write, back(machine, entry) };
	return cached->physical;
}

static void access_pages(struct simmachine *machine, size_t i,
			 struct outcome *outcome)
{
	const struct step *step = &machine->program->step[i];
	unsigned int actors = machine->program->actors, n;

	for (n = 0; n < step->count; n++) {
		unsigned int page = step->first + (step->from - step->first +
						   n) % step->count;
		unsigned int at = page - step->first;
		long physical = translate(machine, step->actor, page,
					  step->verb == VERB_WRITE);

		outcome->flag[at] = physical == NOTHING;
		if (physical == NOTHING)
			continue;
		if (step->verb == VERB_WRITE)
			slots(machine, physical)[step->actor] =
				subject_value(machine->nonce, i, page);
		else
			memcpy(&outcome->value[(size_t)at * actors],
			       slots(machine, physical),
			       actors * sizeof(uint64_t));
	}
}

/* operations ----------------------------------------------------------- */

static void fork_child(struct simmachine *machine)
{
	unsigned int page, pages = machine->program->pages;

	free(machine->child);
	machine->child = must(calloc(pages, sizeof(*machine->child)));
	for (page = 0; page < pages; page++) {
		machine->child[page] = machine->entry[page];
		machine->entry[page].copy = true;
	}
}

static void truncate_file(struct simmachine *machine, const struct step *step)
{
	size_t frames = program_frames(machine->program), i;

	for (i = (size_t)machine->entry[step->first].frame; i < frames; i++)
		machine->file[i] = NOTHING;
}

/* Another physical page with the same content. */
static void move_page(struct simmachine *machine, struct entry *entry)
{
	long old = entry->physical;

	if (old == NOTHING)
		return;
	entry->physical = new_physical(machine);
	memcpy(slots(machine, entry->physical), slots(machine, old),
	       machine->program->actors * sizeof(uint64_t));
	if (has_file(machine))
		machine->file[entry->frame] = entry->physical;
}

static void operate_page(struct simmachine *machine, size_t i,
			 unsigned int page)
{
	const struct step *step = &machine->program->step[i];
	const struct verb_info *info = &verb_info[step->verb];
	struct entry *entry = &machine->entry[page];

	if (step->verb == VERB_MREMAP)
		machine->moved[page] = back(machine, entry);
	if (info->rights != RIGHTS_KEPT)
		entry->rights = info->rights;
	if (info->protect >= 0)
		entry->protect = info->protect;
	if (info->partial && info->effect == EFFECT_NONE)
		move_page(machine, entry);
	if (info->effect == EFFECT_NONE || step->verb == VERB_TRUNCATE)
		return;
	if (info->effect == EFFECT_ZERO) {
		if (has_file(machine))
			machine->file[entry->frame] = NOTHING;
		entry->physical = NOTHING;
		entry->copy = false;
		return;
	}
	*entry = (struct entry){
		.mapped = info->effect == EFFECT_NEW,
		.rights = info->rights,
		.frame = (long)(program_frame(machine->program, i) + page -
				step->first),
		.physical = NOTHING,
	};
	if (info->effect == EFFECT_NEW)
		machine->moved[page] = NOTHING;
}

static void operate(struct simmachine *machine, size_t i,
		    struct outcome *outcome)
{
	const struct step *step = &machine->program->step[i];
	unsigned int page, first = step->first, count = step->count;

	machine->operations++;
	for (page = first; page < first + count; page++)
		operate_page(machine, i, page);
	memset(outcome->flag, 1, count);
	if (step->verb == VERB_FORK)
		fork_child(machine);
	if (step->verb == VERB_TRUNCATE)
		truncate_file(machine, step);
	if (verb_info[step->verb].alone) {
		first = 0;
		count = machine->program->pages;
	}
	if (machine->plant != PLANT_SKIP_VERB || machine->verb != step->verb)
		flush(machine, step->actor, first, count);
}

/* the subject ---------------------------------------------------------- */

static void close_machine(void *context)
{
	struct simmachine *machine = context;

	free(machine->entry);
	free(machine->cached);
	free(machine->file);
	free(machine->moved);
	free(machine->child);
	free(machine->memory);
	machine->entry = machine->child = NULL;
	machine->cached = NULL;
	machine->file = machine->moved = NULL;
	machine->memory = NULL;
	machine->physical = 0;
}

static int open_machine(void *context, const struct program *program,
			uint32_t nonce, char **why)
{
	struct simmachine *machine = context;
	size_t frames = program_frames(program), i;

	*why = NULL;
	machine->program = program;
	machine->nonce = nonce;
	machine->entry = must(calloc(program->pages, sizeof(struct entry)));
	machine->cached = must(calloc((size_t)program->pages * program->actors,
				      sizeof(struct cached)));
	machine->file = must(calloc(frames, sizeof(long)));
	machine->moved = must(calloc(program->pages, sizeof(long)));
	for (i = 0; i < frames; i++)
		machine->file[i] = NOTHING;
	for (i = 0; i < program->pages; i++) {
		machine->entry[i] = (struct entry){
			.mapped = true,
			.rights = RIGHTS_RW,
			.frame = (long)i,
			.physical = NOTHING,
		};
		machine->moved[i] = NOTHING;
	}
	memset(machine->lazy, 0, sizeof(machine->lazy));
	return 0;
}

/* Whether all that must come before step i of the group is done. */
static bool is_ready(const struct program *program, size_t first, size_t i,
		     const bool *done)
{
	const struct step *step = &program->step[i];
	size_t j;

	if (done[i - first] || (step->after >= 0 && !done[step->after]))
		return false;
	for (j = first; j < i; j++)
		if (program->step[j].actor == step->actor && !done[j - first])
			return false;
	return true;
}

static void perform(struct simmachine *machine, size_t i,
		    struct outcome *outcome)
{
	const struct step *step = &machine->program->step[i];

	wake(machine, step->actor);
	outcome->cpu = step->actor;
	if (verb_accesses(step->verb))
		access_pages(machine, i, outcome);
	else
		operate(machine, i, outcome);
}

static int run_group(void *context, size_t first, size_t end,
		     struct outcome *outcome, char **why)
{
	struct simmachine *machine = context;
	size_t left = end - first, i;
	bool done[64] = { false };

	*why = NULL;
	machine->operations = 0;
	for (i = first; i < end; i++)
		if (machine->program->step[i].sleep)
			machine->lazy[machine->program->step[i].actor] = true;
	while (left > 0) {
		machine->state = random_stream(machine->state, left);
		i = first + machine->state % (end - first);
		if (!is_ready(machine->program, first, i, done))
			continue;
		perform(machine, i, &outcome[i]);
		done[i - first] = true;
		left--;
	}
	return 0;
}

static int show(const struct simmachine *machine, long physical, uint64_t *slot)
{
	size_t size = machine->program->actors * sizeof(*slot);

	if (physical == NOTHING)
		memset(slot, 0, size);
	else
		memcpy(slot, slots(machine, physical), size);
	return 0;
}

static int view(void *context, unsigned int page, size_t frame, uint64_t *slot)
{
	const struct simmachine *machine = context;
	const struct entry *entry = &machine->entry[page];

	if (has_file(machine))
		return show(machine, machine->file[frame], slot);
	if (entry->mapped && entry->frame == (long)frame)
		return show(machine, entry->physical, slot);
	if (machine->moved[page] != NOTHING)
		return show(machine, machine->moved[page], slot);
	return -1;
}

static int snapshot(void *context, unsigned int page, uint64_t *slot)
{
	const struct simmachine *machine = context;

	if (!machine->child || !machine->child[page].mapped ||
	    !(machine->child[page].rights & RIGHTS_R))
		return -1;
	return show(machine, machine->child[page].physical, slot);
}

struct simmachine *simmachine_new(enum plant plant, enum verb verb,
				  unsigned int threshold, uint64_t seed)
{
	struct simmachine *machine = calloc(1, sizeof(*machine));

	if (machine)
		*machine = (struct simmachine){
			.plant = plant,
			.verb = verb,
			.threshold = threshold,
			.state = seed,
		};
	return machine;
}

struct subject simmachine_subject(struct simmachine *machine)
{
	return (struct subject){
		.open = open_machine,
		.run = run_group,
		.view = view,
		.snapshot = snapshot,
		.close = close_machine,
		.context = machine,
	};
}

void simmachine_seed(struct simmachine *machine, uint64_t seed)
{
	machine->state = seed;
}

void simmachine_free(struct simmachine *machine)
{
	free(machine);
}
