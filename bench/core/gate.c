/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include "gate.h"

#define ROUNDS 2

bool gate_look(const struct gate_source *source, double limit_ns)
{
	double start = source->now_ns(source->context);
	size_t i;

	for (i = 0; i < source->n; i++) {
		uint64_t enough = source->rounds(source->context, i) + ROUNDS;

		while (source->rounds(source->context, i) < enough)
			if (source->now_ns(source->context) - start > limit_ns)
				return false;
	}
	return true;
}
