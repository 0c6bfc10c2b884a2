/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proof.h"
#include "why.h"

#define OPERATIONS 32	 /* in a window */
#define FLUSHES_MAX 4096 /* of them, about */
#define BUFFER_KIB 1024	 /* for each CPU */

struct spans {
	struct flush_span *span; /* [room] */
	size_t n, room;
};

struct proof {
	struct trace *trace;
	double ceiling;
	struct flush *flush; /* [room], of what was read */
	size_t flushes, room;
	struct spans spans[PROOF_WINDOWS];
};

static int fail(char **why, const char *what)
{
	return why_set(why, 0, "%s: %s", what, strerror(errno));
}

/* The next span, which begins now; NULL on ENOMEM. */
static struct flush_span *begin_span(struct spans *spans)
{
	struct flush_span *span;

	if (spans->n == spans->room) {
		size_t room = 2 * spans->room + PROOF_PAGES;

		span = reallocarray(spans->span, room, sizeof(*span));
		if (!span)
			return NULL;
		spans->span = span;
		spans->room = room;
	}
	span = &spans->span[spans->n++];
	span->to = clock_raw_ns(); /* after a fork this copies the page */
	span->from = clock_raw_ns();
	return span;
}

static int keep(void *context, const struct trace_event *event)
{
	struct proof *proof = context;

	if (proof->flushes == proof->room) {
		size_t room = proof->room ? 2 * proof->room : FLUSHES_MAX;
		struct flush *more =
			reallocarray(proof->flush, room, sizeof(*proof->flush));

		if (!more)
			return -1;
		proof->flush = more;
		proof->room = room;
	}
	proof->flush[proof->flushes++] = flush_of(event);
	return 0;
}

/* Trace no more and keep what there was. */
static int stop_and_read(struct proof *proof, char **why)
{
	if (trace_stop(proof->trace, why) < 0)
		return -1;
	proof->flushes = 0;
	if (trace_read(proof->trace, keep, proof) != 0)
		return fail(why, "cannot read the trace");
	return 0;
}

int proof_begin(struct proof *proof, char **why)
{
	int i;

	for (i = 0; i < PROOF_WINDOWS; i++)
		proof->spans[i].n = 0;
	return trace_start(proof->trace, why);
}

/* Calls of 1, 2, ... pages. */
static int protect_all(struct spans *spans, const struct region *region,
		       char **why)
{
	size_t n;

	for (n = 1; n <= PROOF_PAGES; n++) {
		struct flush_span *span = begin_span(spans);

		if (!span)
			return fail(why, "trace");
		if (mprotect(region->target, n * REGION_PAGE, PROT_READ) < 0)
			return fail(why, "mprotect");
		span->to = clock_raw_ns();
		if (mprotect(region->target, n * REGION_PAGE,
			     PROT_READ | PROT_WRITE) < 0)
			return fail(why, "mprotect");
		region_dirty(region);
	}
	return 0;
}

/*
 * Another thread of ours may flush meanwhile and make it unclear; one try is
 * enough, as a rule.
 */
static int find_ceiling(struct proof *proof, const struct region *region,
			char **why)
{
	const struct spans *spans = &proof->spans[PROOF_ALONE];
	int tries;

	proof->ceiling = NAN;
	for (tries = 0; tries < 3 && isnan(proof->ceiling); tries++) {
		if (proof_begin(proof, why) < 0 ||
		    protect_all(&proof->spans[PROOF_ALONE], region, why) < 0 ||
		    stop_and_read(proof, why) < 0)
			return -1;
		proof->ceiling = flushes_ceiling(proof->flush, proof->flushes,
						 spans->span, spans->n,
						 gettid());
	}
	return 0;
}

struct proof *proof_open(char **why)
{
	const struct trace_config config = {
		.want = &flush_want,
		.wants = 1,
		.whose = TRACE_OURS,
		.buffer_kib = BUFFER_KIB,
	};
	struct proof *proof = calloc(1, sizeof(*proof));
	struct region region;

	*why = NULL;
	if (!proof)
		return NULL;
	proof->trace = trace_open(&config, why);
	if (proof->trace &&
	    region_open(&region, PROOF_PAGES, 1, REGION_SMALL, 0, why) == 0) {
		int status = find_ceiling(proof, &region, why);

		region_close(&region);
		if (status == 0)
			return proof;
	}
	proof_close(proof);
	return NULL;
}

double proof_ceiling(const struct proof *proof)
{
	return proof->ceiling;
}

struct flush_implied proof_implied(const struct proof *proof,
				   const struct bench *bench,
				   const struct options_work *work)
{
	return (struct flush_implied){
		.claim = bench->flushes,
		.pages = work->pages,
		.ceiling = proof->ceiling,
	};
}

/* So many operations that what they do fits into the buffer. */
static size_t operations(const struct bench *bench, const struct bench_run *run)
{
	size_t n = OPERATIONS;

	if (bench->flushes != FLUSH_RANGE && n > FLUSHES_MAX / run->work->pages)
		n = FLUSHES_MAX / run->work->pages;
	return n ? n : 1;
}

int proof_operate(struct proof *proof, const struct bench *bench,
		  struct bench_run *run, enum proof_window window,
		  const volatile int *stop, char **why)
{
	size_t n = operations(bench, run), i;

	for (i = 0; i < n && !*stop; i++) {
		struct flush_span *span = begin_span(&proof->spans[window]);

		if (!span)
			return fail(why, "trace");
		if (bench->op(run) < 0)
			return fail(why, bench->operation);
		span->to = clock_raw_ns();
		access_pass(&run->access);
		if (bench->reset(run) < 0)
			return fail(why, "reset");
	}
	return 0;
}

int proof_end(struct proof *proof, const struct bench *bench,
	      const struct bench_run *run,
	      struct flush_tally tally[PROOF_WINDOWS], char **why)
{
	struct flush_implied implied = proof_implied(proof, bench, run->work);
	double lost;
	int i;

	if (stop_and_read(proof, why) < 0)
		return -1;
	lost = trace_lost(proof->trace);
	for (i = 0; i < PROOF_WINDOWS; i++) {
		const struct spans *spans = &proof->spans[i];

		if (!spans->n)
			continue;
		flushes_count(proof->flush, proof->flushes, spans->span,
			      spans->n, gettid(), &implied, &tally[i]);
		tally[i].lost += lost;
	}
	return 0;
}

void proof_close(struct proof *proof)
{
	int i;

	if (!proof)
		return;
	trace_close(proof->trace);
	for (i = 0; i < PROOF_WINDOWS; i++)
		free(proof->spans[i].span);
	free(proof->flush);
	free(proof);
}
