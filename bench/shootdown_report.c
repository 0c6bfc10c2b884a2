/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/environment.h"
#include "core/report.h"
#include "core/tail.h"
#include "shootdown_blame.h"

/* JSON ------------------------------------------------------------------- */

/* Why there is no p99.9 of n readings; null: there is one. */
static json_t *why_no_tail(size_t n)
{
	size_t enough = tail_enough(0.999);

	if (n >= enough)
		return json_null();
	return json_sprintf("n = %zu of at least %zu", n, enough);
}

static json_t *tail_json(const struct samples *samples)
{
	struct estimate p99 = tail_quantile(samples, 0.99);
	struct estimate p999 = tail_quantile(samples, 0.999);

	return json_pack("{s:o, s:o, s:o}", "p99", report_estimate(&p99),
			 "p99_9", report_estimate(&p999), "why_no_p99_9",
			 why_no_tail(samples->n));
}

static json_t *distance_json(const struct shootdown_row *row)
{
	json_t *json = json_object();
	size_t known = 0, i;

	for (i = 0; i < DISTANCES; i++) {
		known += row->distance[i];
		json_object_set_new(json, distance_name[i],
				    json_integer((json_int_t)row->distance[i]));
	}
	json_object_set_new(json, "unknown",
			    json_integer((json_int_t)(row->threads - known)));
	return json;
}

/* What is the same for the calls of a row, whether its threads ran or not. */
static json_t *row_json(const struct shootdown *all, size_t index)
{
	const struct shootdown_row *row = &all->row[index];
	struct estimate ipi = row->threads ? shootdown_ipi(all, index) :
					     stats_unknown();

	return json_pack("{s:I, s:I, s:I, s:s, s:o, s:o, s:o}", "row",
			 (json_int_t)index, "cpus",
			 (json_int_t)row->threads + 1, "threads",
			 (json_int_t)row->threads, "call",
			 row->query ? "query" : "private_expedited", "ipi_ns",
			 report_estimate(&ipi), "interrupts_per_call",
			 report_number(shootdown_interrupts(row)), "distance",
			 distance_json(row));
}

/* Append the calls of one class; where there are none, nothing. */
static int add_class(json_t *results, const struct shootdown *all, size_t index,
		     bool running)
{
	const struct shootdown_row *row = &all->row[index];
	const struct samples *samples = running ? &row->running : &row->stopped;
	double calls = (double)(row->running.n + row->stopped.n);
	struct summary summary;
	json_t *result;

	if (!samples->n)
		return 0;
	if (samples_summarise(samples, 1, &summary) < 0)
		return -1;
	result = row_json(all, index);
	if (json_object_update_new(result,
				   json_pack("{s:s, s:f}", "window",
					     !running	  ? "stopped" :
					     row->threads ? "busy" :
							    "alone",
					     "share",
					     (double)samples->n / calls)) < 0 ||
	    json_object_update_new(result, report_summary(&summary, "ns")) <
		    0 ||
	    json_object_set_new(result, "tail", tail_json(samples)) < 0 ||
	    json_array_append_new(results, result) < 0)
		return -1;
	return 0;
}

json_t *shootdown_json(const struct shootdown *all)
{
	json_t *results = json_array();
	size_t i;

	for (i = 0; i < all->rows; i++)
		if (add_class(results, all, i, true) < 0 ||
		    add_class(results, all, i, false) < 0) {
			json_decref(results);
			return NULL;
		}
	return results;
}

/* text ------------------------------------------------------------------- */

static void put(FILE *to, int width, int digits, double value)
{
	if (isfinite(value))
		fprintf(to, " %*.*f", width, digits, value);
	else
		fprintf(to, " %*s", width, "n/a");
}

/* End number i of an interval. */
static double bound(const json_t *interval, size_t i)
{
	const json_t *value = json_array_get(interval, i);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* "123 [120, 126]" */
static void put_estimate(FILE *to, int width, const json_t *estimate)
{
	const json_t *ci95 = json_object_get(estimate, "ci95");

	put(to, width, 0, report_get(estimate, "estimate"));
	if (json_is_array(ci95))
		fprintf(to, " [%.0f, %.0f]", bound(ci95, 0), bound(ci95, 1));
	else
		fprintf(to, " [n/a]");
}

/* The farthest of the CPUs of a row, "-" where there are none. */
static const char *farthest(const json_t *distance)
{
	const char *name = "-";
	int i;

	if (report_get(distance, "unknown") > 0)
		return "unknown";
	for (i = 0; i < DISTANCES; i++)
		if (report_get(distance, distance_name[i]) > 0)
			name = distance_name[i];
	return name;
}

/* The result of a row in which its threads were stopped, or not; or NULL. */
static const json_t *find(const json_t *results, json_int_t row, bool stopped)
{
	const json_t *result;
	size_t i;

	json_array_foreach(results, i, result) {
		const char *window =
			json_string_value(json_object_get(result, "window"));

		if (json_integer_value(json_object_get(result, "row")) == row &&
		    window && !strcmp(window, "stopped") == stopped)
			return result;
	}
	return NULL;
}

static void print_row(FILE *to, const json_t *results, json_int_t row)
{
	const json_t *running = find(results, row, false);
	const json_t *stopped = find(results, row, true);
	const json_t *any = running ? running : stopped;
	const json_t *ci95 = json_object_get(running, "ci95");
	const json_t *tail = json_object_get(running, "tail");
	const json_t *p999 = json_object_get(tail, "p99_9");
	double median = report_get(running, "median");
	double share = stopped ? report_get(stopped, "share") : 0;

	if (!any)
		return;
	fprintf(to, "%5.0f  %-8s", report_get(any, "cpus"),
		farthest(json_object_get(any, "distance")));
	put(to, 8, 0, median);
	put(to, 5, 1, 50 * (bound(ci95, 1) - bound(ci95, 0)) / median);
	put(to, 7, 0, report_get(running, "p90"));
	put(to, 7, 0, report_get(json_object_get(tail, "p99"), "estimate"));
	put(to, 7, 0, report_get(p999, "estimate"));
	put(to, 8, 0, report_get(running, "max"));
	put(to, 8, 0, report_get(running, "n"));
	put(to, 8, 1, 100 * share);
	put(to, 6, 2, report_get(any, "interrupts_per_call"));
	fputc('\n', to);
}

/* The number of rows there are results of. */
static json_int_t count_rows(const json_t *results)
{
	json_int_t rows = 0, row;
	const json_t *result;
	size_t i;

	json_array_foreach(results, i, result) {
		row = json_integer_value(json_object_get(result, "row"));
		if (row >= rows)
			rows = row + 1;
	}
	return rows;
}

static void print_table(FILE *to, const json_t *results)
{
	json_int_t rows = count_rows(results), row;

	fputs(" CPUs  farthest   median   \u00b1 %     p90     p99   p99.9      "
	      "max    calls  stopped   IRQs\n",
	      to);
	for (row = 1; row < rows; row++)
		print_row(to, results, row);
	fputs("\nns per call; \u00b1 is the 95 % interval of the median over "
	      "time blocks. CPUs: that run\nthreads of the process, the "
	      "caller's included; farthest: what the caller's CPU and\nthe "
	      "farthest of them share. stopped: % of calls before or after "
	      "which a thread did\nnot run (a preempted or halted virtual CPU, "
	      "another task), not in the times.\nIRQs: function call "
	      "interrupts per call and other CPU.\n",
	      to);
}

static void print_parts(FILE *to, const json_t *results)
{
	const json_t *query = find(results, 0, false);
	const json_t *alone = find(results, 1, false);
	json_int_t rows = count_rows(results), row;

	fputs("\nParts of a call, ns [95 % interval]\n  system call alone  ",
	      to);
	put(to, 9, 0, report_get(query, "median"));
	fputs("  (MEMBARRIER_CMD_QUERY)\n  no CPU interrupted ", to);
	put(to, 9, 0, report_get(alone, "median"));
	fputs("  (the other threads sleep)\n", to);
	for (row = 2; row < rows; row++) {
		const json_t *result = find(results, row, false);

		if (!result)
			continue;
		fprintf(to, "  %5.0f interrupted  ",
			report_get(result, "cpus") - 1);
		put_estimate(to, 9, json_object_get(result, "ipi_ns"));
		fputs("  beyond that\n", to);
	}
}

/* p99 and p99.9 with their intervals, or why there is none. */
static void print_tails(FILE *to, const json_t *results)
{
	json_int_t rows = count_rows(results), row;

	fputs("\nTail, ns [95 % interval, with the bursts seen]\n", to);
	for (row = 1; row < rows; row++) {
		const json_t *result = find(results, row, false);
		const json_t *tail = json_object_get(result, "tail");
		const json_t *why = json_object_get(tail, "why_no_p99_9");

		if (!result)
			continue;
		fprintf(to, "  %5.0f CPUs  p99", report_get(result, "cpus"));
		put_estimate(to, 8, json_object_get(tail, "p99"));
		fputs("  p99.9", to);
		if (json_is_string(why))
			fprintf(to, " n/a: %s", json_string_value(why));
		else
			put_estimate(to, 8, json_object_get(tail, "p99_9"));
		fputc('\n', to);
	}
}

/* Rows in which the calls say nothing. */
static void print_stopped(FILE *to, const json_t *results)
{
	json_int_t rows = count_rows(results), row;

	for (row = 1; row < rows; row++) {
		const json_t *stopped = find(results, row, true);

		if (!stopped)
			continue;
		fprintf(to,
			"%5.0f CPUs: %.0f calls with a thread stopped, median "
			"%.0f, p90 %.0f, max %.0f ns\n",
			report_get(stopped, "cpus"), report_get(stopped, "n"),
			report_get(stopped, "median"),
			report_get(stopped, "p90"), report_get(stopped, "max"));
	}
}

void shootdown_text(const json_t *report, FILE *to)
{
	const json_t *results = json_object_get(report, "results");

	environment_print(json_object_get(report, "environment"), to);
	fputs("\nmembarrier (private, expedited) while threads of the process "
	      "run on other CPUs\n\n",
	      to);
	print_table(to, results);
	print_stopped(to, results);
	print_parts(to, results);
	print_tails(to, results);
	if (json_is_object(json_object_get(report, "blame")))
		shootdown_blame_text(json_object_get(report, "blame"), to);
	if (json_is_true(json_object_get(report, "partial")))
		fputs("PARTIAL: interrupted, this is what was measured until "
		      "then.\n",
		      to);
}
