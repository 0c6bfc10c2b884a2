/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>

#include "bound.h"
#include "place.h"
#include "why.h"

struct environment *place_caller(const struct options_common *options,
				 struct placement *placement,
				 struct clock *clock)
{
	struct environment *environment;
	char *why = NULL;

	if (placement_open(placement, options->cpus, &why) < 0) {
		if (errno == EINVAL)
			options_refuse("--cpus: %s", why_text(why));
		error(STATUS_CANNOT_RUN, 0, "%s", why_text(why));
	}
	clock_init(clock, "");
	environment = environment_open("", clock, placement->cpu[0]);
	if (!environment)
		error(STATUS_FAILED, errno, "environment");
	if (placement_bind(placement, placement->cpu[0]) < 0)
		error(STATUS_CANNOT_RUN, errno, "cannot run on CPU %u",
		      placement->cpu[0]);
	return environment;
}

int place_check(const struct placement *placement, const struct team *team,
		char **why)
{
	if (bound_check("", placement->cpu[0], why) < 0)
		return -1;
	return team ? team_bound(team, "", why) : 0;
}

int place_memory(const char *list, const struct placement *placement,
		 place_work work, void *context)
{
	struct membind memory;
	char *why = NULL;
	int status = 0;
	size_t i;

	if (!list)
		return work(context, NULL, 0);
	if (membind_open(&memory, placement->topology, placement->cpu[0], list,
			 &why) < 0)
		options_refuse("--mem-bind: %s", why_text(why));
	for (i = 0; i < memory.n && status == 0; i++) {
		if (membind_bind(&memory, i, &why) < 0)
			error(STATUS_CANNOT_RUN, 0, "%s", why_text(why));
		status = work(context, &memory, i);
	}
	membind_close(&memory);
	return status;
}
