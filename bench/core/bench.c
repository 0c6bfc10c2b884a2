/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "environment.h"
#include "interrupt.h"
#include "output.h"
#include "place.h"
#include "random.h"
#include "report.h"
#include "row.h"

struct settings {
	struct options_common common;
	struct options_work work;
};

/* argp ----------------------------------------------------------------- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = &settings->work;
	state->child_inputs[1] = &settings->common;
	return 0;
}

static void parse_options(const struct bench *bench, int argc, char **argv,
			  struct settings *settings)
{
	static const struct argp_child children[] = {
		{ &options_work_argp, 0, NULL, 0 },
		{ &options_common_argp, 0, NULL, 0 },
		{ 0 },
	};
	struct argp argp = { .parser = parse, .children = children };
	char *doc = NULL;

	if (asprintf(&doc, "%s: %s.\v%s", bench->name, bench->summary,
		     bench->doc ? bench->doc : "") < 0)
		error(STATUS_FAILED, errno, "cannot start");
	argp.doc = doc;
	options_parse(&argp, argc, argv, settings);
	free(doc);
}

/* JSON ----------------------------------------------------------------- */

static json_t *options_json(const struct settings *settings)
{
	const struct options_work *work = &settings->work;
	json_t *threads = json_array();
	size_t i;

	for (i = 0; i < work->rows; i++)
		json_array_append_new(
			threads, json_integer((json_int_t)work->threads[i]));
	return json_pack("{s:o, s:I, s:I, s:I, s:b, s:s, s:b, s:s?, s:I, s:b}",
			 "threads", threads, "pages", (json_int_t)work->pages,
			 "access", (json_int_t)work->access_pages, "loops",
			 (json_int_t)work->loops, "write", work->write,
			 "pattern", pattern_name[work->pattern], "huge",
			 work->huge, "cpus", settings->common.cpus, "seed",
			 (json_int_t)settings->common.seed, "quick",
			 settings->common.quick);
}

/* The keys of a result: which row, who was measured, what, beside what. */
struct label {
	size_t row;
	const char *side;   /* caller, bystanders */
	const char *what;   /* call, page, access */
	const char *window; /* alone, busy, stopped, quiet */
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
	result = json_pack("{s:I, s:I, s:b, s:s, s:s, s:s}", "row",
			   (json_int_t)label->row, "threads",
			   (json_int_t)row->threads, "oversubscribed",
			   row->oversubscribed, "side", label->side, "what",
			   label->what, "window", label->window);
	json_object_update_new(result, report_summary(&summary, "ns"));
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

static void add_row(json_t *results, size_t index, const struct row *row,
		    const struct options_work *work)
{
	struct label label = { index, "bystanders", "access", "busy" };
	double pages = (double)work->pages;

	add_window(results, index, row, &row->alone, "alone", pages);
	add_window(results, index, row, &row->busy, "busy", pages);
	add_window(results, index, row, &row->stopped, "stopped", pages);
	add_result(results, row, &label, &row->busy_bystander, 1);
	label.window = "quiet";
	add_result(results, row, &label, &row->quiet_bystander, 1);
}

/* text ----------------------------------------------------------------- */

/* The result with these labels, or NULL. */
static const json_t *find(const json_t *results, size_t row, const char *side,
			  const char *what, const char *window)
{
	json_t *result;
	size_t i;

	json_array_foreach(results, i, result) {
		const char *s, *w, *in;
		json_int_t found;

		if (json_unpack(result, "{s:I, s:s, s:s, s:s}", "row", &found,
				"side", &s, "what", &w, "window", &in) == 0 &&
		    found == (json_int_t)row && !strcmp(s, side) &&
		    !strcmp(w, what) && !strcmp(in, window))
			return result;
	}
	return NULL;
}

static void print_number(FILE *to, int width, int digits, const json_t *value)
{
	if (json_is_number(value))
		fprintf(to, " %*.*f", width, digits, json_number_value(value));
	else
		fprintf(to, " %*s", width, "n/a");
}

static void print_p90(FILE *to, int width, const json_t *result)
{
	print_number(to, width, 0, json_object_get(result, "p90"));
}

static void print_median(FILE *to, int width, int digits, const json_t *result)
{
	print_number(to, width, digits, json_object_get(result, "median"));
}

/* Half the interval in percent of the median. */
static void print_spread(FILE *to, int width, const json_t *result)
{
	const json_t *ci95 = json_object_get(result, "ci95");
	double median = json_number_value(json_object_get(result, "median"));
	json_t *percent = NULL;

	if (json_is_array(ci95))
		percent =
			json_real(50 *
				  (json_number_value(json_array_get(ci95, 1)) -
				   json_number_value(json_array_get(ci95, 0))) /
				  median);
	print_number(to, width, 1, percent);
	json_decref(percent);
}

static void print_row(FILE *to, const json_t *results, size_t row,
		      size_t threads)
{
	const char *window = threads ? "busy" : "alone";
	const json_t *call = find(results, row, "caller", "call", window);
	const json_t *alone = find(results, row, "caller", "call", "alone");

	if (!alone)
		return; /* interrupted before this row */
	fprintf(to, "%6zu%c", threads,
		json_is_true(json_object_get(alone, "oversubscribed")) ? '!' :
									 ' ');
	print_median(to, 10, 1, call);
	print_spread(to, 6, call);
	print_p90(to, 8, call);
	print_median(to, 10, 1, alone);
	print_median(to, 9, 1, find(results, row, "caller", "page", window));
	print_median(to, 9, 2, find(results, row, "caller", "access", window));
	print_median(to, 9, 2,
		     find(results, row, "bystanders", "access", "busy"));
	print_median(to, 9, 2,
		     find(results, row, "bystanders", "access", "quiet"));
	fprintf(to, " %8" JSON_INTEGER_FORMAT "\n",
		json_integer_value(json_object_get(call, "n")));
}

static double count(const json_t *result)
{
	return json_number_value(json_object_get(result, "n"));
}

/* The calls that the gate kept out of the row: how many, and their cost. */
static void print_stopped(FILE *to, const json_t *results, size_t row,
			  size_t threads)
{
	const json_t *ran = find(results, row, "caller", "call", "busy");
	const json_t *stopped = find(results, row, "caller", "call", "stopped");

	if (!stopped)
		return;
	fprintf(to,
		"\n%zu beside: in %.1f %% of the calls, not in the table, "
		"a thread was stopped (preempted,\nor its CPU was halted)"
		" just before or after; their median is",
		threads, 100 * count(stopped) / (count(stopped) + count(ran)));
	print_median(to, 1, 1, stopped);
	fputs(" ns.\n", to);
}

static void print_text(const json_t *report, FILE *to)
{
	const json_t *results = json_object_get(report, "results");
	const json_t *options = json_object_get(report, "options");
	const json_t *threads = json_object_get(options, "threads");
	bool oversubscribed = false;
	json_t *value;
	size_t i;

	environment_print(json_object_get(report, "environment"), to);
	fprintf(to,
		"\n%s of %" JSON_INTEGER_FORMAT
		" %spages per call, then %" JSON_INTEGER_FORMAT
		" %s %s, one cache line a page\n\n",
		json_string_value(json_object_get(report, "program")),
		json_integer_value(json_object_get(options, "pages")),
		json_is_true(json_object_get(options, "huge")) ? "2 MiB " : "",
		json_integer_value(json_object_get(options, "access")),
		json_string_value(json_object_get(options, "pattern")),
		json_is_true(json_object_get(options, "write")) ? "writes" :
								  "reads");
	fputs("threads      caller's ns/call          alone           "
	      "ns/access: threads  threads\n"
	      "beside     median  \u00b1 %      p90    ns/call   ns/page"
	      "    caller   flushed  quiet  calls\n",
	      to);
	json_array_foreach(threads, i, value)
		print_row(to, results, i, (size_t)json_integer_value(value));
	json_array_foreach(results, i, value)
		if (json_is_true(json_object_get(value, "oversubscribed")))
			oversubscribed = true;
	json_array_foreach(threads, i, value)
		print_stopped(to, results, i,
			      (size_t)json_integer_value(value));
	fputs("\nMedians; \u00b1 is the 95 % interval of the median over time "
	      "blocks. Calls beside\nthreads that have a CPU each count if every "
	      "one of these was seen to run just\nbefore and just after. "
	      "alone: the same call while the threads are parked. quiet:\n"
	      "the threads' access while nothing is flushed.\n",
	      to);
	if (oversubscribed)
		fputs("! more threads than CPUs: they take turns, at the "
		      "lowest priority, so that an\n  access includes "
		      "waiting, and a call may or may not have to interrupt "
		      "a CPU.\n",
		      to);
	if (json_is_true(json_object_get(report, "partial")))
		fputs("PARTIAL: interrupted, this is what was measured until "
		      "then.\n",
		      to);
}

/* running -------------------------------------------------------------- */

int bench_map(struct bench_run *run, uint64_t seed, char **why)
{
	const struct options_work *work = run->work;

	if (region_open(&run->region, work->pages, work->access_pages,
			work->huge, seed, why) < 0)
		return -1;
	if (access_open(&run->access, work->pattern, work->write,
			run->region.set, work->access_pages, run->region.page,
			seed) < 0) {
		*why = strdup(strerror(errno));
		region_close(&run->region);
		return -1;
	}
	return 0;
}

void bench_unmap(struct bench_run *run)
{
	access_close(&run->access);
	region_close(&run->region);
}

static void show_progress(size_t row, const struct options_work *work)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%zu threads (row %zu of %zu) \033[K",
			work->threads[row], row + 1, work->rows);
}

static void end_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* Measure all rows into results. Returns row_measure's last status. */
static int measure(const struct bench *bench, struct bench_run *run,
		   const struct placement *placement,
		   const struct settings *settings, json_t *results)
{
	const struct options_work *work = &settings->work;
	int status = 0;
	size_t i;

	for (i = 0; i < work->rows && status == 0; i++) {
		struct row row;
		char *why = NULL;

		show_progress(i, work);
		status = row_measure(bench, run, placement, work->threads[i],
				     settings->common.quick,
				     random_stream(settings->common.seed, i),
				     interrupt_flag(), &row, &why);
		if (status < 0)
			error(errno == EAGAIN ? STATUS_CANNOT_RUN :
						STATUS_FAILED,
			      0, "%s", why);
		add_row(results, i, &row, work);
		row_free(&row);
	}
	end_progress();
	return status;
}

int bench_main(int argc, char **argv, const struct bench *bench)
{
	struct settings settings;
	struct placement placement;
	struct bench_run run = { .work = &settings.work };
	struct environment *environment;
	json_t *results = json_array(), *report;
	int status;

	options_common_init(&settings.common);
	if (options_work_init(&settings.work) < 0)
		error(STATUS_FAILED, errno, "cannot start");
	parse_options(bench, argc, argv, &settings);
	if (output_check(settings.common.output) < 0)
		exit(STATUS_USAGE);
	environment = place_caller(&settings.common, &placement, &run.clock);
	interrupt_catch();

	status = measure(bench, &run, &placement, &settings, results);

	clock_finish(&run.clock);
	environment_finish(environment, &run.clock);
	report = report_new(bench->name, status == 1, options_json(&settings),
			    &run.clock, environment_json(environment));
	if (!report || json_object_set_new(report, "results", results) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
	status = report_write(report, &settings.common, print_text);

	json_decref(report);
	environment_close(environment);
	placement_close(&placement);
	options_work_free(&settings.work);
	interrupt_die();
	return status < 0 ? STATUS_FAILED : STATUS_OK;
}
