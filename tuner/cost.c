/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <limits.h>
#include <math.h>

#include "cost.h"

double cost_step(const struct cost_model *model, unsigned int w,
		 enum pattern pattern, bool *extrapolated)
{
	double below_w = 0, below = 0; /* no working set, nothing to refill */
	size_t i;

	if (w == 0)
		return 0;
	for (i = 0; i < model->n_sets; i++) {
		double step = model->step[i][pattern];

		if (w == model->w[i])
			return step; /* even if a neighbour is unknown */
		if (w < model->w[i])
			return below + (step - below) * (w - below_w) /
					       (model->w[i] - below_w);
		below_w = model->w[i];
		below = step;
	}
	if (extrapolated)
		*extrapolated = true;
	return model->n_sets ? below : NAN;
}

double cost_page(const struct cost_model *model, unsigned int n)
{
	return model->a + n * (model->b + model->c_i);
}

double cost_full(const struct cost_model *model, unsigned int n, unsigned int w,
		 enum pattern pattern)
{
	return model->a + n * model->b + model->c_f +
	       cost_step(model, w, pattern, NULL);
}

unsigned int cost_ceiling(int factor, unsigned int entries)
{
	unsigned int pages;

	if (factor < 0)
		return 0;
	/* C leaves a shift by the width of the type or more undefined. */
	pages = factor < (int)sizeof(entries) * CHAR_BIT ? entries >> factor :
							   0;
	if (pages < 1)
		return 1;
	return pages < COST_CLAMP ? pages : COST_CLAMP;
}
