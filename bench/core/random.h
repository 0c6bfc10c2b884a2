/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * random: reproducible orders from a seed.
 */
#ifndef TLBTUNE_RANDOM_H
#define TLBTUNE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Put x[n] in a random order. The same seed gives the same order. */
void random_shuffle(uint32_t *x, size_t n, uint64_t seed);

/* A seed for part number stream of what is seeded with seed. */
uint64_t random_stream(uint64_t seed, uint64_t stream);

#endif
