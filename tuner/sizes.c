/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "random.h"
#include "sizes.h"

#define WARM_UP_ROUNDS 20
#define WARM_UP_STEADY 0.02

int sizes_open(struct sizes *sizes, const unsigned int *n, size_t count)
{
	size_t i;

	*sizes = (struct sizes){
		.n = n,
		.count = count,
		.readings = calloc(count, sizeof(*sizes->readings)),
		.order = calloc(count, sizeof(*sizes->order)),
	};
	if (!sizes->readings || !sizes->order)
		return -1;
	for (i = 0; i < count; i++)
		sizes->order[i] = (uint32_t)i;
	return 0;
}

void sizes_close(struct sizes *sizes)
{
	size_t i;

	for (i = 0; sizes->readings && i < sizes->count; i++)
		samples_free(&sizes->readings[i]);
	free(sizes->readings);
	free(sizes->order);
}

int sizes_round(struct sizes *sizes, const struct probe *probe, uint64_t seed)
{
	size_t i;

	random_shuffle(sizes->order, sizes->count, seed);
	for (i = 0; i < sizes->count; i++) {
		size_t at = sizes->order[i];
		double op_ns;

		if (probe_op(probe, sizes->n[at], &op_ns) < 0 ||
		    samples_add(&sizes->readings[at], op_ns) < 0)
			return -1;
	}
	return 0;
}

int sizes_warm_up(struct sizes *sizes, const struct probe *probe, uint64_t seed)
{
	double last = NAN;
	size_t i;
	int round;

	for (round = 0; round < WARM_UP_ROUNDS; round++) {
		uint64_t start = clock_now(probe->clock);
		double ns;

		if (sizes_round(sizes, probe,
				random_stream(seed, (uint64_t)round)) < 0)
			return -1;
		ns = clock_ns(probe->clock, start, clock_now(probe->clock));
		if (fabs(ns / last - 1) < WARM_UP_STEADY)
			break;
		last = ns;
	}
	for (i = 0; i < sizes->count; i++)
		sizes->readings[i].n = 0;
	return 0;
}

void sizes_points(const struct sizes *sizes, unsigned int block,
		  struct op_point *points)
{
	size_t i;

	for (i = 0; i < sizes->count; i++)
		points[i] = (struct op_point){
			.block = block,
			.n = sizes->n[i],
			.count = (unsigned int)sizes->readings[i].n,
			.ns = estimate_typical(sizes->readings[i].x,
					       sizes->readings[i].n),
		};
}
