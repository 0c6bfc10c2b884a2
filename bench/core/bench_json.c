/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <string.h>

#include "bench_report.h"
#include "membind.h"
#include "report.h"

json_t *bench_options_json(const struct bench_settings *settings)
{
	const struct options_work *work = &settings->work;
	json_t *threads = json_array();
	size_t i;

	for (i = 0; i < work->rows; i++)
		json_array_append_new(
			threads, json_integer((json_int_t)work->threads[i]));
	return json_pack(
		"{s:s, s:o, s:I, s:I, s:I, s:b, s:s, s:o, s:s?, s:I, s:s, s:s?, "
		"s:I, s:b, s:b}",
		"operation", settings->bench->operation, "threads", threads,
		"pages", (json_int_t)work->pages, "access",
		(json_int_t)work->access_pages, "loops",
		(json_int_t)work->loops, "write", work->write, "pattern",
		pattern_name[work->pattern], "huge",
		options_huge_json(work->huge), "mem_bind", work->mem_bind,
		"initiators", (json_int_t)work->initiators, "mode",
		mode_name[work->mode], "cpus", settings->common.cpus, "seed",
		(json_int_t)settings->common.seed, "quick",
		settings->common.quick, "trace", settings->trace);
}

/* The keys of a result: which row, who was measured, what, beside what. */
struct label {
	size_t row;
	const char *side;   /* caller, bystanders, initiators: the others */
	const char *what;   /* call, page, access, rate */
	const char *window; /* alone, busy, quiet, apart, (apart) stopped */
};

/* Append the summary of samples, each divided by per, to results. */
static void add_result(json_t *results, const struct row *row,
		       const struct label *label, const struct samples *samples,
		       double per)
{
	struct summary summary;
	json_t *result;

	if (!samples->n)
		return;
	if (samples_summarise(samples, per, &summary) < 0)
		error(STATUS_FAILED, errno, "results");
	result = json_pack("{s:I, s:I, s:b}", "row", (json_int_t)label->row,
			   "threads", (json_int_t)row->threads,
			   "oversubscribed", row->oversubscribed);
	json_object_update_new(result, membind_json(row->memory));
	json_object_update_new(result,
			       json_pack("{s:s, s:s, s:s}", "side", label->side,
					 "what", label->what, "window",
					 label->window));
	json_object_update_new(
		result,
		report_summary(&summary,
			       strcmp(label->what, "rate") ? "ns" : "1/s"));
	json_array_append_new(results, result);
}

static void add_window(json_t *results, size_t index, const struct row *row,
		       const struct row_window *window, const char *name,
		       double pages)
{
	struct label label = { index, "caller", "call", name };

	add_result(results, row, &label, &window->op, 1);
	label.what = "page";
	add_result(results, row, &label, &window->op, pages);
	label.what = "access";
	add_result(results, row, &label, &window->access, 1);
}

/* What others did that operated at the same time, and all of them together. */
static void add_initiators(json_t *results, size_t index, const struct row *row)
{
	const struct {
		const char *window;
		const struct samples *others, *rate;
	} all[] = {
		{ "alone", NULL, &row->rate_alone },
		{ "busy", &row->others_busy, &row->rate_busy },
		{ "apart", &row->others_apart, &row->rate_apart },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct label label = { index, "initiators", "call",
				       all[i].window };

		if (all[i].others)
			add_result(results, row, &label, all[i].others, 1);
		label.what = "rate";
		add_result(results, row, &label, all[i].rate, 1);
	}
}

void bench_add_row(json_t *results, size_t index, const struct row *row,
		   const struct options_work *work)
{
	struct label label = { index, "bystanders", "access", "busy" };
	double pages = (double)work->pages;

	add_window(results, index, row, &row->alone, "alone", pages);
	add_window(results, index, row, &row->busy, "busy", pages);
	add_window(results, index, row, &row->stopped, "stopped", pages);
	add_window(results, index, row, &row->apart, "apart", pages);
	add_window(results, index, row, &row->apart_stopped, "apart stopped",
		   pages);
	add_initiators(results, index, row);
	add_result(results, row, &label, &row->busy_bystander, 1);
	label.window = "quiet";
	add_result(results, row, &label, &row->quiet_bystander, 1);
}
