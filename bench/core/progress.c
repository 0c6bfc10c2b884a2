/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include "gate.h"
#include "progress.h"

struct view {
	const struct team *team;
	const struct clock *clock;
	uint64_t start;
};

static uint64_t rounds(const void *context, size_t thread)
{
	const struct view *view = context;

	return team_rounds_of(view->team, thread);
}

static double now_ns(const void *context)
{
	const struct view *view = context;

	return clock_ns(view->clock, view->start, clock_now(view->clock));
}

bool progress_of(const struct team *team, size_t n, const struct clock *clock,
		 double limit_ns)
{
	const struct view view = { team, clock, clock_now(clock) };
	const struct gate_source source = { rounds, now_ns, &view, n };

	return gate_look(&source, limit_ns);
}
