/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>

#include "knee.h"

#define STEP 1.01	 /* between the E tried */
#define ROUGH_STEP 1.15	 /* ... for a rough place */
#define REACH 1.8	 /* how far E is looked for from a rough place */
#define MIN_RATIO 3.0	 /* between two levels; of known CPUs 5 .. 85 */
#define MIN_HEIGHT 0.15	 /* of a knee, relative to the control */
#define MIN_EVIDENCE 1.8 /* the same of LRU over random replacement */
#define ALIKE 2.5 /* the same of a kind over the best: may be right too */

/*
 * The weight of a kind in the mean is its mean square to this power: half as
 * much for one a quarter worse. Statistics would have it fall off far more
 * steeply, were one of the kinds the truth. By trial: as steep as it may be
 * without E jumping between kinds from run to run on one machine.
 */
#define WEIGHT_POWER (-3.0)

#define NEAR 1.2 /* the rise about its middle, as a factor of w */
#define TURNS 4	 /* in which the middle is found */

#define SAME 1e-9 /* a difference of two mean squares that is rounding */

#define MAX_TERMS 4

/*
 * Normal equations of a weighted linear fit. A search makes ten thousands of
 * fits of two to four terms: too many for a general solver.
 */
struct normal {
	double a[MAX_TERMS][MAX_TERMS], b[MAX_TERMS], yy;
	size_t n; /* points */
};

static void normal_add(struct normal *normal, size_t terms, const double *term,
		       const struct sample *sample)
{
	size_t i, j;

	for (i = 0; i < terms; i++) {
		for (j = 0; j <= i; j++)
			normal->a[i][j] += sample->weight * term[i] * term[j];
		normal->b[i] += sample->weight * term[i] * sample->excess;
	}
	normal->yy += sample->weight * sample->excess * sample->excess;
	normal->n++;
}

/*
 * Solve for the first terms of the equations by Cholesky's method. Returns the
 * mean square of the residuals; INFINITY if the terms don't differ, or if there
 * are no more points than terms.
 */
static double normal_solve(const struct normal *normal, size_t terms, double *x)
{
	double l[MAX_TERMS][MAX_TERMS] = { 0 }, square = normal->yy;
	size_t i, j, k;

	if (normal->n <= terms)
		return INFINITY;
	for (i = 0; i < terms; i++) {
		x[i] = normal->b[i];
		for (j = 0; j <= i; j++) {
			double sum = normal->a[i][j];

			for (k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			if (j < i)
				l[i][j] = sum / l[j][j];
			else if (sum > 1e-9 * normal->a[i][i])
				l[i][i] = sqrt(sum);
			else
				return INFINITY;
		}
		for (j = 0; j < i; j++)
			x[i] -= l[i][j] * x[j];
		x[i] /= l[i][i];
		square -= x[i] * x[i];
	}
	for (i = terms; i-- > 0;) {
		for (j = i + 1; j < terms; j++)
			x[i] -= l[j][i] * x[j];
		x[i] /= l[i][i];
	}
	/* less than 0 by rounding only */
	return fmax(square, 0) / (double)(normal->n - terms);
}

/*
 * Solve for terms - 1 terms, and the growth as the last one if it is free:
 * where nothing tells it, or where it comes out negative, it is 0.
 */
static double solve_growing(const struct normal *normal, size_t terms,
			    bool grows, double *x)
{
	double mean_square = grows ? normal_solve(normal, terms, x) : INFINITY;

	if (isfinite(mean_square) && x[terms - 1] >= 0)
		return mean_square;
	mean_square = normal_solve(normal, terms - 1, x);
	x[terms - 1] = 0;
	return mean_square;
}

static struct knee fit(const struct curve *curve,
		       const struct miss_table *table, double entries,
		       bool grows)
{
	struct knee knee = { .table = table,
			     .entries = entries,
			     .grows = grows };
	struct normal normal = { 0 };
	double x[MAX_TERMS] = { 0 }, log_entries = log2(entries);
	size_t i;

	for (i = 0; i < curve->n; i++) {
		double load = curve->samples[i].log_w - log_entries;
		double share = miss_share(table, load);
		const double term[] = { 1, share, load * share };

		normal_add(&normal, 3, term, &curve->samples[i]);
	}
	knee.mean_square = solve_growing(&normal, 3, grows, x);
	if (x[1] <= 0)
		knee.mean_square = INFINITY;
	knee.base = x[0];
	knee.height = x[1];
	knee.growth = x[2];
	knee.half = entries * exp2(table->half);
	return knee;
}

struct knee knee_search(const struct curve *curve,
			const struct miss_table *table, double about,
			double factor, bool grows)
{
	struct knee best = { .mean_square = INFINITY };
	double last = NAN, entries;

	for (entries = about / factor; entries <= about * factor;
	     entries *= STEP) {
		struct knee knee = fit(curve, table, entries, grows);

		if (knee.mean_square < best.mean_square) {
			best = knee;
			last = entries;
		} else if (knee.mean_square <= best.mean_square * (1 + SAME)) {
			last = entries;
		}
	}
	if (last > best.entries)
		best = fit(curve, table, sqrt(best.entries * last), grows);
	return best;
}

/*
 * Where the share of misses passes a half, by a straight line through the
 * points near there, which count less the farther they are from it. Only the
 * plateaus are those of the fit: no real TLB has quite the rise of a kind, and
 * a fit of the whole rise follows whatever disturbs its foot. What the kind
 * says where there is no such line.
 */
static double local_half(const struct curve *curve, const struct knee *knee)
{
	const double reach = log2(NEAR), log_entries = log2(knee->entries);
	double middle = log2(knee->half);
	int turn;

	for (turn = 0; turn < TURNS; turn++) {
		struct normal normal = { 0 };
		double x[MAX_TERMS];
		size_t i;

		for (i = 0; i < curve->n; i++) {
			struct sample sample = curve->samples[i];
			double plateau =
				knee->height +
				knee->growth * (sample.log_w - log_entries);
			double away = (sample.log_w - middle) / reach;
			const double term[] = { 1, away };

			if (fabs(away) >= 1 || plateau <= 0)
				continue;
			sample.excess =
				(sample.excess - knee->base) / plateau - 0.5;
			sample.weight = 1 - away * away;
			normal_add(&normal, 2, term, &sample);
		}
		if (!isfinite(normal_solve(&normal, 2, x)) ||
		    fabs(x[0]) >= x[1])
			return knee->half;
		middle -= x[0] / x[1] * reach;
	}
	return exp2(middle);
}

/* Is a knee the better one, other things being equal? */
static bool preferred(const struct knee *knee, const struct knee *best)
{
	double evidence = 1;

	if (!isfinite(knee->mean_square))
		return false;
	if (best->table && knee->table->kind.random_replacement &&
	    !best->table->kind.random_replacement)
		evidence = MIN_EVIDENCE;
	return knee->mean_square * evidence < best->mean_square;
}

/*
 * Set the means and the range of the best of knees[MISS_KINDS]. The kind only
 * says what E is, where half miss: that is steadier than what it fits itself.
 */
static void compare_kinds(const struct knee *knees, struct knee *best)
{
	double weights = 0, sum = 0, half_weights = 0, half_sum = 0;
	size_t i;

	best->low = best->high = best->entries;
	for (i = 0; i < MISS_KINDS; i++) {
		double worse = knees[i].mean_square / best->mean_square;
		double weight = pow(worse, WEIGHT_POWER);
		double entries = knees[i].half / exp2(knees[i].table->half);

		/* Beside an exact fit there is none. */
		if (!isfinite(worse))
			continue;
		half_weights += weight;
		half_sum += weight * log(knees[i].half);
		if (worse > ALIKE)
			continue;
		best->low = fmin(best->low, fmin(entries, knees[i].entries));
		best->high = fmax(best->high, fmax(entries, knees[i].entries));
		if (knees[i].table->kind.random_replacement !=
		    best->table->kind.random_replacement)
			continue;
		weights += weight;
		sum += weight * log(entries);
	}
	best->mean = weights > 0 ? exp(sum / weights) : best->entries;
	best->mean_half = half_weights > 0 ? exp(half_sum / half_weights) :
					     best->half;
}

struct knee knee_refine(const struct curve *curve,
			const struct miss_table *tables, double about,
			bool grows)
{
	struct knee knees[MISS_KINDS];
	struct knee best = { .mean_square = INFINITY };
	size_t i;

	for (i = 0; i < MISS_KINDS; i++) {
		knees[i] = knee_search(curve, &tables[i], about, REACH, grows);
		knees[i].half = local_half(curve, &knees[i]);
		if (preferred(&knees[i], &best))
			best = knees[i];
	}
	if (best.table)
		compare_kinds(knees, &best);
	return best;
}

/* How badly a smooth trend without any knee fits: a parabola in log w. */
static double trend_mean_square(const struct curve *curve)
{
	struct normal normal = { 0 };
	double x[MAX_TERMS];
	size_t i;

	for (i = 0; i < curve->n; i++) {
		double log_w = curve->samples[i].log_w;
		const double term[] = { 1, log_w, log_w * log_w };

		normal_add(&normal, 3, term, &curve->samples[i]);
	}
	return normal_solve(&normal, 3, x);
}

/* The control at the first w that is not below the knee. */
static double dense_at(const struct curve *curve, double w)
{
	size_t i = 0;

	while (i + 1 < curve->n && curve->samples[i].w < w)
		i++;
	return curve->samples[i].dense;
}

bool knee_stands(const struct curve *curve, const struct knee *knee,
		 double gain)
{
	size_t before = 0, after = 0, i;

	if (!isfinite(knee->mean_square))
		return false;
	for (i = 0; i < curve->n; i++) {
		double share =
			miss_share(knee->table, curve->samples[i].log_w -
							log2(knee->entries));

		before += share < 0.25;
		after += share > 0.8;
	}
	return before >= 2 && after >= 3 &&
	       knee->height >= MIN_HEIGHT * dense_at(curve, knee->entries) &&
	       trend_mean_square(curve) >= gain * knee->mean_square;
}

/* How well two knees at given E fit. */
static double pair_mean_square(const struct curve *curve,
			       const struct miss_table *table, double first,
			       double second)
{
	double log_first = log2(first), log_second = log2(second);
	double x[MAX_TERMS] = { 0 }, mean_square;
	struct normal normal = { 0 };
	size_t i;

	for (i = 0; i < curve->n; i++) {
		double load = curve->samples[i].log_w - log_second;
		double share = miss_share(table, load);
		const double term[] = {
			1,
			miss_share(table, curve->samples[i].log_w - log_first),
			share, load * share
		};

		normal_add(&normal, 4, term, &curve->samples[i]);
	}
	mean_square = solve_growing(&normal, 4, true, x);
	return x[1] > 0 && x[2] > 0 ? mean_square : INFINITY;
}

struct knee_pair knee_locate_pair(const struct curve *curve,
				  const struct miss_table *table)
{
	double least = curve->samples[0].w;
	double most = curve->samples[curve->n - 1].w;
	double best = INFINITY, first, second;
	struct knee_pair pair = { NAN, NAN };

	/* The second may begin to rise within the curve and end beyond it. */
	for (first = least; first < most; first *= ROUGH_STEP) {
		for (second = first * MIN_RATIO; second < 2 * most;
		     second *= ROUGH_STEP) {
			double mean_square =
				pair_mean_square(curve, table, first, second);

			if (mean_square < best) {
				best = mean_square;
				pair = (struct knee_pair){ first, second };
			}
		}
	}
	return pair;
}

double knee_locate(const struct curve *curve, const struct miss_table *table)
{
	double least = curve->samples[0].w;
	double most = curve->samples[curve->n - 1].w;
	double mean_square = INFINITY, place = NAN, entries;

	for (entries = least; entries < most; entries *= ROUGH_STEP) {
		struct knee knee = fit(curve, table, entries, true);

		if (knee.mean_square < mean_square) {
			mean_square = knee.mean_square;
			place = entries;
		}
	}
	return place;
}
