/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"
#include "child.h"
#include "live.h"
#include "touch.h"
#include "why.h"

/* A program takes milliseconds; one that hangs is killed by SIGALRM. */
#define HANG_SECONDS 120

enum { CHILD_DONE, CHILD_FAILED };

struct work {
	const struct batch *batch;
	struct batch_result *result;
};

double batch_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static size_t result_size(const struct batch *batch)
{
	return sizeof(struct batch_result) +
	       batch->n * sizeof(struct batch_entry);
}

static unsigned int most_actors(const struct batch *batch)
{
	unsigned int most = 1;
	size_t i;

	for (i = 0; i < batch->n; i++)
		if (batch->program[i].actors > most)
			most = batch->program[i].actors;
	return most;
}

static bool is_over(const struct batch *batch)
{
	return *batch->stop || batch_clock() > batch->deadline;
}

static void run_one(const struct work *work, const struct subject *subject,
		    size_t i, uint32_t *nonce)
{
	const struct batch *batch = work->batch;
	struct batch_entry *entry = &work->result->entry[i];
	unsigned int n;
	char *why = NULL;

	work->result->running = (long)i;
	for (n = 0; n < batch->repeat && (n == 0 || !is_over(batch)); n++) {
		alarm(HANG_SECONDS);
		entry->verdict = judge(subject, &batch->program[i], ++*nonce,
				       &work->result->finding, &why);
		entry->ran = true;
		if (entry->verdict != VERDICT_CLEAN)
			break;
	}
	if (entry->verdict == VERDICT_CANNOT && why)
		snprintf(entry->why, sizeof(entry->why), "%s", why);
	free(why);
}

/* In the child. */
static int run_all(void *context)
{
	const struct work *work = context;
	const struct batch *batch = work->batch;
	struct subject subject;
	uint32_t nonce = 0;
	struct live *live;
	char *why = NULL;
	size_t i;

	if (batch->program[0].memory != MEMORY_THP)
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	touch_catch();
	live = live_open(batch->placement, most_actors(batch), &why);
	if (!live) {
		snprintf(work->result->entry[0].why, BATCH_WHY, "%s",
			 why_text(why));
		return CHILD_FAILED;
	}
	subject = live_subject(live);
	for (i = 0; i < batch->n && !is_over(batch); i++) {
		run_one(work, &subject, i, &nonce);
		if (work->result->entry[i].verdict == VERDICT_STALE) {
			work->result->stale = (long)i;
			break;
		}
	}
	/* Not live_close: after a failure memory may be anybody's. */
	return CHILD_DONE;
}

struct batch_result *batch_run(const struct batch *batch,
			       struct batch_failure *failure)
{
	struct work work = {
		.batch = batch,
		.result = child_share(result_size(batch)),
	};
	int status;

	*failure = (struct batch_failure){ .running = -1 };
	if (!work.result) {
		failure->why = strdup(strerror(errno));
		return NULL;
	}
	work.result->stale = -1;
	work.result->running = -1;
	status = child_run(run_all, &work, &failure->why);
	if (status == CHILD_DONE)
		return work.result;
	failure->cannot = status == CHILD_FAILED;
	if (failure->cannot)
		failure->why = strdup(work.result->entry[0].why);
	failure->running = work.result->running;
	batch_free(batch, work.result);
	return NULL;
}

void batch_free(const struct batch *batch, struct batch_result *result)
{
	child_unshare(result, result_size(batch));
}
