/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * miss: how often a pointer chase that goes round w pages misses a TLB level
 * of E entries. Pure.
 *
 * It depends on how pages fall into sets, and on what a full set evicts:
 *
 *  evenly    contiguous pages in a TLB indexed by the low page number bits, or
 *	      by an XOR of such bits: sets differ by one page at most
 *  randomly  any other placement or hash: Poisson
 *
 *  LRU       a page misses always if its set has more pages than ways, else
 *	      never. Tree pseudo-LRU behaves alike under a chase.
 *  random    each miss evicts any way, so that a page is still there at its
 *	      next turn with the chance exp(-misses per way in between)
 *
 * So the load w / E at which half the accesses miss depends on the kind of
 * TLB: 1.03 to 1.12 for evenly and LRU, 0.92 to 0.98 for randomly and LRU,
 * 1.36 to 1.39 (2 ln 2) for random replacement in many ways. But so does the
 * slope of the rise.
 */
#ifndef TLBTUNE_MISS_H
#define TLBTUNE_MISS_H

#include <stdbool.h>
#include <stddef.h>

struct miss_kind {
	unsigned int ways; /* 0: fully associative */
	bool random_sets, random_replacement;
};

/* The share of misses, tabulated over the logarithm of the load. */
struct miss_table {
	struct miss_kind kind;
	double half;   /* the load at which half the accesses miss, log2 */
	double *share; /* malloc'ed; its length is miss.c's own business */
};

/* Kinds of TLB worth telling apart; the first is in the middle of them. */
#define MISS_KINDS 14
extern const struct miss_kind miss_kinds[MISS_KINDS];

/* Tabulate a kind. 0 or -1 with ENOMEM. */
int miss_table_make(struct miss_table *table, struct miss_kind kind);

/* The share of accesses that miss, 0..1; load is log2(w / E). */
double miss_share(const struct miss_table *table, double load);

void miss_table_free(struct miss_table *table);

#endif
