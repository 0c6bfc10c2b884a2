/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>

#include "cost.h"
#include "member.h"
#include "workload.h"

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

/* What else is to be known of the estimate. */
static void print_window(const json_t *reuse, FILE *to)
{
	const char *window =
		json_string_value(json_object_get(reuse, "window"));
	double gap = member_number(reuse, "gap_ns");

	fprintf(to, "    Counted in windows of %.1f ms; ",
		member_number(reuse, "window_ns") * 1e-6);
	if (isfinite(gap))
		fprintf(to, "its flushes are %.3f ms apart", gap * 1e-6);
	else
		fputs("no flushes were seen to tell how far they are apart",
		      to);
	if (window && !strcmp(window, "longer"))
		fputs(":\n    a shorter window cannot be resolved, so W is less "
		      "than that",
		      to);
	if (window && !strcmp(window, "shorter"))
		fputs(":\n    longer ones are not waited for, so W may be more",
		      to);
	fputs(".\n", to);
	if (member_number(reuse, "huge_pages") > 0)
		fprintf(to,
			"    Up to %.0f of the pages it has are in huge ones, "
			"which count as 512 pages and\n"
			"    take one entry each: W may be less.\n",
			member_number(reuse, "huge_pages"));
}

static void print_reuse(const json_t *workload, FILE *to)
{
	const json_t *reuse = json_object_get(workload, "reused_pages");
	const char *reason = json_string_value(
		json_object_get(workload, "reused_pages_reason"));

	fputs("  W, the pages reused after a flush: ", to);
	if (!json_is_object(reuse)) {
		fprintf(to, "unknown, not even bounded here: %s.\n",
			reason ? reason : "no reason is known");
		return;
	}
	member_print(to, 0, 0, member_number(reuse, "estimate"));
	fputs(" [", to);
	member_print(to, 0, 0, member_end(reuse, 0));
	fputs(", ", to);
	member_print(to, 0, 0, member_end(reuse, 1));
	fprintf(to,
		"], estimated; looks at it: %.0f\n"
		"    (median %.0f, from %.0f to %.0f), at most %.0f.\n",
		member_number(reuse, "n"), member_number(reuse, "median"),
		member_number(reuse, "min"), member_number(reuse, "max"),
		member_number(workload, "reused_pages_at_most"));
	print_window(reuse, to);
}

static void print_prediction(const json_t *prediction, FILE *to)
{
	const char *bound =
		json_string_value(json_object_get(prediction, "bound"));
	double w = member_number(prediction, "reused_pages");

	fprintf(to, "  Predicted with the %s, W = %.0f:\n",
		!bound			   ? "unknown" :
		!strcmp(bound, "estimate") ? "estimate" :
		!strcmp(bound, "lower")	   ? "lower bound" :
					     "upper bound",
		w);
	print_cost(prediction, "in_force", "in force", to);
	print_cost(prediction, "stock", "stock constant", to);
	print_cost(prediction, "best", "best", to);
	fprintf(to, "    the factor for this program, if W = %.0f: ", w);
	member_print(to, 0, 0, member_number(prediction, "factor"));
	fputc('\n', to);
}

/* The factor that the estimate leads to, and whether W matters to it. */
static void print_factor(const json_t *list, FILE *to)
{
	const json_t *lower = json_array_get(list, 0);
	const json_t *estimate = json_array_get(list, 1);
	const json_t *upper = json_array_get(list, 2);
	const json_t *range = json_object_get(estimate, "factor_ci95");
	double factor = member_number(estimate, "factor");

	if (isnan(factor))
		return;
	fprintf(to, "  The factor for this program: %.0f", factor);
	if (member_number(lower, "factor") == factor &&
	    member_number(upper, "factor") == factor)
		fputs(", whatever W is between its bounds", to);
	else if (json_is_array(range))
		fprintf(to, ", %.0f to %.0f within the interval of W",
			json_number_value(json_array_get(range, 0)),
			json_number_value(json_array_get(range, 1)));
	else
		fputs(", from too few looks at W for its interval", to);
	fputs(".\n", to);
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
	print_factor(list, to);
}
