/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "explain.h"
#include "report.h"

static const char *const step_name[] = {
	[STEP_FOUND] = "found",
	[STEP_ALL_FULL] = "all flushes full",
	[STEP_ALL_PAGE] = "all flushes page by page",
	[STEP_NONE] = "none",
};

json_t *explain_tlb_json(const struct reach *reach)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source",
			 "measured", "l1_knee_pages",
			 report_estimate(&reach->l1_knee),
			 "last_level_knee_pages",
			 report_estimate(&reach->last_knee), "l1_entries",
			 report_estimate(&reach->l1), "last_level_entries",
			 report_estimate(&reach->last), "hit_l1_ns",
			 report_estimate(&reach->hit_l1), "hit_last_ns",
			 report_estimate(&reach->hit_last), "walk_ns",
			 report_estimate(&reach->walk));
}

/* The ceiling: known exactly where there is a step, its ci95 a point. */
static json_t *ceiling_json(const struct findings *findings)
{
	const struct step *step = &findings->step;
	struct estimate ceiling = stats_unknown();
	json_t *json;

	if (step->kind == STEP_FOUND)
		ceiling = (struct estimate){ step->ceiling,
					     { step->below, step->above - 1 } };
	json = report_estimate(&ceiling);
	json_object_set_new(json, "step", json_string(step_name[step->kind]));
	if (step->kind == STEP_FOUND)
		json_object_set_new(json, "seen_by",
				    json_string(findings->step_by_knob ?
							"knob" :
							"timings"));
	json_object_set_new(json, "height_ns",
			    report_number(step->kind == STEP_FOUND ?
						  step->height_ns :
						  NAN));
	return json;
}

static json_t *regimes_json(const struct regimes *regimes)
{
	if (!regimes->found)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "low", report_number(regimes->low),
			 "high", report_number(regimes->high), "high_share",
			 report_number(regimes->high_share));
}

/* {"estimate", "ci95", "run95"}: the last is that of this run's average. */
static json_t *cost_json(const struct estimate *wide,
			 const struct estimate *run)
{
	json_t *json = report_estimate(wide);
	json_t *narrow = report_estimate(run);

	json_object_set(json, "run95", json_object_get(narrow, "ci95"));
	json_decref(narrow);
	return json;
}

static json_t *fit_json(const struct findings *findings)
{
	const struct fit *fit = &findings->fit;
	json_t *json = json_pack("{s:o, s:o}", "ceiling",
				 ceiling_json(findings), "blocks",
				 json_integer((json_int_t)fit->n_blocks));

	if (fit->n_blocks == 0)
		return json;
	json_object_set_new(json, "a", cost_json(&findings->costs.a, &fit->a));
	json_object_set_new(json, "b", cost_json(&findings->costs.b, &fit->b));
	json_object_set_new(json, "c_i",
			    cost_json(&findings->costs.c_i, &fit->c_i));
	json_object_set_new(json, "c_f",
			    cost_json(&findings->costs.c_f, &fit->c_f));
	json_object_set_new(json, "c_i_drift", report_number(fit->drift));
	json_object_set_new(json, "c_i_regimes", regimes_json(&fit->regimes));
	json_object_set_new(json, "page_flush_empties_tlb",
			    json_boolean(findings->page_flush_empties_tlb));
	return json;
}

/* One working set and pattern: its labels, n* and the refill behind it. */
static json_t *break_even_entry(const struct findings *findings, size_t i)
{
	const struct refill *refill = &findings->refill[i];
	json_t *pages = cost_json(&findings->pages[i], &refill->pages);
	json_t *entry = json_pack(
		"{s:I, s:s, s:O, s:O, s:O, s:b, s:o, s:o, s:o}", "working_set",
		(json_int_t)refill->w, "pattern", pattern_name[refill->pattern],
		"pages", json_object_get(pages, "estimate"), "ci95",
		json_object_get(pages, "ci95"), "run95",
		json_object_get(pages, "run95"), "extrapolated",
		refill->pages.value > findings->step.ceiling,
		"warm_ns_per_page", report_estimate(&refill->warm),
		"refill_ns_per_page", report_estimate(&refill->refill),
		"saved_ns_per_page", report_estimate(&refill->step));

	json_decref(pages);
	return entry;
}

static json_t *break_even_json(const struct findings *findings)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < findings->n_refill; i++)
		json_array_append_new(list, break_even_entry(findings, i));
	return list;
}

json_t *explain_regret_json(const struct regret *regret, unsigned int pages)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:{s:I, s:I, s:s}}",
			 "pages", (json_int_t)pages, "worst",
			 report_number(regret->worst), "mean",
			 report_number(regret->mean), "total",
			 report_number(regret->total), "kernel_compile",
			 report_number(regret->compile), "worst_case", "pages",
			 (json_int_t)regret->worst_n, "working_set",
			 (json_int_t)regret->worst_w, "pattern",
			 pattern_name[regret->worst_pattern]);
}

/* A gain, and whether it is worth it. */
static json_t *gain_json(const struct estimate *gain)
{
	json_t *json = report_estimate(gain);

	json_object_set_new(json, "leave_it_alone",
			    json_boolean(!(gain->value >= CHOICE_GAIN_MIN)));
	return json;
}

/* What every factor would do: the choice can be seen among them. */
static json_t *by_factor_json(const struct findings *findings)
{
	json_t *list = json_array();
	int factor;

	for (factor = COST_FACTOR_MIN; factor <= COST_FACTOR_MAX; factor++) {
		unsigned int pages = cost_ceiling(factor, findings->entries);
		struct regret regret =
			choice_regret(&findings->model, &findings->grid, pages);

		json_array_append_new(
			list, json_pack("{s:i, s:I, s:o, s:o, s:o}", "factor",
					factor, "pages", (json_int_t)pages,
					"worst", report_number(regret.worst),
					"mean", report_number(regret.mean),
					"total", report_number(regret.total)));
	}
	return list;
}

static json_t *choice_json(const struct findings *findings)
{
	const struct choice *choice = &findings->choice;

	if (findings->reason)
		return json_pack("{s:n, s:s}", "factor", "reason",
				 findings->reason);
	return json_pack(
		"{s:i, s:I, s:[f, f], s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:f, s:I, s:o}",
		"factor", choice->factor, "pages", (json_int_t)choice->pages,
		"ci95", findings->pages_lo, findings->pages_hi, "objective",
		objective_name[findings->grid.objective], "entries",
		(json_int_t)findings->entries, "regret_choice",
		explain_regret_json(&choice->regret, choice->pages),
		"regret_in_force",
		explain_regret_json(&findings->in_force,
				    findings->pages_in_force),
		"regret_stock",
		explain_regret_json(&findings->stock, DERIVE_STOCK_CEILING),
		"regret_best_pages",
		explain_regret_json(&choice->best_regret, choice->best_pages),
		"bootstrap_agreement", report_number(findings->agreement),
		"extrapolated", report_number(findings->extrapolated), "gain",
		gain_json(&findings->gain), "gain_best_pages",
		gain_json(&findings->gain_pages), "gain_threshold",
		CHOICE_GAIN_MIN, "measured_pages",
		(json_int_t)findings->measured, "regret_by_factor",
		by_factor_json(findings));
}

static json_t *verify_json(const struct findings *findings)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < findings->n_check; i++) {
		const struct check *check = &findings->check[i];

		json_array_append_new(
			list,
			json_pack("{s:I, s:s, s:I, s:o, s:o, s:o}",
				  "working_set", (json_int_t)check->w,
				  "pattern", pattern_name[check->pattern],
				  "pages", (json_int_t)check->n, "predicted_ns",
				  report_number(check->predicted_ns),
				  "measured_ns",
				  report_estimate(&check->measured_ns), "error",
				  report_number(check->error)));
	}
	return list;
}

/* results: summaries over the time blocks ------------------------------- */

/* Append the summary of x[n] (one value a block) with its labels. */
static int add_result(json_t *results, const char *what, json_t *pages,
		      json_t *working_set, json_t *pattern, const double *x,
		      size_t n)
{
	json_t *result = json_pack("{s:s, s:o, s:o, s:o}", "what", what,
				   "pages", pages, "working_set", working_set,
				   "pattern", pattern);
	struct summary summary;

	if (!result || stats_summarise(x, n, &summary) < 0) {
		json_decref(result);
		return -1;
	}
	json_object_update_new(result, report_summary(&summary, "ns"));
	return json_array_append_new(results, result);
}

/* One result for each size, in the order of the first block. */
static int add_calls(json_t *results, const struct record *record, double *x)
{
	size_t first, i, n;

	for (first = 0; first < record->n_op; first++) {
		const struct op_point *point = &record->op[first];

		if (point->block != record->op[0].block)
			break;
		for (i = first, n = 0; i < record->n_op; i++)
			if (record->op[i].n == point->n)
				x[n++] = record->op[i].ns;
		if (add_result(results, "call", json_integer(point->n),
			       json_null(), json_null(), x, n) < 0)
			return -1;
	}
	return 0;
}

static int add_refills(json_t *results, const struct record *record, double *x)
{
	static const char *const what[] = { "warm pass", "pass after pages",
					    "pass after full flush",
					    "full less pages" };
	size_t first, i, n, k;

	for (first = 0; first < record->n_refill; first++) {
		const struct refill_point *point = &record->refill[first];

		if (point->block != record->refill[0].block)
			break;
		for (k = 0; k < 4; k++) {
			for (i = first, n = 0; i < record->n_refill; i++) {
				const struct refill_point *p =
					&record->refill[i];
				const double ns[] = { p->warm_ns, p->page_ns,
						      p->full_ns, p->step_ns };

				if (p->w == point->w &&
				    p->pattern == point->pattern)
					x[n++] = ns[k];
			}
			if (add_result(
				    results, what[k], json_null(),
				    json_integer(point->w),
				    json_string(pattern_name[point->pattern]),
				    x, n) < 0)
				return -1;
		}
	}
	return 0;
}

static json_t *results_json(const struct record *record)
{
	json_t *results = json_array();
	double *x = calloc(record->n_op + record->n_refill + 1, sizeof(*x));

	if (!results || !x || add_calls(results, record, x) < 0 ||
	    add_refills(results, record, x) < 0) {
		json_decref(results);
		results = NULL;
	}
	free(x);
	return results;
}

int explain_json(json_t *report, const struct record *record,
		 const struct findings *findings)
{
	if (json_object_set_new(report, "tlb",
				explain_tlb_json(&findings->reach)) < 0 ||
	    json_object_set_new(report, "fit", fit_json(findings)) < 0 ||
	    json_object_set_new(report, "both",
				explain_both_json(&findings->both)) < 0 ||
	    json_object_set_new(report, "break_even",
				break_even_json(findings)) < 0 ||
	    json_object_set_new(report, "choice", choice_json(findings)) < 0 ||
	    json_object_set_new(report, "verify", verify_json(findings)) < 0 ||
	    json_object_set_new(report, "results", results_json(record)) < 0 ||
	    json_object_set_new(report, "record", record_json(record)) < 0)
		return -1;
	return 0;
}
