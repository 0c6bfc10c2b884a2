/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_statistics_double.h>

#include "series.h"

/* The trend is a cubic, or less where there are few values for each term. */
#define DEGREE_MAX 3
#define VALUES_PER_DEGREE 6

int series_open(struct series *series, size_t count, size_t n)
{
	size_t i;

	for (i = 0; i < count; i++) {
		/* + 1: no values are no failure */
		series[i] = (struct series){
			.x = calloc(2 * n + 1, sizeof(*series[i].x)),
			.freedom = NAN,
		};
		if (!series[i].x) {
			series_close(series, i);
			return -1;
		}
		series[i].rest = series[i].x + n;
	}
	return 0;
}

void series_close(struct series *series, size_t count)
{
	while (count-- > 0)
		free(series[count].x);
}

void series_add(struct series *series, double value)
{
	if (isfinite(value))
		series->x[series->n++] = value;
}

int series_detrend(struct series *series)
{
	const size_t n = series->n;
	const size_t degree = n / VALUES_PER_DEGREE < DEGREE_MAX ?
				      n / VALUES_PER_DEGREE :
				      DEGREE_MAX;
	gsl_multifit_linear_workspace *work;
	gsl_matrix *t, *cov;
	gsl_vector *c;
	double sumsq;
	size_t i, power;
	int ret = -1;

	if (n < SERIES_MIN)
		return 0;
	t = gsl_matrix_alloc(n, degree + 1);
	cov = gsl_matrix_alloc(degree + 1, degree + 1);
	c = gsl_vector_alloc(degree + 1);
	work = gsl_multifit_linear_alloc(n, degree + 1);
	if (t && cov && c && work) {
		gsl_vector_view x = gsl_vector_view_array(series->x, n);
		gsl_vector_view rest = gsl_vector_view_array(series->rest, n);

		for (i = 0; i < n; i++)
			for (power = 0; power <= degree; power++)
				gsl_matrix_set(
					t, i, power,
					pow(2. * (double)i / (double)n - 1,
					    (double)power));
		gsl_multifit_linear(t, &x.vector, c, cov, &sumsq, work);
		gsl_multifit_linear_residuals(t, &x.vector, c, &rest.vector);
		series->freedom = (double)(n - degree - 1);
		ret = 0;
	} else {
		errno = ENOMEM;
	}
	gsl_multifit_linear_free(work);
	gsl_vector_free(c);
	gsl_matrix_free(cov);
	gsl_matrix_free(t);
	return ret;
}

static double covariance(const struct series *x, const struct series *y)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < x->n; i++)
		sum += x->rest[i] * y->rest[i];
	return sum / x->freedom;
}

double series_variance(const struct series *series)
{
	return series->n < SERIES_MIN ? NAN : covariance(series, series);
}

/* Square of the t that 95 % are within, over n: variance to squared width. */
static double squared_reach(const struct series *series)
{
	return pow(gsl_cdf_tdist_Pinv(0.975, series->freedom), 2) /
	       (double)series->n;
}

struct estimate series_mean(const struct series *series)
{
	double mean, half;

	if (series->n < SERIES_MIN)
		return stats_unknown();
	mean = gsl_stats_mean(series->x, 1, series->n);
	half = sqrt(squared_reach(series) * covariance(series, series));
	return (struct estimate){ mean, { mean - half, mean + half } };
}

struct estimate series_ratio(const struct series *num, const struct series *den)
{
	double mean_num, mean_den, reach, a, b, c, root;

	if (num->n < SERIES_MIN || den->n != num->n)
		return stats_unknown();
	mean_num = gsl_stats_mean(num->x, 1, num->n);
	mean_den = gsl_stats_mean(den->x, 1, den->n);
	reach = squared_reach(num);

	/* a*rho^2 - 2*b*rho + c <= 0 */
	a = mean_den * mean_den - reach * covariance(den, den);
	b = mean_num * mean_den - reach * covariance(num, den);
	c = mean_num * mean_num - reach * covariance(num, num);
	if (!(a > 0))
		return stats_unknown();
	root = sqrt(fmax(b * b - a * c, 0));
	return (struct estimate){ mean_num / mean_den,
				  { (b - root) / a, (b + root) / a } };
}

double series_drift(const struct series *series)
{
	size_t third = series->n / 3;
	const double *last = series->x + series->n - third;

	if (third == 0)
		return NAN;
	return gsl_stats_mean(last, 1, third) /
		       gsl_stats_mean(series->x, 1, third) -
	       1;
}
