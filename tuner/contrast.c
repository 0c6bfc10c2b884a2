/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

#include "contrast.h"
#include "ranktest.h"
#include "repeat.h"

const char *const contrast_verdict_name[CONTRAST_VERDICTS] = {
	[CONTRAST_TOO_FEW] = "too few values",
	[CONTRAST_SAME] = "no difference seen",
	[CONTRAST_LOWER] = "lower",
	[CONTRAST_HIGHER] = "higher",
};

const char *const contrast_test_name[CONTRAST_TESTS] = {
	[CONTRAST_NO_TEST] = "none",
	[CONTRAST_RANKS] = "exact ranks",
	[CONTRAST_RANKS_NORMAL] = "approximate ranks",
	[CONTRAST_INTERVALS] = "intervals",
};

/* The values of one quantity on one side. */
struct values {
	double *x;
	size_t n;
};

static bool all_positive(const struct values *values)
{
	size_t i;

	for (i = 0; i < values->n; i++)
		if (!(values->x[i] > 0))
			return false;
	return true;
}

static void take_logarithms(struct values *values)
{
	size_t i;

	for (i = 0; i < values->n; i++)
		values->x[i] = log(values->x[i]);
}

/* Set the shift, on a logarithmic scale the ratio. */
static void set_shift(struct contrast *out, bool ratio,
		      const struct estimate *shift)
{
	if (ratio)
		out->ratio = (struct estimate){
			exp(shift->value),
			{ exp(shift->ci95.lo), exp(shift->ci95.hi) },
		};
	else
		out->difference = *shift;
}

/*
 * Not narrower than if each run held only REPEAT_INDEPENDENT values that do not
 * know of each other, as in repeat_widen.
 */
static void widen(struct estimate *shift, const struct values *a,
		  const struct values *b)
{
	double variance = gsl_stats_variance(a->x, 1, a->n) +
			  gsl_stats_variance(b->x, 1, b->n);
	double half = gsl_cdf_tdist_Pinv(0.975, 2 * (REPEAT_INDEPENDENT - 1)) *
		      sqrt(variance / REPEAT_INDEPENDENT);

	shift->ci95.lo = fmin(shift->ci95.lo, shift->value - half);
	shift->ci95.hi = fmax(shift->ci95.hi, shift->value + half);
}

/* Compare values by their ranks; blocks: they are those of one run a side. */
static int by_ranks(struct values *a, struct values *b, bool blocks,
		    struct contrast *out)
{
	bool ratio = all_positive(a) && all_positive(b);
	struct ranktest test;
	struct estimate shift;

	out->values_a = a->n;
	out->values_b = b->n;
	if (a->n < RANKTEST_MIN || b->n < RANKTEST_MIN)
		return 0;
	if (ratio) {
		take_logarithms(a);
		take_logarithms(b);
	}
	if (ranktest(a->x, a->n, b->x, b->n, &test) < 0)
		return -1;
	shift = (struct estimate){ test.shift, test.ci95 };
	if (blocks)
		widen(&shift, a, b);
	set_shift(out, ratio, &shift);
	out->p = test.p;
	out->test = test.exact ? CONTRAST_RANKS : CONTRAST_RANKS_NORMAL;
	return 0;
}

static bool is_known(const struct quantity *quantity)
{
	return isfinite(quantity->value) && isfinite(quantity->ci95.lo) &&
	       isfinite(quantity->ci95.hi);
}

/* The distance from the value to one end of its interval, on either scale. */
static double half(const struct quantity *of, double end, bool ratio)
{
	return ratio ? log(end / of->value) : end - of->value;
}

/*
 * Compare by intervals: that of a difference reaches as far as the root of the
 * squares of what the two reach in that direction. p: as if it were normal.
 */
static void by_intervals(const struct quantity *a, const struct quantity *b,
			 struct contrast *out)
{
	bool ratio = a->value > 0 && a->ci95.lo > 0 && b->value > 0 &&
		     b->ci95.lo > 0;
	struct estimate shift;
	double reach;

	if (!is_known(a) || !is_known(b))
		return;
	shift.value = ratio ? log(b->value / a->value) : b->value - a->value;
	shift.ci95.lo = shift.value - hypot(half(b, b->ci95.lo, ratio),
					    half(a, a->ci95.hi, ratio));
	shift.ci95.hi = shift.value + hypot(half(b, b->ci95.hi, ratio),
					    half(a, a->ci95.lo, ratio));
	reach = shift.value > 0 ? shift.value - shift.ci95.lo :
				  shift.ci95.hi - shift.value;
	if (shift.value == 0)
		out->p = 1;
	else
		out->p = 2 * gsl_cdf_ugaussian_Q(gsl_cdf_ugaussian_Pinv(0.975) *
						 fabs(shift.value) / reach);
	out->test = CONTRAST_INTERVALS;
	set_shift(out, ratio, &shift);
}

/* The quantity in all runs; false where one has none. */
static bool find_all(const struct quantities *runs, size_t n,
		     const struct quantity *like, struct values *values)
{
	size_t i;

	values->n = 0;
	for (i = 0; i < n; i++) {
		const struct quantity *found =
			quantities_find(&runs[i], like->label, like->unit);

		if (!found)
			return false;
		if (isfinite(found->value))
			values->x[values->n++] = found->value;
	}
	return true;
}

/* The time blocks that have a value. */
static void take_blocks(const struct quantity *quantity, struct values *values)
{
	size_t i;

	values->n = 0;
	for (i = 0; i < quantity->blocks; i++)
		if (isfinite(quantity->block[i]))
			values->x[values->n++] = quantity->block[i];
}

struct sides {
	const struct quantities *a, *b;
	size_t na, nb;
	struct values va, vb; /* room for all blocks or runs */
};

/* factor * x[i] = y[i] in all blocks, but for rounding. */
static bool is_multiple(const struct quantity *x, const struct quantity *y,
			double factor)
{
	size_t i;

	for (i = 0; i < x->blocks && i < y->blocks; i++)
		if (!(fabs(x->block[i] * factor - y->block[i]) <=
		      1e-9 * fabs(y->block[i])))
			return false;
	return x->blocks && x->blocks == y->blocks;
}

/*
 * The quantity says in another unit what the one before it says, in both runs:
 * ns per page beside ns per call. That is no question of its own.
 */
static bool is_repeated(const struct sides *sides, const struct quantity *a)
{
	const struct quantity *before = a - 1, *b, *b_before;
	double factor;

	if (a == sides->a[0].of)
		return false;
	b = quantities_find(&sides->b[0], a->label, a->unit);
	b_before = quantities_find(&sides->b[0], before->label, before->unit);
	factor = a->value / before->value;
	return b && b_before && is_multiple(before, a, factor) &&
	       is_multiple(b_before, b, factor);
}

/* Contrast one quantity; 1 when not all runs have it, -1 on ENOMEM. */
static int contrast_one(struct sides *sides, const struct quantity *a,
			struct contrast *out)
{
	const struct quantity *b =
		quantities_find(&sides->b[0], a->label, a->unit);
	bool runs = sides->na > 1 || sides->nb > 1;

	if (!find_all(sides->a, sides->na, a, &sides->va) ||
	    !find_all(sides->b, sides->nb, a, &sides->vb))
		return 1;
	*out = (struct contrast){
		.label = a->label,
		.unit = a->unit,
		.a = stats_median(sides->va.x, sides->va.n),
		.b = stats_median(sides->vb.x, sides->vb.n),
		.ratio = stats_unknown(),
		.difference = stats_unknown(),
		.p = NAN,
		.p_holm = NAN,
	};
	if (runs)
		return by_ranks(&sides->va, &sides->vb, false, out);
	if (a->blocks && b->blocks) {
		take_blocks(a, &sides->va);
		take_blocks(b, &sides->vb);
		return by_ranks(&sides->va, &sides->vb, true, out);
	}
	out->values_a = out->values_b = 1;
	by_intervals(a, b, out);
	return 0;
}

static enum contrast_verdict judge(const struct contrast *contrast)
{
	bool ratio = isfinite(contrast->ratio.value);
	const struct estimate *shift = ratio ? &contrast->ratio :
					       &contrast->difference;
	double none = ratio ? 1 : 0;

	if (isnan(contrast->p_holm))
		return CONTRAST_TOO_FEW;
	if (contrast->p_holm >= CONTRAST_ALPHA)
		return CONTRAST_SAME;
	if (shift->ci95.lo > none)
		return CONTRAST_HIGHER;
	if (shift->ci95.hi < none)
		return CONTRAST_LOWER;
	return CONTRAST_SAME;
}

static int judge_all(struct contrasts *all)
{
	double *p = calloc(all->n + 1, sizeof(*p));
	size_t i;
	int status;

	if (!p)
		return -1;
	for (i = 0; i < all->n; i++)
		p[i] = all->of[i].p;
	status = ranktest_holm(p, all->n);
	for (i = 0; i < all->n; i++) {
		all->of[i].p_holm = p[i];
		all->of[i].verdict = judge(&all->of[i]);
	}
	free(p);
	return status;
}

static int contrast_each(struct sides *sides, struct contrasts *out)
{
	const struct quantities *a = &sides->a[0], *b = &sides->b[0];
	size_t i;

	for (i = 0; i < a->n; i++) {
		int status;

		if (is_repeated(sides, &a->of[i]))
			continue;
		status = contrast_one(sides, &a->of[i], &out->of[out->n]);
		if (status < 0)
			return -1;
		if (status > 0)
			out->unmatched++;
		else
			out->n++;
	}
	for (i = 0; i < b->n; i++)
		if (!quantities_find(a, b->of[i].label, b->of[i].unit))
			out->unmatched++;
	return judge_all(out);
}

int contrast(const struct quantities *a, size_t na, const struct quantities *b,
	     size_t nb, struct contrasts *out)
{
	struct sides sides = { .a = a, .b = b, .na = na, .nb = nb };
	size_t room = STATS_BLOCKS + na + nb;
	int status = -1;

	*out = (struct contrasts){ .of = calloc(a->n + 1, sizeof(*out->of)) };
	sides.va.x = calloc(room, sizeof(*sides.va.x));
	sides.vb.x = calloc(room, sizeof(*sides.vb.x));
	if (out->of && sides.va.x && sides.vb.x)
		status = contrast_each(&sides, out);
	free(sides.va.x);
	free(sides.vb.x);
	if (status < 0)
		contrasts_free(out);
	return status;
}

bool contrast_above(const struct contrast *contrast, double percent)
{
	return contrast->verdict == CONTRAST_HIGHER &&
	       !strncmp(contrast->unit, "ns", 2) &&
	       contrast->ratio.ci95.lo > 1 + percent / 100;
}

void contrasts_free(struct contrasts *contrasts)
{
	free(contrasts->of);
	*contrasts = (struct contrasts){ 0 };
}
