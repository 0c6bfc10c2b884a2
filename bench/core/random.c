/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include "random.h"

uint64_t random_stream(uint64_t seed, uint64_t stream)
{
	/* The output function of SplitMix64 (Steele, Lea, Flood 2014). */
	uint64_t z = seed + (stream + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void random_shuffle(uint32_t *x, size_t n, uint64_t seed)
{
	uint64_t state = seed;
	size_t i;

	/* Fisher-Yates; the bias of % is below n / 2^64. */
	for (i = n; i > 1; i--) {
		size_t j = (state = random_stream(state, i)) % i;
		uint32_t swap = x[i - 1];

		x[i - 1] = x[j];
		x[j] = swap;
	}
}
