/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include "progress.h"

/*
 * A round may have been finished before, and the counter be seen late: the
 * second one was begun after the first look.
 */
#define ROUNDS 2

bool progress_of(const struct team *team, size_t n, const struct clock *clock,
		 double limit_ns)
{
	uint64_t start = clock_now(clock);
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t enough = team_rounds_of(team, i) + ROUNDS;

		while (team_rounds_of(team, i) < enough)
			if (clock_ns(clock, start, clock_now(clock)) > limit_ns)
				return false;
	}
	return true;
}
