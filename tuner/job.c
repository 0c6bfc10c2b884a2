/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "child.h"
#include "job.h"

int job_fails(struct job_message *message, char *text)
{
	snprintf(message->text, sizeof(message->text), "%s",
		 text ? text : strerror(errno));
	free(text);
	return 1;
}

struct job {
	int (*work)(void *context);
	void *context;
	const struct measure *measure;
	struct job_message *message;
};

static int run_bound(void *context)
{
	const struct job *job = context;
	int status = job->work(job->context);
	char *why = NULL;

	if (status == 0 && bound_check("", job->measure->cpu, &why) < 0)
		return job_fails(job->message, why);
	return status;
}

int job_run(int (*work)(void *context), void *context,
	    const struct measure *measure, struct job_message *message,
	    char **why)
{
	struct job job = { work, context, measure, message };
	int status = child_run(run_bound, &job, why);

	if (status > 0)
		*why = strdup(message->text);
	return status ? -1 : 0;
}

int job_no_memory(char **why)
{
	*why = strdup(strerror(ENOMEM));
	return -1;
}

bool job_is_over(const struct measure *measure, uint64_t start, double seconds)
{
	const struct clock *clock = measure->clock;

	return *measure->stop ||
	       clock_seconds(clock, start, clock_now(clock)) > seconds;
}
