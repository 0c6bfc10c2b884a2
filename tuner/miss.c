/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "miss.h"

/* The table covers these loads in steps of 1.4 %. */
#define LOAD_LOG2 3.0 /* 1/8 .. 8: from no miss to nothing but misses */
#define STEPS 300

/* More pages than a set of 16 ways ever gets at the highest load: 128 + 10 sd
 */
#define MOST_PAGES 256

/* The fixed point is approached from above, at worst like 2 / iterations. */
#define ITERATIONS 100
#define CONVERGED 1e-6

const struct miss_kind miss_kinds[MISS_KINDS] = {
	{ 8, true, false },  { 4, true, false },  { 6, true, false },
	{ 12, true, false }, { 16, true, false }, { 8, false, false },
	{ 4, false, false }, { 6, false, false }, { 16, false, false },
	{ 0, false, false }, { 0, false, true },  { 4, true, true },
	{ 8, true, true },   { 16, true, true },
};

/*
 * The share of misses of the pages in one set under random replacement: the
 * largest f with f = 1 - survival^f, where survival is the chance to outlive
 * one turn in which every other page misses. In the mean: the misses in between
 * are taken as independent of each other.
 */
static double random_share(double survival)
{
	double share = 1, before = 2;
	int i;

	for (i = 0; i < ITERATIONS && before - share > CONVERGED; i++) {
		before = share;
		share = 1 - pow(survival, before);
	}
	return share;
}

/* The share of misses of the pages in a set with that many of them. */
static double set_share(const struct miss_kind *kind, unsigned int pages)
{
	if (pages <= kind->ways)
		return 0;
	if (!kind->random_replacement)
		return 1;
	return random_share(exp(-(double)pages / kind->ways));
}

/* One set only, whose number of ways is of no consequence. */
static double associative_share(const struct miss_kind *kind, double load)
{
	if (load <= 1)
		return 0;
	return kind->random_replacement ? random_share(exp(-load)) : 1;
}

/* Sets of floor(mean) pages and of one more; by_pages as from set_share. */
static double even_share(const double *by_pages, double mean)
{
	double less = floor(mean), part = mean - less;
	size_t pages = (size_t)less;

	return ((1 - part) * less * by_pages[pages] +
		part * (less + 1) * by_pages[pages + 1]) /
	       mean;
}

/* Beside a page there are Poisson(mean) others in its set. */
static double poisson_share(const double *by_pages, double mean)
{
	double chance = exp(-mean), share = 0;
	size_t others;

	for (others = 0; others + 1 < MOST_PAGES; others++) {
		share += chance * by_pages[others + 1];
		chance *= mean / (double)(others + 1);
	}
	return share;
}

/* Where the share passes a half, by bisection. */
static double half_load(const struct miss_table *table)
{
	double lo = -LOAD_LOG2, hi = LOAD_LOG2;
	int i;

	for (i = 0; i < 20; i++) {
		double load = (lo + hi) / 2;

		if (miss_share(table, load) < 0.5)
			lo = load;
		else
			hi = load;
	}
	return (lo + hi) / 2;
}

int miss_table_make(struct miss_table *table, struct miss_kind kind)
{
	double by_pages[MOST_PAGES];
	unsigned int i;

	table->kind = kind;
	table->share = calloc(STEPS + 1, sizeof(*table->share));
	if (!table->share)
		return -1;
	for (i = 0; kind.ways && i < MOST_PAGES; i++)
		by_pages[i] = set_share(&kind, i);
	for (i = 0; i <= STEPS; i++) {
		double load = exp2(LOAD_LOG2 * (2.0 * i / STEPS - 1));

		if (kind.ways == 0)
			table->share[i] = associative_share(&kind, load);
		else if (kind.random_sets)
			table->share[i] =
				poisson_share(by_pages, load * kind.ways);
		else
			table->share[i] =
				even_share(by_pages, load * kind.ways);
	}
	table->half = half_load(table);
	return 0;
}

double miss_share(const struct miss_table *table, double load)
{
	double at = (load / LOAD_LOG2 + 1) * STEPS / 2;
	size_t i;

	if (at <= 0)
		return table->share[0];
	if (at >= STEPS)
		return table->share[STEPS];
	i = (size_t)at;
	return table->share[i] +
	       (at - (double)i) * (table->share[i + 1] - table->share[i]);
}

void miss_table_free(struct miss_table *table)
{
	free(table->share);
	table->share = NULL;
}
