/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "decide.h"
#include "report.h"
#include "workload.h"
#include "workload_json.h"

#define FACTOR_STEPS 32

/* ns of flushes in a second, and the ceiling they are for. */
static json_t *cost_json(unsigned int pages, double ns, double seconds)
{
	return json_pack("{s:I, s:o}", "pages", (json_int_t)pages,
			 "ns_per_second", report_number(ns / seconds));
}

/* The ceiling of those at hand that costs least; the smallest of equals. */
static unsigned int best_pages(const struct demand *demand,
			       const struct cost_model *model, unsigned int w)
{
	double least = INFINITY;
	unsigned int pages, best = 0;

	for (pages = 0; pages <= COST_CLAMP; pages++) {
		double ns = demand_cost(demand, model, w, pages);

		if (ns < least) {
			least = ns;
			best = pages;
		}
	}
	return best;
}

static int best_factor(const struct demand *demand,
		       const struct cost_model *model, unsigned int w,
		       unsigned int entries)
{
	double least = INFINITY;
	int factor, best = COST_FACTOR_MIN;

	for (factor = COST_FACTOR_MIN; factor <= COST_FACTOR_MAX; factor++) {
		double ns = demand_cost(demand, model, w,
					cost_ceiling(factor, entries));

		if (ns < least) {
			least = ns;
			best = factor;
		}
	}
	return best;
}

/*
 * The costs with reuse of w pages after each flush: a lower or an upper bound
 * of what the program reuses, or the estimate.
 */
static json_t *predict(const struct demand *demand,
		       const struct findings *findings, const char *bound,
		       unsigned int w, double seconds)
{
	const struct cost_model *model = &findings->model;
	unsigned int best = best_pages(demand, model, w);
	unsigned int now = findings->pages_in_force;
	json_t *json = json_pack(
		"{s:s, s:I, s:o, s:o, s:o}", "bound", bound, "reused_pages",
		(json_int_t)w, "in_force",
		cost_json(now, demand_cost(demand, model, w, now), seconds),
		"stock",
		cost_json(DERIVE_STOCK_CEILING,
			  demand_cost(demand, model, w, DERIVE_STOCK_CEILING),
			  seconds),
		"best",
		cost_json(best, demand_cost(demand, model, w, best), seconds));
	int factor;

	if (!findings->entries)
		return json;
	factor = best_factor(demand, model, w, findings->entries);
	json_object_set_new(json, "factor", json_integer(factor));
	return json;
}

/* The least and the greatest factor that is best for any W in the interval. */
static json_t *factors(const struct demand *demand,
		       const struct findings *findings,
		       const struct interval *w)
{
	int low = COST_FACTOR_MAX, high = COST_FACTOR_MIN, i;

	if (!findings->entries || !isfinite(w->lo) || !isfinite(w->hi))
		return json_null();
	for (i = 0; i <= FACTOR_STEPS; i++) {
		double at = w->lo + (w->hi - w->lo) * i / FACTOR_STEPS;
		int factor = best_factor(demand, &findings->model,
					 (unsigned int)lround(at),
					 findings->entries);

		low = factor < low ? factor : low;
		high = factor > high ? factor : high;
	}
	return json_pack("[i, i]", low, high);
}

/* With no reuse, with that estimated and with the most there may be. */
static json_t *predictions(const struct demand *demand,
			   const struct findings *findings,
			   const struct reuse *reuse, double seconds)
{
	json_t *list = json_array(), *estimate;

	/* Every policy costs as much where there is nothing to flush. */
	if (findings->reason || !decide_knows(&findings->model) ||
	    demand_total(demand) == 0)
		return list;
	json_array_append_new(list,
			      predict(demand, findings, "lower", 0, seconds));
	if (!reuse->spread.n)
		return list;
	estimate = predict(demand, findings, "estimate",
			   (unsigned int)lround(reuse->pages.value), seconds);
	json_object_set_new(estimate, "factor_ci95",
			    factors(demand, findings, &reuse->pages.ci95));
	json_array_append_new(list, estimate);
	json_array_append_new(list, predict(demand, findings, "upper",
					    (unsigned int)ceil(reuse->at_most),
					    seconds));
	return list;
}

/* W and where it comes from, or null. */
static json_t *reuse_json(const struct reuse *reuse)
{
	json_t *json;

	if (!reuse->spread.n)
		return json_null();
	json = report_summary(&reuse->spread, "pages");
	json_object_update_new(json, report_estimate(&reuse->pages));
	json_object_update_new(
		json, json_pack("{s:o, s:o, s:s, s:o}", "window_ns",
				report_number(reuse->window_ns), "gap_ns",
				report_number(reuse->gap_ns), "window",
				reuse_window_name[reuse->window], "huge_pages",
				report_number(reuse->huge)));
	return json;
}

/* Why W is unknown, or null where it is known. */
static json_t *reuse_reason(const struct reuse *reuse,
			    const struct watched *watched, bool flushed)
{
	if (reuse->spread.n)
		return json_null();
	if (!watched->process)
		return json_string("not one program is watched, but all");
	if (!flushed)
		return json_string("no flush of it was seen");
	return json_string(
		watched->reuse_error ?
			strerror(watched->reuse_error) :
			"it ended too soon for a look, or hardly ran");
}

static json_t *reasons_json(const struct demand *demand)
{
	static const char *const name[] = {
		[FLUSH_REMOTE] = "received",
		[FLUSH_LOCAL] = "local",
		[FLUSH_LOCAL_MM] = "local_mm",
		[FLUSH_SEND] = "interrupts_sent",
		[FLUSH_WRONG_CPU] = "wrong_cpu",
	};
	json_t *json = json_object();
	int i;

	/* Switches are those of other tasks as well, and no ceiling's. */
	for (i = FLUSH_REMOTE; i < FLUSH_REASONS; i++)
		json_object_set_new(
			json, name[i],
			json_integer((json_int_t)demand->reason[i]));
	return json;
}

int workload_json(const struct demand *demand, const struct watched *watched,
		  const struct findings *findings, json_t *report)
{
	double seconds = (double)(watched->end_ns - watched->begin_ns) * 1e-9;
	const bool flushed = demand_total(demand) > 0;
	int status = watched->status;
	struct reuse reuse;
	json_t *json;

	/* What does not fit into the TLB is not there to be lost. */
	if (reuse_of(watched->reading, flushed ? watched->readings : 0,
		     findings->entries, &reuse) < 0)
		return -1;
	json = json_pack(
		"{s:o, s:o, s:f, s:I, s:I, s:o, s:I, s:I, s:f, s:o, s:o, s:o, "
		"s:o, s:o, s:o}",
		"process",
		watched->process ? json_integer(watched->process) : json_null(),
		"exit_status",
		status >= 0 && WIFEXITED(status) ?
			json_integer(WEXITSTATUS(status)) :
			json_null(),
		"seconds", seconds, "begin_ns", (json_int_t)watched->begin_ns,
		"end_ns", (json_int_t)watched->end_ns, "lost_events",
		report_number(watched->lost), "flushes",
		(json_int_t)demand_total(demand), "unknown_size",
		(json_int_t)demand_unknown(demand), "flushes_per_second",
		(double)demand_total(demand) / seconds, "reused_pages",
		reuse_json(&reuse), "reused_pages_reason",
		reuse_reason(&reuse, watched, flushed), "reused_pages_at_most",
		report_number(reuse.at_most), "events", reasons_json(demand),
		"kinds", demand_json(demand), "predictions",
		predictions(demand, findings, &reuse, seconds));
	return json ? json_object_set_new(report, "workload", json) : -1;
}
