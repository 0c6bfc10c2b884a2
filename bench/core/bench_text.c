/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>

#include "bench_report.h"
#include "environment.h"
#include "membind.h"
#include "report.h"

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
			  size_t threads, const char *busy, const char *stopped)
{
	const json_t *ran = find(results, row, "caller", "call", busy);
	const json_t *rest = find(results, row, "caller", "call", stopped);

	if (!rest)
		return;
	fprintf(to,
		"\n%zu beside, %s: in %.1f %% of the calls, not in the table, "
		"one was\nstopped (preempted, or its CPU halted) just before "
		"or after; their median is",
		threads, busy, 100 * count(rest) / (count(rest) + count(ran)));
	print_median(to, 1, 1, rest);
	fputs(" ns.\n", to);
}

/* One line of the initiators: the calls and the rate of a window. */
static void print_initiators_line(FILE *to, const json_t *results, size_t row,
				  const char *title, const char *window)
{
	const json_t *call = find(results, row, "caller", "call", window);

	if (!call)
		return;
	fprintf(to, "  %-24s", title);
	print_median(to, 10, 1, call);
	print_spread(to, 6, call);
	print_p90(to, 8, call);
	print_median(to, 12, 0,
		     find(results, row, "initiators", "rate", window));
	fputc('\n', to);
}

static double half_width(const json_t *result)
{
	const json_t *ci95 = json_object_get(result, "ci95");

	if (!json_is_array(ci95))
		return NAN;
	return (json_number_value(json_array_get(ci95, 1)) -
		json_number_value(json_array_get(ci95, 0))) /
	       2;
}

/* Among threads a call takes so much longer than among processes. */
static void print_sharing(FILE *to, const json_t *results, size_t row)
{
	const json_t *busy = find(results, row, "caller", "call", "busy");
	const json_t *apart = find(results, row, "caller", "call", "apart");
	double half;

	if (!busy || !apart)
		return;
	fprintf(to,
		"  One mm for all, its locks and its interrupts, cost %.1f \u00b1",
		json_number_value(json_object_get(busy, "median")) -
			json_number_value(json_object_get(apart, "median")));
	half = hypot(half_width(busy), half_width(apart));
	if (isfinite(half))
		fprintf(to, " %.1f ns a call.\n", half);
	else
		fputs(" n/a ns a call.\n", to);
}

static void print_initiators(FILE *to, const json_t *results, size_t row,
			     json_int_t initiators)
{
	if (initiators < 2)
		return;
	fprintf(to,
		"\n%3" JSON_INTEGER_FORMAT " initiators at a time  "
		"caller's ns/call   \u00b1 %%      p90  calls/s of all\n",
		initiators);
	print_initiators_line(to, results, row, "one, the others parked",
			      "alone");
	print_initiators_line(to, results, row, "threads of one process",
			      "busy");
	print_initiators_line(to, results, row, "processes", "apart");
	print_sharing(to, results, row);
}

/* The threads of a row: the list of -t, once for each node. */
static size_t threads_of(const json_t *threads, size_t row)
{
	return (size_t)json_integer_value(
		json_array_get(threads, row % json_array_size(threads)));
}

void bench_print_text(const json_t *report, FILE *to)
{
	const json_t *results = json_object_get(report, "results");
	const json_t *options = json_object_get(report, "options");
	const json_t *threads = json_object_get(options, "threads");
	json_int_t initiators =
		json_integer_value(json_object_get(options, "initiators"));
	bool oversubscribed = false;
	size_t rows = report_rows(results), i;
	json_t *value;

	environment_print(json_object_get(report, "environment"), to);
	fprintf(to,
		"\n%s of %" JSON_INTEGER_FORMAT
		" %spages per call, then %" JSON_INTEGER_FORMAT
		" %s %s, one cache line a page\n\n",
		json_string_value(json_object_get(options, "operation")),
		json_integer_value(json_object_get(options, "pages")),
		json_is_string(json_object_get(options, "huge")) ? "2 MiB " :
								   "",
		json_integer_value(json_object_get(options, "access")),
		json_string_value(json_object_get(options, "pattern")),
		json_is_true(json_object_get(options, "write")) ? "writes" :
								  "reads");
	fputs("threads      caller's ns/call          alone           "
	      "ns/access: threads  threads\n"
	      "beside     median  \u00b1 %      p90    ns/call   ns/page"
	      "    caller   flushed  quiet  calls\n",
	      to);
	for (i = 0; i < rows; i++) {
		if (i % json_array_size(threads) == 0)
			membind_text(find(results, i, "caller", "call",
					  "alone"),
				     to);
		print_row(to, results, i, threads_of(threads, i));
	}
	json_array_foreach(results, i, value)
		if (json_is_true(json_object_get(value, "oversubscribed")))
			oversubscribed = true;
	for (i = 0; i < rows; i++)
		print_initiators(to, results, i, initiators);
	for (i = 0; i < rows; i++) {
		size_t beside = threads_of(threads, i) + (size_t)initiators - 1;

		print_stopped(to, results, i, beside, "busy", "stopped");
		print_stopped(to, results, i, beside, "apart", "apart stopped");
	}
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
	bench_print_flushes(report, to);
	if (json_is_true(json_object_get(report, "partial")))
		fputs("PARTIAL: interrupted, this is what was measured until "
		      "then.\n",
		      to);
}
