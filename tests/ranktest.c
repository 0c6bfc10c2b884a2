/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rank test against counting by hand, and its error rate where nothing
 * differs.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "ranktest.h"
#include "tap.h"

/* How far U of the values in deal, one bit each, is from its mean. */
static double distance(const double *x, size_t n, unsigned int deal)
{
	size_t nb = (size_t)__builtin_popcount(deal), i, j;
	double u = 0;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			if ((deal >> i & 1) && !(deal >> j & 1))
				u += (x[i] > x[j]) + 0.5 * (x[i] == x[j]);
	return fabs(u - (double)(nb * (n - nb)) / 2);
}

/* p of the last n - na values by dealing out all n in all ways. */
static double brute_p(const double *x, size_t n, size_t na)
{
	unsigned int seen = (1u << n) - (1u << na), deal;
	double all = 0, extreme = 0;

	for (deal = 1; deal < 1u << n; deal++) {
		if (__builtin_popcount(deal) != __builtin_popcount(seen))
			continue;
		all++;
		extreme += distance(x, n, deal) >= distance(x, n, seen);
	}
	return extreme / all;
}

static void test_exact(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double worst = 0;
	int k;

	for (k = 0; k < 300; k++) {
		size_t na = 1 + gsl_rng_uniform_int(rng, 5);
		size_t nb = 1 + gsl_rng_uniform_int(rng, 5), i;
		struct ranktest test;
		double x[10];

		/* Few levels: ties; many: none. */
		for (i = 0; i < na + nb; i++)
			x[i] = (double)gsl_rng_uniform_int(rng,
							   k % 2 ? 4 : 1000000);
		ranktest(x, na, x + na, nb, &test);
		worst = fmax(worst, fabs(test.p - brute_p(x, na + nb, na)));
	}
	ok(worst < 1e-12, "p is that of all ways to deal the values out: %g",
	   worst);
	gsl_rng_free(rng);
}

static void test_known(void)
{
	const double low[] = { 1, 2, 3, 4, 5 }, high[] = { 11, 12, 13, 14, 15 };
	struct ranktest test;

	ranktest(low, 5, high, 5, &test);
	is_double(test.p, 2.0 / 252, 1e-12, "complete separation of 5 and 5");
	is_double(test.shift, 10, 0, "the shift");
	/* Tables: of 5 and 5, U = 2 is the last at 5 %; d(3) and d(23). */
	ok(test.ci95.lo == 7 && test.ci95.hi == 13, "its interval: [%g, %g]",
	   test.ci95.lo, test.ci95.hi);
	ok(test.exact, "exact");
	ranktest(high, 5, low, 5, &test);
	is_double(test.shift, -10, 0, "the other way round");
	ranktest(low, 5, low, 5, &test);
	is_double(test.p, 1, 0, "the same against itself");
	ranktest(low, 3, high, 3, &test);
	ok(isnan(test.ci95.lo) && test.p > 0.05,
	   "3 and 3 cannot show anything");
	ranktest(low, RANKTEST_MIN, high, RANKTEST_MIN, &test);
	ok(isfinite(test.ci95.lo) && test.p < 0.05, "RANKTEST_MIN can");
	errno = 0;
	ok(ranktest(low, 5, high, 0, &test) < 0 && errno == EINVAL,
	   "an empty set");
}

/* Where the exact way ends, the approximate one must say the same. */
static void test_normal(void)
{
	double a[RANKTEST_EXACT], b[RANKTEST_EXACT];
	struct ranktest exact, normal;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	size_t half = RANKTEST_EXACT / 2, i;

	for (i = 0; i < half + 1; i++) {
		a[i] = gsl_ran_gaussian(rng, 1);
		b[i] = gsl_ran_gaussian(rng, 1) + 0.4;
	}
	ranktest(a, half, b, half, &exact);
	ranktest(a, half, b, half + 1, &normal);
	ok(exact.exact && !normal.exact, "one value more: approximate");
	ranktest(a, half, b, half, &exact);
	ok(fabs(log(exact.p / normal.p)) < 0.5 &&
		   fabs(exact.ci95.lo - normal.ci95.lo) < 0.1 &&
		   fabs(exact.ci95.hi - normal.ci95.hi) < 0.1,
	   "p %.4f and %.4f, from %.3f and %.3f", exact.p, normal.p,
	   exact.ci95.lo, normal.ci95.lo);
	gsl_rng_free(rng);
}

static void test_holm(void)
{
	/* Holm by hand: 0.01 * 4, 0.02 * 3, 0.03 * 2, 0.5 * 1. */
	double p[] = { 0.03, 0.01, NAN, 0.5, 0.02 };
	double falling[] = { 0.01, 0.013, 0.014 };

	ranktest_holm(p, 5);
	ok(fabs(p[1] - 0.04) < 1e-12 && fabs(p[4] - 0.06) < 1e-12 &&
		   fabs(p[0] - 0.06) < 1e-12 && p[3] == 0.5 && isnan(p[2]),
	   "Holm: the smallest counts for all, the next for one less");
	ranktest_holm(falling, 3);
	ok(falling[0] <= falling[1] && falling[1] <= falling[2],
	   "and the order stays");
	p[0] = 0.9;
	p[1] = 0.8;
	ranktest_holm(p, 2);
	ok(p[0] == 1 && p[1] == 1, "never more than 1");
}

/* Nothing differs: one in twenty tests says so nevertheless, no more. */
static void test_rate(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	int rejected = 0, outside = 0, contradict = 0, k;

	for (k = 0; k < 2000; k++) {
		double a[20], b[20];
		struct ranktest test;
		int i;

		for (i = 0; i < 20; i++) {
			a[i] = exp(gsl_ran_gaussian(rng, 0.3));
			b[i] = exp(gsl_ran_gaussian(rng, 0.3));
		}
		ranktest(a, 20, b, 20, &test);
		rejected += test.p <= 0.05;
		outside += test.ci95.lo > 0 || test.ci95.hi < 0;
		contradict += (test.p <= 0.05) !=
			      (test.ci95.lo > 0 || test.ci95.hi < 0);
	}
	diag("rejected %.4f, outside %.4f", rejected / 2000.0,
	     outside / 2000.0);
	ok(rejected > 0.04 * 2000 && rejected < 0.06 * 2000,
	   "one in twenty is rejected");
	is_int(contradict, 0, "test and interval say the same");
	gsl_rng_free(rng);
}

int main(void)
{
	test_exact();
	test_known();
	test_normal();
	test_holm();
	test_rate();
	return done();
}
