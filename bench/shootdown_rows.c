/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of ./shootdown, and what follows from their calls.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "shootdown.h"

/* How far the CPUs of the row's threads are from the caller's. */
static void count_distances(const struct placement *placement,
			    struct shootdown_row *row)
{
	size_t i;

	for (i = 1; i <= row->threads; i++) {
		enum distance distance = distance_between(placement->topology,
							  placement->cpu[0],
							  placement->cpu[i]);

		if (distance != DISTANCE_UNKNOWN)
			row->distance[distance]++;
	}
}

int shootdown_open(const struct shootdown_plan *plan, struct shootdown *out)
{
	size_t row;

	out->rows = 0;
	out->row = calloc(plan->rows + 2, sizeof(*out->row));
	if (!out->row)
		return -1;
	out->rows = plan->rows + 2;
	out->row[0].query = true;
	for (row = 2; row < out->rows; row++) {
		out->row[row].threads = plan->threads[row - 2];
		count_distances(plan->placement, &out->row[row]);
	}
	return 0;
}

double shootdown_interrupts(const struct shootdown_row *row)
{
	if (!row->threads || !row->calls)
		return NAN;
	return row->interrupts / row->calls / (double)row->threads;
}

struct estimate shootdown_ipi(const struct shootdown *all, size_t row)
{
	const struct samples *alone = &all->row[1].rounds;
	const struct samples *busy = &all->row[row].rounds;
	struct estimate result = stats_unknown();
	struct samples differences = { 0 };
	size_t i;

	for (i = 0; i < busy->n && i < alone->n; i++)
		if (isfinite(busy->x[i] - alone->x[i]) &&
		    samples_add(&differences, busy->x[i] - alone->x[i]) < 0)
			break;
	result.value = stats_median(differences.x, differences.n);
	result.ci95 = stats_t_interval(differences.x, differences.n);
	samples_free(&differences);
	return result;
}

void shootdown_free(struct shootdown *all)
{
	size_t i;

	for (i = 0; i < all->rows; i++) {
		samples_free(&all->row[i].running);
		samples_free(&all->row[i].stopped);
		samples_free(&all->row[i].rounds);
	}
	free(all->row);
	*all = (struct shootdown){ 0 };
}
