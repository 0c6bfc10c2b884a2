/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "decide.h"
#include "derive.h"
#include "plan.h"
#include "repeat.h"

/* the working sets ------------------------------------------------------ */

/* The distinct working sets of the refill points, ascending; *n of them. */
static unsigned int *working_sets(const struct record *record, size_t *n)
{
	unsigned int *w = calloc(record->n_refill + 1, sizeof(*w));
	size_t i;

	if (!w)
		return NULL;
	for (i = 0; i < record->n_refill; i++)
		w[i] = record->refill[i].w;
	*n = plan_sort_unique(w, record->n_refill);
	return w;
}

/* Break-even without reuse: points of no pages that cost no refill. */
static int refill_of_nothing(struct findings *out, enum pattern pattern,
			     struct refill *refill)
{
	struct refill_point *points =
		calloc(out->fit.n_blocks, sizeof(*points));
	size_t i;
	int status;

	if (!points)
		return -1;
	for (i = 0; i < out->fit.n_blocks; i++)
		points[i] = (struct refill_point){
			.block = out->fit.blocks[i].block,
			.pattern = pattern,
			.count = 1,
		};
	status = estimate_refill(&out->fit, points, out->fit.n_blocks, pattern,
				 0, refill);
	refill->warm = refill->refill = refill->step = stats_unknown();
	free(points);
	return status;
}

static int derive_refills(const struct record *record, struct findings *out)
{
	size_t n_sets = 0, i;
	unsigned int *w = working_sets(record, &n_sets);
	int pattern, status = w ? 0 : -1;

	out->refill = calloc(PATTERNS * (n_sets + 1), sizeof(*out->refill));
	if (!out->refill)
		status = -1;
	for (pattern = 0; pattern < PATTERNS && status == 0; pattern++) {
		status = refill_of_nothing(out, (enum pattern)pattern,
					   &out->refill[out->n_refill++]);
		for (i = 0; i < n_sets && status == 0; i++)
			status = estimate_refill(&out->fit, record->refill,
						 record->n_refill,
						 (enum pattern)pattern, w[i],
						 &out->refill[out->n_refill++]);
	}
	out->model.n_sets = n_sets;
	out->model.w = w;
	return status;
}

/* another run ----------------------------------------------------------- */

enum cost { COST_A, COST_B, COST_C_I, COST_C_F };

static double block_cost(const struct block_fit *block, enum cost cost)
{
	const double costs[] = {
		[COST_A] = block->a,
		[COST_B] = block->b,
		[COST_C_I] = block->c_i,
		[COST_C_F] = block->c_f,
	};

	return costs[cost];
}

/* One cost with its interval for another run. x: room for all blocks. */
static struct estimate widen_cost(const struct fit *fit, enum cost cost,
				  const struct estimate *run, double *x)
{
	size_t i;

	for (i = 0; i < fit->n_blocks; i++)
		x[i] = block_cost(&fit->blocks[i], cost);
	return repeat_widen(run, x, fit->n_blocks);
}

/*
 * The break-even with its interval for another run: a block's part in the ratio
 * of means (c_f + D) / c_i is, to first order, its residual over the mean c_i.
 */
static struct estimate widen_pages(const struct fit *fit,
				   const struct refill *refill, double *x)
{
	const struct estimate *run = &refill->pages;
	size_t i;

	for (i = 0; i < fit->n_blocks; i++) {
		const struct block_fit *block = &fit->blocks[i];

		x[i] = (block->c_f + refill->block_step_ns[i] -
			run->value * block->c_i) /
		       fit->c_i.value;
	}
	return repeat_widen(run, x, fit->n_blocks);
}

/* Widen the intervals of costs and break-evens to those of another run. */
static int derive_repeat(struct findings *out)
{
	const struct fit *fit = &out->fit;
	double *x = calloc(fit->n_blocks, sizeof(*x));
	size_t i;

	out->pages = calloc(out->n_refill, sizeof(*out->pages));
	if (!x || !out->pages) {
		free(x);
		return -1;
	}
	out->costs.a = widen_cost(fit, COST_A, &fit->a, x);
	out->costs.b = widen_cost(fit, COST_B, &fit->b, x);
	out->costs.c_i = widen_cost(fit, COST_C_I, &fit->c_i, x);
	out->costs.c_f = widen_cost(fit, COST_C_F, &fit->c_f, x);
	for (i = 0; i < out->n_refill; i++)
		out->pages[i] = widen_pages(fit, &out->refill[i], x);
	free(x);
	return 0;
}

/* held-out working sets ------------------------------------------------- */

/* The check of the working set and pattern of one held-out point. */
static int derive_check(const struct record *record,
			const struct findings *findings,
			const struct held_out_point *point, struct check *check)
{
	const struct cost_model *model = &findings->model;
	double *x = calloc(record->n_held_out, sizeof(*x));
	bool extrapolated = false;
	double step, larger;
	size_t i, n = 0;

	if (!x)
		return -1;
	for (i = 0; i < record->n_held_out; i++) {
		const struct held_out_point *p = &record->held_out[i];

		if (p->pattern == point->pattern && p->w == point->w)
			x[n++] = p->difference_ns;
	}
	step = cost_step(model, point->w, point->pattern, &extrapolated);
	larger = fmax(fabs(model->c_f + step), fabs(point->n * model->c_i));
	*check = (struct check){
		.pattern = point->pattern,
		.w = point->w,
		.n = point->n,
		.predicted_ns = cost_full(model, point->n + 1, point->w,
					  point->pattern) -
				cost_page(model, point->n),
		.measured_ns = { stats_median(x, n), stats_t_interval(x, n) },
	};
	check->error =
		fabs(check->predicted_ns - check->measured_ns.value) / larger;
	free(x);
	return 0;
}

static int derive_checks(const struct record *record, struct findings *out)
{
	size_t i, k;

	out->check = calloc(record->n_held_out + 1, sizeof(*out->check));
	if (!out->check)
		return -1;
	for (i = 0; i < record->n_held_out; i++) {
		const struct held_out_point *point = &record->held_out[i];

		for (k = 0; k < out->n_check; k++)
			if (out->check[k].pattern == point->pattern &&
			    out->check[k].w == point->w)
				break;
		if (k == out->n_check &&
		    derive_check(record, out, point,
				 &out->check[out->n_check++]) < 0)
			return -1;
	}
	return 0;
}

/* all of it ------------------------------------------------------------- */

static const char *no_step_reason(enum step_kind kind)
{
	switch (kind) {
	case STEP_ALL_FULL:
		return "every flush is a full one, whatever its size: a ceiling "
		       "of 0, or a hypervisor (Xen PV) that flushes all";
	case STEP_ALL_PAGE:
		return "no flush of up to 512 pages is a full one: the ceiling "
		       "is 512 or more, or flushes are broadcast (INVLPGB)";
	case STEP_NONE:
		return "no step at any size, and the working set is cold after "
		       "every flush: INVLPG empties the whole TLB here, or all "
		       "flushes are full";
	case STEP_FOUND:
		break;
	}
	return NULL;
}

/*
 * The step as the blocks saw it; the search's where no block was measured. If
 * they differ the ceiling was changed during the run; by one page they may
 * differ where the two ways cost the same at the ceiling, which then shifts no
 * cost.
 */
static bool same_ceiling(const struct step *a, const struct step *b)
{
	return a->kind == STEP_FOUND && b->kind == STEP_FOUND &&
	       a->ceiling <= b->ceiling + 1 && b->ceiling <= a->ceiling + 1;
}

static int step_by_timings(const struct record *record, struct findings *out)
{
	struct step step;

	if (estimate_step(record->search, record->n_search, &record->reaccess,
			  &out->step) < 0)
		return -1;
	out->reason = no_step_reason(out->step.kind);
	if (out->reason || record->n_op == 0)
		return 0;
	if (estimate_step(record->op, record->n_op, &record->reaccess, &step) <
	    0)
		return -1;
	if (!same_ceiling(&step, &out->step))
		out->reason = "the search and the measuring after it saw "
			      "different ceilings: was it changed meanwhile?";
	out->step = step;
	return 0;
}

/* The step where the knob says that it is, of which no timing tells. */
static struct step knob_step(const struct record *record)
{
	const unsigned int ceiling = (unsigned int)record->knob_ceiling;

	return (struct step){
		.kind = STEP_FOUND,
		.ceiling = ceiling,
		.below = ceiling,
		.above = ceiling + 1,
		.height_ns = NAN,
	};
}

/* What the knob says of the costs; nothing where there was none. */
static int derive_both(const struct record *record, struct findings *out)
{
	if (both_fit(record->both, record->n_both, &out->both) < 0 &&
	    errno != EINVAL)
		return -1;
	return 0;
}

/*
 * A knob that is seen to act says where the step is; without it the timings
 * have to, which are too unsteady on some machines.
 */
static int derive_step(const struct record *record, struct findings *out)
{
	const struct step knob = knob_step(record);

	if (step_by_timings(record, out) < 0)
		return -1;
	if (record->knob_ceiling <= 0 || !both_acts(&out->both) ||
	    (!out->reason && same_ceiling(&out->step, &knob)))
		return 0;
	out->step = knob;
	out->step_by_knob = true;
	out->reason = NULL;
	return 0;
}

int derive_search_step(const struct record *record, struct step *step)
{
	struct findings so_far = { 0 };
	int status = derive_both(record, &so_far);

	if (status == 0)
		status = derive_step(record, &so_far);
	*step = so_far.step;
	derive_free(&so_far);
	return status;
}

static int derive_reach(const struct record *record, struct findings *out)
{
	out->reach = reach_unknown();
	if (record->n_reach &&
	    reach_find(record->reach, record->n_reach, &out->reach) < 0 &&
	    errno != EINVAL)
		return -1;
	if (isfinite(out->reach.last.value))
		out->entries = (unsigned int)lround(out->reach.last.value);
	return 0;
}

static int derive_costs(const struct record *record, struct findings *out)
{
	if (estimate_fit(record->op, record->n_op, &out->step, &out->fit) < 0)
		return -1;
	if (derive_refills(record, out) < 0 || derive_repeat(out) < 0)
		return -1;
	both_check(&out->both, &out->costs.a, &out->costs.b, &out->costs.c_i,
		   &out->costs.c_f);
	out->page_flush_empties_tlb = estimate_page_flush_empties_tlb(
		record->refill, record->n_refill);
	out->model.step = calloc(out->model.n_sets, sizeof(*out->model.step));
	if (!out->model.step)
		return -1;
	decide_model(out);
	return 0;
}

static void forget_refills(struct findings *findings)
{
	size_t i;

	for (i = 0; i < findings->n_refill; i++)
		estimate_refill_free(&findings->refill[i]);
	free(findings->refill);
	free(findings->pages);
	findings->refill = NULL;
	findings->pages = NULL;
	findings->n_refill = 0;
}

int derive(const struct record *record, const struct question *question,
	   struct findings *out)
{
	*out = (struct findings){ 0 };
	if (derive_reach(record, out) < 0 || derive_both(record, out) < 0 ||
	    derive_step(record, out) < 0)
		goto fail;
	if (question->entries)
		out->entries = question->entries;
	if (out->reason)
		return 0;
	if (derive_costs(record, out) < 0) {
		if (errno != EINVAL)
			goto fail;
		forget_refills(out);
		out->reason = "fewer than three time blocks were measured, or "
			      "not every working set in every pattern";
		return 0;
	}
	if (!decide_knows(&out->model)) {
		out->reason = "the ceiling in force leaves too few sizes on "
			      "one of its sides to fit the costs";
		return 0;
	}
	out->model.next = question->also ? &question->also->model : NULL;
	if (derive_checks(record, out) < 0)
		goto fail;
	if (!out->entries) {
		out->reason = "the number of TLB entries, to which the factor "
			      "is relative, could not be measured";
		return 0;
	}
	if (decide(record, question, out) < 0)
		goto fail;
	return 0;
fail:
	derive_free(out);
	return -1;
}

void derive_free(struct findings *findings)
{
	int error = errno;

	forget_refills(findings);
	free(findings->check);
	free(findings->model.w);
	free(findings->model.step);
	estimate_fit_free(&findings->fit);
	both_free(&findings->both);
	*findings = (struct findings){ 0 };
	errno = error;
}
