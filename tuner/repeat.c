/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "repeat.h"

/* Standard deviation of the known values of x[n]; *known of them. */
static double spread(const double *x, size_t n, size_t *known)
{
	double mean = 0, squares = 0;
	size_t i;

	*known = 0;
	for (i = 0; i < n; i++)
		if (isfinite(x[i])) {
			mean += x[i];
			++*known;
		}
	mean /= (double)*known;
	for (i = 0; i < n; i++)
		if (isfinite(x[i]))
			squares += (x[i] - mean) * (x[i] - mean);
	return sqrt(squares / ((double)*known - 1));
}

struct estimate repeat_widen(const struct estimate *run, const double *x,
			     size_t n)
{
	struct estimate wide = *run;
	size_t known;
	double sd = spread(x, n, &known), half;

	if (known < REPEAT_INDEPENDENT || !isfinite(run->value))
		return wide;
	half = gsl_cdf_tdist_Pinv(0.975, REPEAT_INDEPENDENT - 1) * sd /
	       sqrt(REPEAT_INDEPENDENT);
	wide.ci95.lo = fmin(run->ci95.lo, run->value - half);
	wide.ci95.hi = fmax(run->ci95.hi, run->value + half);
	return wide;
}
