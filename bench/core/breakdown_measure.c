/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <linux/membarrier.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "breakdown.h"
#include "bystanders.h"
#include "gate.h"
#include "operate.h"
#include "place.h"
#include "progress.h"
#include "random.h"
#include "samples.h"
#include "team.h"

/* Either side of the stock ceiling of 33, and some way up. */
static const unsigned int sizes[] = { 1,  2,  4,  8,  12, 16, 20, 24,
				      28, 33, 34, 40, 48, 64, 96, 128 };
#define SIZES (sizeof(sizes) / sizeof(*sizes))
#define ROUNDS 16 /* readings of each size in a block */
#define SECONDS 4.0
#define SECONDS_QUICK 1.0
#define BLOCKS_MIN 5
#define PATIENCE 4 /* times as long, until as many blocks are complete */
#define BLOCKS_MAX 60

/* One size in a block: its memory, and what was read of it. */
struct place {
	struct options_work work;
	struct bench_run run;
	const struct bench *bench;
	struct samples alone, busy;
};

enum { OF_OPERATION, OF_MPROTECT, KINDS };

struct session {
	const struct bench *bench[KINDS];
	int kinds; /* 1: both are the same */
	struct bench_run *run;
	size_t threads;
	const volatile int *stop;
	const struct placement *placement;
	struct team *team;
	struct bystanders *bystanders;
	unsigned int size[SIZES];
	size_t sizes;
	struct place *place[KINDS]; /* [sizes] each */
	struct place whole;	    /* of as many pages as were asked for */
	struct samples whole_ns, refill_ns, ipi_alone, ipi_busy;
	bool membarrier;
	char *why;
};

static int fail(struct session *s, const char *what)
{
	int error = errno;

	if (asprintf(&s->why, "%s, %zu threads: %s", what, s->threads,
		     strerror(error)) < 0)
		s->why = NULL;
	errno = error;
	return -1;
}

static bool all_run(const struct session *s)
{
	return progress_of(s->team, s->threads, &s->run->clock, GATE_LIMIT_NS);
}

static int open_place(struct session *s, struct place *place,
		      const struct bench *bench, size_t pages, uint64_t seed)
{
	place->work = *s->run->work;
	place->work.pages = pages;
	place->bench = bench;
	place->run = (struct bench_run){
		.work = &place->work,
		.clock = s->run->clock,
	};
	return bench_map(bench, &place->run, 1, seed, &s->why);
}

static void close_place(struct place *place)
{
	if (place->run.region.around)
		bench_unmap(place->bench, &place->run);
	*place = (struct place){ 0 };
}

/* One operation. Whether the threads ran is in *ran, where that matters. */
static int operate(struct session *s, struct place *place, bool busy,
		   double *ns, bool *ran)
{
	*ran = !busy || all_run(s);
	if (operate_call(place->bench, &place->run, ns) < 0)
		return fail(s, place->bench->operation);
	*ran = *ran && (!busy || all_run(s));
	return 0;
}

static int reset(struct session *s, struct place *place)
{
	access_pass(&place->run.access);
	return place->bench->reset(&place->run) < 0 ? fail(s, "reset") : 0;
}

/*
 * The operation and two passes, not timed: what is timed after that finds in
 * the caches what it would find if there were no other place.
 */
static int warm(struct session *s, struct place *place)
{
	double ns;
	bool ran;

	if (operate(s, place, false, &ns, &ran) < 0 || reset(s, place) < 0)
		return -1;
	access_pass(&place->run.access);
	access_pass(&place->run.access);
	return 0;
}

static int read_place(struct session *s, struct place *place, bool busy)
{
	struct samples *to = busy ? &place->busy : &place->alone;
	double ns;
	bool ran;

	if (warm(s, place) < 0 || operate(s, place, busy, &ns, &ran) < 0)
		return -1;
	if (ran && samples_add(to, ns) < 0)
		return fail(s, "samples");
	return reset(s, place);
}

/* A warm pass, the operation and the pass after it; see breakdown.h. */
static int read_whole(struct session *s, bool busy, bool refill)
{
	struct place *place = &s->whole;
	double pages = (double)place->run.access.pages;
	double warm, ns, more;
	bool ran;

	access_pass(&place->run.access);
	warm = operate_access(&place->run);
	if (operate(s, place, busy, &ns, &ran) < 0)
		return -1;
	more = (operate_access(&place->run) - warm) * pages;
	if (ran && samples_add(refill ? &s->refill_ns : &s->whole_ns,
			       refill ? more : ns + more) < 0)
		return fail(s, "samples");
	return reset(s, place);
}

static int read_ipi(struct session *s, bool busy)
{
	bool ran = !busy || all_run(s);
	uint64_t before, after;

	before = clock_now(&s->run->clock);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) < 0)
		return fail(s, "membarrier");
	after = clock_now(&s->run->clock);
	ran = ran && (!busy || all_run(s));
	if (ran && samples_add(busy ? &s->ipi_busy : &s->ipi_alone,
			       clock_ns(&s->run->clock, before, after)) < 0)
		return fail(s, "samples");
	return 0;
}

/* Every size once, in random order, and what else there is. */
static int read_round(struct session *s, bool busy, uint64_t seed)
{
	int kinds = busy ? 1 : s->kinds;
	bool whole = busy || !s->threads;
	uint32_t order[SIZES];
	size_t i;
	int kind;

	for (i = 0; i < s->sizes; i++)
		order[i] = (uint32_t)i;
	random_shuffle(order, s->sizes, seed);
	for (i = 0; i < s->sizes && !*s->stop; i++)
		for (kind = 0; kind < kinds; kind++)
			if (read_place(s, &s->place[kind][order[i]], busy) < 0)
				return -1;
	if (whole && warm(s, &s->whole) < 0)
		return -1;
	for (i = 0; i < 4 && whole; i++)
		if (read_whole(s, busy, i % 2) < 0)
			return -1;
	for (i = 0; i < 4 && s->membarrier && s->threads; i++)
		if (read_ipi(s, busy) < 0)
			return -1;
	return 0;
}

static int read_rounds(struct session *s, bool busy, uint64_t seed)
{
	size_t round;

	for (round = 0; round < ROUNDS && !*s->stop; round++)
		if (read_round(s, busy, random_stream(seed, round)) < 0)
			return -1;
	return 0;
}

static int read_busy(struct session *s, uint64_t seed)
{
	int status;

	bystanders_restart(s->bystanders, &s->whole.run.access, NULL);
	if (team_run(s->team, s->stop) < 0)
		return errno == EINTR ? 0 : fail(s, "threads");
	status = read_rounds(s, true, seed);
	team_park(s->team);
	return status;
}

static double typical(const struct samples *samples)
{
	return estimate_typical(samples->x, samples->n);
}

/* What the readings of the block typically were. */
static void derive(const struct session *s, struct breakdown_block *block)
{
	const struct place *mprotect = s->place[s->kinds - 1];
	size_t i;

	for (i = 0; i < s->sizes; i++)
		block->point[i] = (struct breakdown_point){
			.alone = typical(&s->place[OF_OPERATION][i].alone),
			.busy = typical(&s->place[OF_OPERATION][i].busy),
			.mprotect = typical(&mprotect[i].alone),
		};
	block->whole = typical(&s->whole_ns);
	block->refill = typical(&s->refill_ns);
	block->ipi = typical(&s->ipi_busy) - typical(&s->ipi_alone);
}

static int open_places(struct session *s, uint64_t seed)
{
	size_t i;
	int kind;

	for (kind = 0; kind < s->kinds; kind++)
		for (i = 0; i < s->sizes; i++)
			if (open_place(s, &s->place[kind][i], s->bench[kind],
				       s->size[i], random_stream(seed, i)) < 0)
				return -1;
	return open_place(s, &s->whole, s->bench[OF_OPERATION],
			  s->run->work->pages, seed);
}

/* Drop all readings. */
static void forget(struct session *s)
{
	size_t i;
	int kind;

	for (kind = 0; kind < KINDS; kind++)
		for (i = 0; i < s->sizes; i++) {
			samples_free(&s->place[kind][i].alone);
			samples_free(&s->place[kind][i].busy);
		}
	samples_free(&s->whole_ns);
	samples_free(&s->refill_ns);
	samples_free(&s->ipi_alone);
	samples_free(&s->ipi_busy);
}

static void close_places(struct session *s)
{
	size_t i;
	int kind;

	forget(s);
	for (kind = 0; kind < KINDS; kind++)
		for (i = 0; i < s->sizes; i++)
			close_place(&s->place[kind][i]);
	close_place(&s->whole);
}

static int measure_block(struct session *s, uint64_t seed,
			 struct breakdown_block *block)
{
	bool busy_first = seed % 2;
	int status = open_places(s, seed);

	if (status == 0)
		status = read_round(s, false, seed); /* to warm up */
	forget(s);
	if (status == 0 && s->threads && busy_first)
		status = read_busy(s, seed);
	if (status == 0)
		status = read_rounds(s, false, seed);
	if (status == 0 && s->threads && !busy_first)
		status = read_busy(s, seed);
	if (status == 0)
		status = place_check(s->placement, s->team, &s->why);
	if (status == 0)
		derive(s, block);
	close_places(s);
	return status;
}

/*
 * Whether that is enough. Where the CPUs are busy with other things there may
 * be blocks in which the threads hardly ran.
 */
static bool is_over(const struct session *s, const struct breakdown_input *in,
		    double seconds, double limit)
{
	size_t complete = 0, i;

	for (i = 0; i < in->blocks; i++)
		complete += isfinite(in->block[i].whole) &&
			    (isfinite(in->block[i].ipi) || !s->threads ||
			     !s->membarrier);
	return in->blocks >= BLOCKS_MIN && seconds > limit &&
	       (complete >= BLOCKS_MIN || seconds > PATIENCE * limit);
}

static int measure_blocks(struct session *s, bool quick, uint64_t seed,
			  struct breakdown_input *in)
{
	const struct clock *clock = &s->run->clock;
	double seconds = quick ? SECONDS_QUICK : SECONDS;
	uint64_t start = clock_now(clock);

	while (!*s->stop && in->blocks < BLOCKS_MAX) {
		struct breakdown_block *block = &in->block[in->blocks];

		if (is_over(s, in,
			    clock_seconds(clock, start, clock_now(clock)),
			    seconds))
			return 0;
		block->point = calloc(s->sizes, sizeof(*block->point));
		if (!block->point)
			return fail(s, "blocks");
		if (measure_block(s, random_stream(seed, in->blocks), block) <
		    0)
			return -1;
		if (!*s->stop)
			in->blocks++;
	}
	return *s->stop != 0;
}

static int open_session(struct session *s, const struct placement *placement)
{
	size_t i;

	for (i = 0; i < SIZES; i++)
		if (sizes[i] != s->run->work->pages)
			s->size[s->sizes++] = sizes[i];
	for (i = 0; i < KINDS; i++) {
		s->place[i] = calloc(SIZES, sizeof(*s->place[i]));
		if (!s->place[i])
			return fail(s, "blocks");
	}
	s->membarrier = syscall(SYS_membarrier,
				MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
				0) == 0;
	s->bystanders = bystanders_open(s->threads);
	if (s->bystanders)
		s->team = team_open(s->threads, placement, 1, bystanders_work,
				    s->bystanders);
	return s->team ? 0 : fail(s, "threads");
}

int breakdown_measure(const struct bench *bench, const struct bench *mprotect,
		      struct bench_run *run, const struct placement *placement,
		      size_t threads, bool quick, uint64_t seed,
		      const volatile int *stop, struct breakdown *out,
		      char **why)
{
	struct breakdown_block blocks[BLOCKS_MAX] = { { 0 } };
	struct session s = {
		.bench = { bench, mprotect },
		.kinds = bench == mprotect ? 1 : KINDS,
		.run = run,
		.threads = threads,
		.stop = stop,
		.placement = placement,
	};
	struct breakdown_input in = {
		.pages = (unsigned int)run->work->pages,
		.threads = threads,
		.block = blocks,
	};
	int status, error;
	size_t i;

	status = open_session(&s, placement);
	if (status == 0)
		status = measure_blocks(&s, quick, seed, &in);
	in.size = s.size;
	in.sizes = s.sizes;
	if (!s.membarrier)
		in.no_ipi = "no membarrier(2) here";
	if (status >= 0 && breakdown_derive(&in, out) < 0)
		status = fail(&s, "breakdown");
	error = errno;
	team_close(s.team);
	bystanders_close(s.bystanders);
	for (i = 0; i < KINDS; i++)
		free(s.place[i]);
	for (i = 0; i < BLOCKS_MAX; i++)
		free(blocks[i].point);
	errno = error;
	*why = s.why;
	return status;
}
