/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "job.h"

int job_fails(struct job_message *message, char *text)
{
	snprintf(message->text, sizeof(message->text), "%s",
		 text ? text : strerror(errno));
	free(text);
	return 1;
}

int job_run(int (*work)(void *context), void *context,
	    const struct job_message *message, char **why)
{
	int status = child_run(work, context, why);

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
