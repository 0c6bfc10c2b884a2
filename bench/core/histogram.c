/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stddef.h>

#include "histogram.h"

#define SUB (1u << HISTOGRAM_SUB_BITS)

/* The bucket of a value: its highest bit and the SUB_BITS below that. */
static size_t bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < SUB)
		return (size_t)value;
	shift = 63u - (unsigned int)__builtin_clzll(value) - HISTOGRAM_SUB_BITS;
	if (shift > HISTOGRAM_BITS - HISTOGRAM_SUB_BITS - 1)
		return HISTOGRAM_BUCKETS - 1;
	return ((size_t)shift << HISTOGRAM_SUB_BITS) + (value >> shift);
}

/* The middle of the values that share the bucket. */
static double middle_of(size_t bucket)
{
	size_t shift;

	if (bucket < 2 * SUB)
		return (double)bucket;
	shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
	return ldexp((double)(bucket - (shift << HISTOGRAM_SUB_BITS)) + 0.5,
		     (int)shift) -
	       0.5;
}

void histogram_clear(struct histogram *histogram)
{
	*histogram = (struct histogram){ 0 };
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	if (!histogram->n || value < histogram->min)
		histogram->min = value;
	if (!histogram->n || value > histogram->max)
		histogram->max = value;
	histogram->n++;
	histogram->count[bucket_of(value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	size_t i;

	if (!from->n)
		return;
	if (!into->n || from->min < into->min)
		into->min = from->min;
	if (!into->n || from->max > into->max)
		into->max = from->max;
	into->n += from->n;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->count[i] += from->count[i];
}

double histogram_quantile(const struct histogram *histogram, double q)
{
	uint64_t rank, below = 0;
	double value;
	size_t i;

	if (!histogram->n)
		return NAN;
	rank = (uint64_t)floor(q * (double)(histogram->n - 1));
	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		below += histogram->count[i];
		if (below > rank)
			break;
	}
	value = middle_of(i);
	value = fmax(value, (double)histogram->min);
	return fmin(value, (double)histogram->max);
}
