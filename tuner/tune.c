/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tune: measure what single-page flushes, full flushes and refills cost on this
 * machine, and derive the break-even and the tlb_flushall_factor.
 *
 * Needs no privileges: a stock kernel flushes page by page up to its ceiling
 * and fully above it, so both ways are there to be timed, one on either side.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "explain.h"
#include "hybrid.h"
#include "interrupt.h"
#include "knobjson.h"
#include "output.h"
#include "page.h"
#include "plot.h"
#include "report.h"
#include "run.h"
#include "saved.h"
#include "session.h"
#include "tune_options.h"
#include "why.h"

#define CHECK_LIMIT 0.10 /* largest error that --verify accepts */

/* Bring the choice of the report into force, as far as it is of now. */
static int write_choice(const struct tune_options *options,
			const struct session *session, json_t *report)
{
	json_t *now = options->from ? run_environment() : NULL;
	int status = apply_choice(session, &options->apply, report, now);

	json_decref(now);
	return status;
}

/* The page and the picture that are asked for beside the report. */
static int draw(const struct tune_options *options, const json_t *report)
{
	int status = STATUS_OK;
	char *why = NULL;

	if (options->report && page_write(report, options->report) < 0)
		status = STATUS_FAILED;
	if (!options->plot ||
	    plot_write(report, PLOT_COST, options->plot, &why) == 0)
		return status;
	if (why)
		error(0, 0, "cannot write '%s': %s", options->plot, why);
	free(why);
	return STATUS_FAILED;
}

/* Before anything is measured: could the files be written? */
static void check_outputs(const struct tune_options *options)
{
	if (output_check(options->common.output) < 0 ||
	    output_check(options->report) < 0 ||
	    output_check(options->plot) < 0)
		exit(STATUS_USAGE);
}

/* Watch a program; exits where that cannot be. */
static void watch(const struct tune_options *options,
		  const struct findings *findings, json_t *report)
{
	struct workload_options workload = options->workload;
	char *why;

	workload.stop = interrupt_flag();
	if (workload_watch(&workload, findings, report, &why) < 0)
		error(errno == ENOEXEC ? STATUS_USAGE : STATUS_CANNOT_RUN, 0,
		      "--workload: %s", why_text(why));
	if (*workload.stop)
		json_object_set_new(report, "partial", json_true());
}

/* Derive, add the findings to report, write it; the exit status. */
static int finish(const struct tune_options *options,
		  const struct session *session, json_t *report,
		  const struct record *record)
{
	struct question question = {
		.seed = saved_seed(report, &options->common),
		.objective = options->objective,
		.entries = options->entries,
	};
	struct hybrid hybrid;
	char *why = NULL;
	struct findings findings;
	int status = STATUS_OK;
	size_t i;

	if (options->also) {
		if (hybrid_open(&hybrid, options->also, &question, &why) < 0)
			options_refuse("--also: %s", why_text(why));
		question.also = &hybrid.findings;
	}
	if (derive(record, &question, &findings) < 0) {
		if (errno == EINVAL && options->from)
			options_refuse("%s: record.search: expected timings of "
				       "at least 8 sizes",
				       options->from);
		if (errno == EINVAL)
			error(STATUS_FAILED, 0,
			      "interrupted before anything "
			      "could be derived");
		error(STATUS_FAILED, errno, "derive");
	}
	json_object_set_new(json_object_get(report, "options"), "seed",
			    json_integer((json_int_t)question.seed));
	if (explain_json(report, record, &findings) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
	if (options->also && hybrid_json(&hybrid, &findings, report, &why) < 0)
		options_refuse("--also: %s: %s", options->also, why_text(why));
	if (options->write_sysctl)
		status = write_choice(options, session, report);
	if (options->watches)
		watch(options, &findings, report);
	if (report_write(report, &options->common, explain_text) < 0)
		status = STATUS_FAILED;
	if (draw(options, report) != STATUS_OK)
		status = STATUS_FAILED;
	for (i = 0; options->verify && i < findings.n_check; i++)
		if (!(findings.check[i].error <= CHECK_LIMIT))
			status = STATUS_FAILED;
	if (options->verify && findings.n_check == 0)
		status = STATUS_FAILED;
	derive_free(&findings);
	if (options->also)
		hybrid_close(&hybrid);
	return status;
}

static int derive_from(const struct tune_options *options,
		       const struct session *session)
{
	const char *file = options->from;
	struct record record;
	json_t *report;
	char *why;
	int status;

	report = saved_read(file, "a JSON report of tune", &why);
	if (!report || saved_record(report, file, &record, &why) < 0)
		options_refuse("%s", why_text(why));
	check_outputs(options);
	json_object_set_new(report, "derived_from", json_string(file));
	status = finish(options, session, report, &record);
	record_free(&record);
	json_decref(report);
	return status;
}

static int measure_and_derive(const struct tune_options *options,
			      struct session *session)
{
	struct record record = RECORD_EMPTY;
	json_t *report;
	int status;

	check_outputs(options);
	report = run_measure(options, session, &record);
	status = finish(options, session, report, &record);
	json_decref(report);
	record_free(&record);
	return status;
}

/* What needs no measuring: the knob, and what was written for it before. */
static void knob_text_of(const json_t *report, FILE *to)
{
	explain_knob_text(report, to);
	apply_text(report, to);
}

static int without_measuring(const struct tune_options *options,
			     const struct session *session)
{
	json_t *report =
		json_pack("{s:o}", "knob", knobjson_knob(&session->knob));
	json_t *now;
	int status = STATUS_OK;

	if (!report)
		error(STATUS_FAILED, ENOMEM, "report");
	check_outputs(options);
	if (options->action == ACTION_UNDO) {
		status = apply_undo(session, &options->apply, report);
	} else if (options->action == ACTION_APPLY) {
		now = run_environment();
		status = apply_stored(session, &options->apply, report, now);
		json_decref(now);
	}
	if (status == STATUS_OK &&
	    report_write(report, &options->common, knob_text_of) < 0)
		status = STATUS_FAILED;
	json_decref(report);
	return status;
}

int main(int argc, char **argv)
{
	struct tune_options options;
	struct session session;
	int status = STATUS_FAILED;

	tune_options_parse(argc, argv, &options);
	interrupt_catch();
	if (options.from && !options.write_sysctl) {
		status = derive_from(&options, NULL);
		interrupt_die();
		return status;
	}
	if (session_open(&session, options.root, interrupt_flag()) < 0) {
		interrupt_die();
		return STATUS_FAILED;
	}
	if (options.action != ACTION_MEASURE)
		status = without_measuring(&options, &session);
	else if (options.from)
		status = derive_from(&options, &session);
	else
		status = measure_and_derive(&options, &session);
	session_close(&session);
	interrupt_die();
	return status;
}
