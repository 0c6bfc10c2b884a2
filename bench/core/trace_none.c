/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_none: what there is of trace where configure did not find libtracefs.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "trace.h"

struct trace *trace_open(const struct trace_config *config, char **why)
{
	(void)config;
	*why = strdup("cannot trace: built without libtracefs");
	return NULL;
}

/* No trace was ever opened, so none of these is called. */

int trace_start(struct trace *trace, char **why)
{
	(void)trace;
	*why = NULL;
	return -1;
}

int trace_stop(struct trace *trace, char **why)
{
	return trace_start(trace, why);
}

int trace_read(struct trace *trace, trace_take take, void *context)
{
	(void)trace;
	(void)take;
	(void)context;
	errno = ENOSYS;
	return -1;
}

double trace_lost(const struct trace *trace)
{
	(void)trace;
	return NAN;
}

void trace_close(struct trace *trace)
{
	(void)trace;
}
