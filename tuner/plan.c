/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "plan.h"

static int compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

size_t plan_sort_unique(unsigned int *x, size_t n)
{
	size_t i, kept = 0;

	qsort(x, n, sizeof(*x), compare);
	for (i = 0; i < n; i++)
		if (kept == 0 || x[kept - 1] != x[i])
			x[kept++] = x[i];
	return kept;
}

size_t plan_log_sizes(unsigned int n[PLAN_SIZES])
{
	size_t i;

	for (i = 0; i < 19; i++)
		n[i] = (unsigned int)lround(pow(2, (double)i / 2));
	return plan_sort_unique(n, 19);
}

size_t plan_gap_sizes(unsigned int below, unsigned int above,
		      unsigned int n[PLAN_SIZES])
{
	size_t count = plan_log_sizes(n);
	unsigned int gap = above - below;
	unsigned int i, last = PLAN_SIZES - (unsigned int)count - 1;

	for (i = 0; i <= last; i++)
		n[count++] = below + i * gap / last;
	return plan_sort_unique(n, count);
}

/* Add a working set, unless there is one within 6 % of it. */
static void add_set(struct plan *plan, double pages)
{
	size_t i;

	for (i = 0; i < plan->n_sets; i++)
		if (fabs(plan->w[i] / pages - 1) < 0.06)
			return;
	plan->w[plan->n_sets++] = (unsigned int)lround(pages);
}

int plan_open(struct plan *plan, unsigned int ceiling, double entries)
{
	static const unsigned int sets[] = { 16, 64, 256, 1024 };
	static const double of_entries[] = { 0.5, 1, 2 };
	int near;
	size_t i;

	*plan = (struct plan){
		.n = calloc(64, sizeof(*plan->n)),
		.w = calloc(8, sizeof(*plan->w)),
		.ceiling = ceiling,
	};
	if (!plan->n || !plan->w) {
		plan_close(plan);
		return -1;
	}
	plan->n_sizes = plan_log_sizes(plan->n);
	for (near = 1 - PLAN_NEAR; near <= PLAN_NEAR; near++)
		if ((int)ceiling + near >= 1 &&
		    (int)ceiling + near <= PLAN_LARGEST)
			plan->n[plan->n_sizes++] =
				(unsigned int)((int)ceiling + near);
	/* More of the page-by-page side, whose slope matters most. */
	for (i = 1; i < 8; i++)
		plan->n[plan->n_sizes++] =
			1 + (unsigned int)i * (ceiling - 1) / 8;
	plan->n_sizes = plan_sort_unique(plan->n, plan->n_sizes);

	for (i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		plan->w[plan->n_sets++] = sets[i];
	for (i = 0; i < sizeof(of_entries) / sizeof(*of_entries); i++)
		if (isfinite(entries))
			add_set(plan, fmax(1, of_entries[i] * entries));
	if (!isfinite(entries))
		plan->w[plan->n_sets++] = 4096;
	plan->n_sets = plan_sort_unique(plan->w, plan->n_sets);
	return 0;
}

void plan_close(struct plan *plan)
{
	free(plan->n);
	free(plan->w);
	*plan = (struct plan){ 0 };
}
