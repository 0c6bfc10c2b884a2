/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "simulated_tlb.h"

/* One level. A set is an array of pages + 1, for LRU in order of use. */
struct level {
	unsigned int sets, ways;
	enum replacement replacement;
	bool hashed;
	uint32_t *page;	 /* [sets][ways], 0: invalid */
	uint32_t *state; /* [sets] pseudo-LRU bits */
	uint64_t random;
};

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

static void level_open(struct level *level, unsigned int sets,
		       unsigned int ways, enum replacement replacement,
		       bool hashed)
{
	*level = (struct level){ .sets = sets,
				 .ways = ways,
				 .replacement = replacement,
				 .hashed = hashed };
	level->page = allocate((size_t)sets * ways, sizeof(*level->page));
	level->state = allocate(sets, sizeof(*level->state));
}

static void level_close(struct level *level)
{
	free(level->page);
	free(level->state);
}

/* The set: sets is a power of two, and so many bits are folded by XOR. */
static unsigned int level_set(const struct level *level, uint32_t page)
{
	unsigned int bits = (unsigned int)__builtin_ctz(level->sets);
	unsigned int set = 0;

	if (bits == 0)
		return 0;
	if (level->hashed)
		page = (uint32_t)(random_stream(7, page) >> 32);
	for (; page; page >>= bits)
		set ^= page & (level->sets - 1);
	return set;
}

/* The way that a tree of bits, from node 1 on, points away from. */
static unsigned int tree_victim(uint32_t bits, unsigned int ways)
{
	unsigned int node = 1;

	while (node < ways)
		node = 2 * node + !(bits >> node & 1);
	return node - ways;
}

static void tree_used(uint32_t *bits, unsigned int shift, unsigned int ways,
		      unsigned int way)
{
	unsigned int node;

	for (node = way + ways; node > 1; node /= 2) {
		*bits &= ~(1u << (node / 2 + shift));
		*bits |= (node & 1) << (node / 2 + shift);
	}
}

/*
 * 12 ways are three trees of four, of which the one after that used last is the
 * next to lose: the (MRU + 1) % 3 PLRU4 found in Intel's 12-way TLBs (Tatar et
 * al., "TLB;DR", USENIX Security 2022). Eight bits a tree, and the last used.
 */
#define TREES 3
#define TREE_WAYS 4
#define LAST_TREE 24

static unsigned int level_victim(struct level *level, unsigned int set)
{
	uint32_t bits = level->state[set];
	unsigned int way = 0, tree;

	switch (level->replacement) {
	case LRU:
		return level->ways - 1;
	case TREE_LRU:
		if (level->ways != TREES * TREE_WAYS)
			return tree_victim(bits, level->ways);
		tree = ((bits >> LAST_TREE) + 1) % TREES;
		return tree * TREE_WAYS +
		       tree_victim(bits >> 8 * tree, TREE_WAYS);
	case NOT_RECENT:
		while (bits >> way & 1)
			way++;
		return way;
	default:
		level->random = random_stream(level->random, 0);
		return (unsigned int)(level->random % level->ways);
	}
}

static void level_used(struct level *level, unsigned int set, unsigned int way)
{
	uint32_t *pages = level->page + (size_t)set * level->ways;
	uint32_t *bits = &level->state[set], page = pages[way];
	unsigned int tree = way / TREE_WAYS;

	switch (level->replacement) {
	case LRU:
		memmove(pages + 1, pages, way * sizeof(*pages));
		pages[0] = page;
		break;
	case TREE_LRU:
		if (level->ways != TREES * TREE_WAYS) {
			tree_used(bits, 0, level->ways, way);
			break;
		}
		tree_used(bits, 8 * tree, TREE_WAYS, way % TREE_WAYS);
		*bits = (*bits & ((1u << LAST_TREE) - 1)) | tree << LAST_TREE;
		break;
	case NOT_RECENT:
		*bits |= 1u << way;
		if (*bits == (1u << level->ways) - 1)
			*bits = 1u << way;
		break;
	default:
		break;
	}
}

/* Look page up, and fill it in if it's not there. */
static bool level_hit(struct level *level, uint32_t page)
{
	unsigned int set = level_set(level, page), way;
	uint32_t *pages = level->page + (size_t)set * level->ways;
	bool hit;

	page++;
	for (way = 0; way < level->ways; way++) {
		if (pages[way] == page || pages[way] == 0)
			break;
	}
	hit = way < level->ways && pages[way] == page;
	if (way == level->ways)
		way = level_victim(level, set);
	pages[way] = page;
	level_used(level, set, way);
	return hit;
}

enum replacement possible(enum replacement replacement, unsigned int ways)
{
	if (replacement == TREE_LRU && ways != TREES * TREE_WAYS &&
	    (ways > 16 || (ways & (ways - 1))))
		return LRU;
	if (replacement == NOT_RECENT && ways > 16)
		return LRU;
	return replacement;
}

#define WARM_PASSES 3
#define COUNTED_PASSES 1

void chase_misses(const struct geometry *geometry, enum replacement replacement,
		  enum placement placement, unsigned int w, uint64_t seed,
		  double *l1_share, double *last_share)
{
	bool second = geometry->last_sets > 0;
	uint32_t *page = allocate(w, sizeof(*page));
	size_t l1_misses = 0, last_misses = 0, i;
	struct level l1, last;
	int pass;

	level_open(&l1, geometry->l1_sets, geometry->l1_ways,
		   possible(replacement, geometry->l1_ways), false);
	if (second)
		level_open(&last, geometry->last_sets, geometry->last_ways,
			   possible(replacement, geometry->last_ways),
			   placement == HASHED);
	for (i = 0; i < w; i++)
		page[i] = placement != SCATTERED ?
				  0x1200 + (uint32_t)i :
				  (uint32_t)random_stream(seed, i) >> 6;
	random_shuffle(page, w, seed);
	for (pass = 0; pass < WARM_PASSES + COUNTED_PASSES; pass++) {
		for (i = 0; i < w; i++) {
			if (level_hit(&l1, page[i]))
				continue;
			l1_misses += pass >= WARM_PASSES;
			if (!second || !level_hit(&last, page[i]))
				last_misses += pass >= WARM_PASSES;
		}
	}
	*l1_share = (double)l1_misses / COUNTED_PASSES / w;
	*last_share = (double)last_misses / COUNTED_PASSES / w;
	level_close(&l1);
	if (second)
		level_close(&last);
	free(page);
}
