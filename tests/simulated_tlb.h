/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulated_tlb: count the misses of a pointer chase in a TLB of two levels.
 */
#ifndef TLBTUNE_SIMULATED_TLB_H
#define TLBTUNE_SIMULATED_TLB_H

#include <stdint.h>

/*
 * What a full set evicts; NOT_RECENT keeps a bit per way, and clears all others
 * when the last one is set.
 */
enum replacement { LRU, TREE_LRU, NOT_RECENT, RANDOM_WAY, REPLACEMENTS };

/*
 * How pages fall into sets: contiguous pages under an XOR of page number bits;
 * the same in the L1, but a thorough hash in the last level; or pages anywhere,
 * elsewhere in each block.
 */
enum placement { EVEN, HASHED, SCATTERED, PLACEMENTS };

struct geometry {
	const char *name;
	unsigned int l1_sets, l1_ways;
	unsigned int last_sets, last_ways; /* 0: no second level */
};

/* What a level of that many ways can have instead, if it can't have this. */
enum replacement possible(enum replacement replacement, unsigned int ways);

/*
 * The shares of accesses that miss the L1, and both levels, in a chase that
 * goes round w pages, after some rounds. Without a second level the two are the
 * same.
 */
void chase_misses(const struct geometry *geometry, enum replacement replacement,
		  enum placement placement, unsigned int w, uint64_t seed,
		  double *l1_share, double *last_share);

#endif
