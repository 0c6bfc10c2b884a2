/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * histogram: quantiles agree with those of the sorted values within half a
 * bucket, whatever the distribution; the extremes and the number are exact.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "core/histogram.h"
#include "core/random.h"
#include "tap.h"

#define VALUES 20000

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Values of every order of magnitude up to 2^bits. */
static void draw(uint64_t *values, unsigned int bits, uint64_t seed)
{
	size_t i;

	for (i = 0; i < VALUES; i++) {
		uint64_t x = random_stream(seed, i);

		values[i] = x >> (64 - 1 - x % bits);
	}
}

static void test_quantiles(unsigned int bits)
{
	static const double quantiles[] = { 0,	  0.01,	 0.1,	 0.5, 0.9,
					    0.99, 0.999, 0.9999, 1 };
	uint64_t *values = calloc(VALUES, sizeof(*values));
	struct histogram histogram, half[2];
	size_t i;

	if (!values)
		abort();
	draw(values, bits, bits);
	histogram_clear(&half[0]);
	histogram_clear(&half[1]);
	for (i = 0; i < VALUES; i++)
		histogram_add(&half[i % 2], values[i]);
	histogram_clear(&histogram);
	histogram_merge(&histogram, &half[0]);
	histogram_merge(&histogram, &half[1]);
	qsort(values, VALUES, sizeof(*values), compare);
	is_int(histogram.n, VALUES, "%u bits: every value counts", bits);
	is_int(histogram.min, values[0], "the smallest is exact");
	is_int(histogram.max, values[VALUES - 1], "the largest is exact");
	for (i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		double q = quantiles[i];
		double exact = (double)values[(size_t)(q * (VALUES - 1))];

		is_double(histogram_quantile(&histogram, q), exact, exact / 64,
			  "%u bits: quantile %g", bits, q);
	}
	free(values);
}

static void test_edges(void)
{
	struct histogram histogram, empty;
	uint64_t i;

	histogram_clear(&empty);
	ok(isnan(histogram_quantile(&empty, 0.5)), "no value, no quantile");
	for (i = 0; i < 64; i++) {
		histogram_clear(&histogram);
		histogram_add(&histogram, i);
		if (histogram_quantile(&histogram, 0.5) != (double)i)
			break;
	}
	is_int(i, 64, "small values are exact");
	histogram_clear(&histogram);
	histogram_add(&histogram, 1000);
	histogram_merge(&histogram, &empty);
	is_int(histogram.min, 1000, "nothing merged changes nothing");
	histogram_add(&histogram, UINT64_MAX);
	is_int(histogram.n, 2, "the largest value there is has a bucket");
	ok(histogram.max == UINT64_MAX, "and is the maximum");
}

int main(void)
{
	test_quantiles(6);
	test_quantiles(20);
	test_quantiles(43);
	test_edges();
	return done();
}
