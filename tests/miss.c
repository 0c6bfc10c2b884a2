/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * miss: the modelled share of misses against counted ones.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "miss.h"
#include "simulated_tlb.h"
#include "tap.h"

/* The mean over some placements of w pages. */
static double counted_share(const struct geometry *geometry,
			    enum replacement replacement,
			    enum placement placement, unsigned int w)
{
	double sum = 0, l1, last;
	int i;

	for (i = 0; i < 8; i++) {
		chase_misses(geometry, replacement, placement, w, 100 + i, &l1,
			     &last);
		sum += l1;
	}
	return sum / 8;
}

/* The table of misses against the counted ones. */
static void test_miss_share(void)
{
	const struct {
		struct miss_kind kind;
		struct geometry tlb;
		enum placement placement;
	} cases[] = {
		{ { 8, false, false }, { "", 128, 8, 0, 0 }, EVEN },
		{ { 8, true, false }, { "", 128, 8, 0, 0 }, SCATTERED },
		{ { 4, true, false }, { "", 256, 4, 0, 0 }, SCATTERED },
		{ { 16, true, false }, { "", 64, 16, 0, 0 }, SCATTERED },
		{ { 0, false, false }, { "", 1, 64, 0, 0 }, EVEN },
		{ { 0, false, true }, { "", 1, 512, 0, 0 }, EVEN },
		{ { 8, true, true }, { "", 128, 8, 0, 0 }, SCATTERED },
		{ { 16, true, true }, { "", 64, 16, 0, 0 }, SCATTERED },
	};
	const double loads[] = { 0.25, 0.6, 0.8, 0.95, 1.1, 1.3, 1.7, 2.5, 5 };
	size_t i, j;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct geometry *tlb = &cases[i].tlb;
		const struct miss_kind *kind = &cases[i].kind;
		double entries = tlb->l1_sets * tlb->l1_ways, worst = 0;
		struct miss_table table;

		if (miss_table_make(&table, *kind) < 0)
			abort();
		for (j = 0; j < sizeof(loads) / sizeof(*loads); j++) {
			double w = floor(loads[j] * entries);
			double share = miss_share(&table, log2(w / entries));
			double counted = counted_share(
				tlb,
				kind->random_replacement ? RANDOM_WAY : LRU,
				cases[i].placement, (unsigned int)w);

			worst = fmax(worst, fabs(counted - share));
		}
		ok(worst < 0.03,
		   "misses of %u ways, random sets %d, random way %d: %.3f off",
		   kind->ways, kind->random_sets, kind->random_replacement,
		   worst);
		miss_table_free(&table);
	}
}

/* Whatever the kind: from nothing to everything, and never less for more w. */
static void test_shape(void)
{
	size_t i;

	for (i = 0; i < MISS_KINDS; i++) {
		struct miss_table table;
		double load, last = 0;
		int falling = 0;

		if (miss_table_make(&table, miss_kinds[i]) < 0)
			abort();
		for (load = -10; load <= 10; load += 0.01) {
			double share = miss_share(&table, load);

			/* an iteration that stops early is not quite smooth */
			falling += share < last - 1e-4;
			last = share;
		}
		is_int(falling, 0, "kind %zu never falls", i);
		is_double(miss_share(&table, -10), 0, 3e-3, "... from 0");
		is_double(last, 1, 1e-3, "... to 1");
		miss_table_free(&table);
	}
}

int main(void)
{
	test_miss_share();
	test_shape();
	return done();
}
