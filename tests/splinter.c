/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * splinter: large pages that a hypervisor maps in small pieces are recognised,
 * and large pages that are whole are not taken for such.
 *
 * The misses are those of a simulated TLB: splintered, w pieces are w pages to
 * it; whole, they are w / 512.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "random.h"
#include "simulated_tlb.h"
#include "splinter.h"
#include "tap.h"

#define MAX 4096

/* Costs, ns, as of a machine whose page walk is one level shorter for pieces.
 */
#define HIT_NEXT 1.7
#define WALK_PAGES 14.0
#define WALK_PIECES 9.0

static const struct geometry tlbs[] = {
	{ "Haswell", 16, 4, 128, 8 }, { "Golden Cove", 16, 6, 128, 16 },
	{ "Zen 5", 1, 96, 512, 8 },   { "Goldmont Plus", 1, 32, 128, 4 },
	{ "one level", 16, 6, 0, 0 },
};

struct curves {
	struct reach_point *pages, *pieces; /* [n] */
	size_t n;
};

static double uniform(uint64_t *state)
{
	*state = random_stream(*state, 0);
	return (double)(*state >> 11) * 0x1p-53;
}

/* ns of an access from the caches, off by up to noise, relative. */
static double from_caches(double w, double noise, uint64_t *state)
{
	double ns = w > 768 ? 4 : 1.3;

	return ns * (1 + noise * (2 * uniform(state) - 1));
}

/* What w pages cost beyond the caches. */
static double misses(const struct geometry *tlb, unsigned int w, double walk,
		     uint64_t seed)
{
	double l1, last;

	if (w == 0)
		return 0;
	chase_misses(tlb, LRU, HASHED, w, seed, &l1, &last);
	return l1 * HIT_NEXT + last * (walk - HIT_NEXT);
}

/* A share of the pieces is splintered. blocks of the two curves. */
static struct curves measure(const struct geometry *tlb, double share,
			     double noise, unsigned int blocks)
{
	size_t n_sets, i;
	unsigned int *w = reach_grid(MAX, &n_sets), block;
	struct curves out = {
		.pages = calloc(blocks * n_sets, sizeof(*out.pages)),
		.pieces = calloc(blocks * n_sets, sizeof(*out.pieces)),
	};
	uint64_t state = 7;

	if (!w || !out.pages || !out.pieces)
		abort();
	for (i = 0; i < n_sets; i++) {
		double paged = misses(tlb, w[i], WALK_PAGES, i);
		double pieced =
			misses(tlb, (unsigned int)(share * w[i]) + w[i] / 512,
			       WALK_PIECES, i) *
			share;

		for (block = 0; block < blocks; block++) {
			struct reach_point point = { .block = block,
						     .w = w[i] };

			point.spread_ns =
				from_caches(w[i], noise, &state) + paged;
			point.dense_ns = from_caches(w[i], noise, &state);
			out.pages[out.n] = point;
			point.spread_ns =
				from_caches(w[i], noise, &state) + pieced;
			point.dense_ns = from_caches(w[i], noise, &state);
			out.pieces[out.n++] = point;
		}
	}
	free(w);
	return out;
}

static void curves_free(struct curves *curves)
{
	free(curves->pages);
	free(curves->pieces);
}

static struct splinter judge(const struct curves *curves)
{
	struct splinter out;

	if (splinter_judge(curves->pages, curves->n, curves->pieces, curves->n,
			   &out) < 0)
		abort();
	return out;
}

static void test_verdict(const struct geometry *tlb, double share, double noise,
			 enum splinter_verdict wanted)
{
	struct curves curves = measure(tlb, share, noise, 7);
	struct splinter found = judge(&curves);

	is_string(splinter_name[found.verdict], splinter_name[wanted],
		  "%s, %.0f %% splintered, %.0f %% noise: %.2f [%.2f, %.2f]",
		  tlb->name, 100 * share, 100 * noise, found.share.value,
		  found.share.ci95.lo, found.share.ci95.hi);
	curves_free(&curves);
}

/* Nothing to tell it from. */
static void test_unknown(void)
{
	struct curves curves = measure(&tlbs[1], 1, 0.02, 3);
	struct splinter found;
	size_t i;

	splinter_judge(curves.pages, curves.n, curves.pieces, 0, &found);
	is_string(splinter_name[found.verdict], "unknown", "no pieces");
	ok(isnan(found.share.value), "... and no share, not 0");
	splinter_judge(curves.pages, 0, curves.pieces, curves.n, &found);
	is_string(splinter_name[found.verdict], "unknown", "no pages");
	for (i = 0; i < curves.n; i++)
		curves.pieces[i].block += 100;
	found = judge(&curves);
	is_string(splinter_name[found.verdict], "unknown", "no common block");
	for (i = 0; i < curves.n; i++) {
		curves.pieces[i].block -= 100;
		curves.pages[i].spread_ns = curves.pages[i].dense_ns;
	}
	found = judge(&curves);
	is_string(splinter_name[found.verdict], "unknown", "no misses");
	curves_free(&curves);
}

/* One block has a verdict, and no interval; another order changes nothing. */
static void test_blocks(void)
{
	struct curves curves = measure(&tlbs[1], 1, 0.02, 1);
	struct splinter found = judge(&curves), again;
	size_t i;

	is_string(splinter_name[found.verdict], "yes", "one block");
	ok(isnan(found.share.ci95.lo), "... has no interval");
	for (i = 0; i < curves.n / 2; i++) {
		struct reach_point swap = curves.pieces[i];

		curves.pieces[i] = curves.pieces[curves.n - 1 - i];
		curves.pieces[curves.n - 1 - i] = swap;
	}
	again = judge(&curves);
	is_double(again.share.value, found.share.value, 1e-12,
		  "points in any order");
	curves_free(&curves);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(tlbs) / sizeof(*tlbs); i++) {
		test_verdict(&tlbs[i], 1, 0.01, SPLINTER_ALL);
		test_verdict(&tlbs[i], 1, 0.05, SPLINTER_ALL);
		test_verdict(&tlbs[i], 0, 0.01, SPLINTER_NONE);
		test_verdict(&tlbs[i], 0, 0.05, SPLINTER_NONE);
	}
	test_verdict(&tlbs[2], 0.5, 0.02, SPLINTER_SOME);
	test_unknown();
	test_blocks();
	return done();
}
