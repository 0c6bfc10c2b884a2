/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "decide.h"
#include "member.h"
#include "report.h"
#include "workload.h"
#include "workload_json.h"

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
 * The costs with reuse of w pages after each flush, a lower or an upper bound
 * of what the program reuses.
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

/* With no reuse, and with that of at_most pages, where it is known. */
static json_t *predictions(const struct demand *demand,
			   const struct findings *findings, double at_most,
			   double seconds)
{
	json_t *list = json_array();

	if (findings->reason || !decide_knows(&findings->model))
		return list;
	json_array_append_new(list,
			      predict(demand, findings, "lower", 0, seconds));
	if (isfinite(at_most))
		json_array_append_new(list,
				      predict(demand, findings, "upper",
					      (unsigned int)at_most, seconds));
	return list;
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
	double at_most = watched->reused_pages;
	int status = watched->status;
	json_t *json;

	/* What does not fit into the TLB is not there to be lost. */
	if (findings->entries && at_most > findings->entries)
		at_most = findings->entries;
	json = json_pack(
		"{s:o, s:o, s:f, s:I, s:I, s:o, s:I, s:I, s:f, s:o, s:o, s:o, "
		"s:o}",
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
		(double)demand_total(demand) / seconds, "reused_pages_at_most",
		report_number(at_most), "events", reasons_json(demand), "kinds",
		demand_json(demand), "predictions",
		predictions(demand, findings, at_most, seconds));
	return json ? json_object_set_new(report, "workload", json) : -1;
}

/* for people ------------------------------------------------------------ */

/* Flushes of first..last pages of all kinds. */
static double between(const json_t *kinds, double first, double last)
{
	const char *name;
	json_t *kind;
	double sum = 0;

	json_object_foreach((json_t *)kinds, name, kind) {
		const json_t *sizes = json_object_get(kind, "pages");
		size_t i;

		for (i = 0; i < json_array_size(sizes); i++) {
			const json_t *row = json_array_get(sizes, i);
			double n = json_number_value(json_array_get(row, 0));

			if (n >= first && n <= last)
				sum += json_number_value(
					json_array_get(row, 1));
		}
		if (last > COST_CLAMP)
			sum += member_number(kind, "larger");
	}
	return sum;
}

static void print_histogram(const json_t *workload, FILE *to)
{
	const json_t *kinds = json_object_get(workload, "kinds");
	const char *name;
	json_t *kind;
	double first;

	fputs("  pages         flushes\n", to);
	for (first = 1; first <= COST_CLAMP; first *= 2)
		fprintf(to, "  %4.0f-%-4.0f %12.0f\n", first,
			fmin(2 * first - 1, COST_CLAMP),
			between(kinds, first, fmin(2 * first - 1, COST_CLAMP)));
	fprintf(to, "  larger    %12.0f\n  unknown   %12.0f\n",
		between(kinds, COST_CLAMP + 1, INFINITY),
		member_number(workload, "unknown_size"));
	json_object_foreach((json_t *)kinds, name, kind)
		fprintf(to, "  %-9s %12.0f, %.0f of them full\n", name,
			member_number(kind, "total"),
			member_number(kind, "full"));
}

static void print_cost(const json_t *prediction, const char *key,
		       const char *what, FILE *to)
{
	const json_t *cost = json_object_get(prediction, key);

	fprintf(to, "    %-14s %4.0f pages: %10.1f us per second\n", what,
		member_number(cost, "pages"),
		member_number(cost, "ns_per_second") * 1e-3);
}

/* What is known of W: it lies between bounds that are far apart. */
static void print_reuse(const json_t *workload, FILE *to)
{
	double at_most = member_number(workload, "reused_pages_at_most");

	if (isfinite(at_most))
		fprintf(to,
			"  W, the pages reused after a flush: not measured, "
			"only bounded. At most %.0f: those\n"
			"  touched in 10 ms, and no more than the TLB has "
			"entries (E).\n",
			at_most);
	else
		fputs("  W, the pages reused after a flush: unknown, not even "
		      "bounded here.\n",
		      to);
}

static void print_prediction(const json_t *prediction, FILE *to)
{
	const char *bound =
		json_string_value(json_object_get(prediction, "bound"));
	double w = member_number(prediction, "reused_pages");

	fprintf(to, "  Predicted with the %s bound, W = %.0f:\n", bound, w);
	print_cost(prediction, "in_force", "in force", to);
	print_cost(prediction, "stock", "stock constant", to);
	print_cost(prediction, "best", "best", to);
	fprintf(to, "    the factor for this program, if W = %.0f: ", w);
	member_print(to, 0, 0, member_number(prediction, "factor"));
	fputc('\n', to);
}

void workload_text(const json_t *report, FILE *to)
{
	const json_t *workload = json_object_get(report, "workload");
	const json_t *list = json_object_get(workload, "predictions");
	size_t i;

	if (!workload)
		return;
	fprintf(to,
		"\nWorkload: %.0f flushes in %.1f s, %.1f per second; events "
		"lost: ",
		member_number(workload, "flushes"),
		member_number(workload, "seconds"),
		member_number(workload, "flushes_per_second"));
	member_print(to, 0, 0, member_number(workload, "lost_events"));
	fputs("\n", to);
	print_histogram(workload, to);
	print_reuse(workload, to);
	for (i = 0; i < json_array_size(list); i++)
		print_prediction(json_array_get(list, i), to);
}
