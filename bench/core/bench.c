/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_report.h"
#include "breakdown.h"
#include "environment.h"
#include "interrupt.h"
#include "membind.h"
#include "meter.h"
#include "output.h"
#include "place.h"
#include "random.h"
#include "report.h"
#include "why.h"

/* argp ----------------------------------------------------------------- */

enum { KEY_CHOICE = 0x300, KEY_TRACE, KEY_BREAKDOWN };

/* Let settings->bench be the operation that its choice has for the argument. */
static void choose(struct bench_settings *settings, const char *arg)
{
	const struct bench_choice *choice = settings->bench->choice;
	const struct bench *const *bench;

	for (bench = choice->among; *bench; bench++) {
		if (choice->arg && strcmp((*bench)->value, arg) != 0)
			continue;
		settings->bench = *bench;
		return;
	}
	options_refuse("--%s: expected %s, got '%s'", choice->option,
		       choice->values, arg);
}

/* Options that exclude each other. */
static void check(const struct bench_settings *settings)
{
	const struct options_work *work = &settings->work;

	if (work->huge && settings->bench->small_only)
		options_refuse("--huge: expected pages of 4 KiB for %s",
			       settings->bench->operation);
	if (!settings->breakdown)
		return;
	if (settings->trace || work->loops || work->initiators > 1 ||
	    work->huge || work->mem_bind)
		options_refuse("--breakdown: expected neither --trace, -l, "
			       "--initiators, --huge nor --mem-bind beside it");
	if (settings->bench->flushes != FLUSH_RANGE)
		options_refuse(
			"--breakdown: expected an operation that flushes "
			"its pages at once, got %s",
			settings->bench->operation);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bench_settings *settings = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &settings->work;
		state->child_inputs[1] = &settings->common;
		return 0;
	case KEY_CHOICE:
		choose(settings, arg);
		return 0;
	case KEY_TRACE:
		settings->trace = true;
		return 0;
	case KEY_BREAKDOWN:
		settings->breakdown = true;
		return 0;
	case ARGP_KEY_END:
		check(settings);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void parse_options(int argc, char **argv,
			  struct bench_settings *settings)
{
	static const struct argp_child children[] = {
		{ &options_work_argp, 0, NULL, 0 },
		{ &options_common_argp, 0, NULL, 0 },
		{ 0 },
	};
	const struct bench *bench = settings->bench;
	struct argp_option options[] = {
		{ "trace", KEY_TRACE, NULL, 0,
		  "between the timed rounds, trace others, and show what the "
		  "kernel flushed for them (needs root)",
		  2 },
		{ "breakdown", KEY_BREAKDOWN, NULL, 0,
		  "instead: what a call costs, part by part, each measured "
		  "apart: fixed cost and kernel work per page (a line through "
		  "the times of other sizes), local flush (the step of mprotect "
		  "at the ceiling), IPI wait (membarrier beside running threads "
		  "less the same beside parked ones), remote flush (what pages "
		  "add beside running threads), refill of the TLB (the pass "
		  "after the call less a warm one); and what they leave of the "
		  "whole, unexplained",
		  2 },
		{ 0 },
		{ 0 },
	};
	struct argp argp = {
		.options = options,
		.parser = parse,
		.children = children,
	};
	char *doc = NULL;

	if (bench->choice)
		options[2] = (struct argp_option){
			.name = bench->choice->option,
			.key = KEY_CHOICE,
			.arg = bench->choice->arg,
			.doc = bench->choice->doc,
			.group = 2,
		};
	if (asprintf(&doc, "%s: %s.\v%s", bench->name, bench->summary,
		     bench->doc ? bench->doc : "") < 0)
		error(STATUS_FAILED, errno, "cannot start");
	argp.doc = doc;
	options_parse(&argp, argc, argv, settings);
	free(doc);
}

/* running -------------------------------------------------------------- */

int bench_map(const struct bench *bench, struct bench_run *run, size_t targets,
	      uint64_t seed, char **why)
{
	const struct options_work *work = run->work;
	int error;

	if (region_open_targets(&run->region, targets, work->pages,
				work->access_pages, work->huge, seed, why) < 0)
		return -1;
	if (membind_verify_region(run->memory, run->node, &run->region, why) <
	    0) {
		region_close(&run->region);
		errno = EAGAIN;
		return -1;
	}
	if (access_open(&run->access, work->pattern, work->write,
			run->region.set, work->access_pages, run->region.page,
			seed) < 0) {
		*why = strdup(strerror(errno));
		region_close(&run->region);
		return -1;
	}
	if (!bench->prepare || bench->prepare(run, why) == 0)
		return 0;
	error = errno;
	bench_unmap(bench, run);
	errno = error;
	return -1;
}

void bench_unmap(const struct bench *bench, struct bench_run *run)
{
	if (bench->finish)
		bench->finish(run);
	access_close(&run->access);
	region_close(&run->region);
}

static struct proof *open_proof(void)
{
	char *why;
	struct proof *proof = proof_open(&why);

	if (!proof)
		error(STATUS_CANNOT_RUN, 0, "--trace: %s", why_text(why));
	return proof;
}

static void show_progress(size_t row, const struct options_work *work)
{
	meter_show("%zu threads (row %zu of %zu) ", work->threads[row], row + 1,
		   work->rows);
}

struct session {
	struct bench_run *run;
	const struct placement *placement;
	const struct bench_settings *settings;
	const struct bench *step; /* for --breakdown */
	json_t *results, *flushes;
};

/* Measure all rows into the results. Returns row_measure's last status. */
static int measure_rows(void *context, const struct membind *memory,
			size_t node)
{
	const struct session *s = context;
	const struct bench_settings *settings = s->settings;
	const struct options_work *work = &settings->work;
	struct bench_run *run = s->run;
	int status = 0;
	size_t i;

	run->memory = memory;
	run->node = node;
	for (i = 0; i < work->rows && status == 0; i++) {
		struct row row;
		char *why = NULL;

		show_progress(i, work);
		status = row_measure(settings->bench, run, s->placement,
				     work->threads[i], settings->common.quick,
				     random_stream(settings->common.seed, i),
				     interrupt_flag(), &row, &why);
		if (status < 0)
			error(errno == EAGAIN ? STATUS_CANNOT_RUN :
						STATUS_FAILED,
			      0, "%s", why_text(why));
		row.memory = memory ? &memory->node[node] : NULL;
		bench_add_row(s->results, node * work->rows + i, &row, work);
		bench_add_flushes(s->flushes, node * work->rows + i, &row, run,
				  settings->bench);
		row_free(&row);
	}
	meter_end();
	return status;
}

/* The same part by part. */
static int measure_parts(const struct session *s)
{
	const struct bench_settings *settings = s->settings;
	const struct options_work *work = &settings->work;
	const struct placement *placement = s->placement;
	int status = 0;
	size_t i;

	for (i = 0; i < work->rows && status == 0; i++) {
		struct breakdown breakdown;
		char *why = NULL;

		if (work->threads[i] + 1 > placement->n)
			error(STATUS_CANNOT_RUN, 0,
			      "--breakdown: %zu threads and the caller need a "
			      "CPU each, there are %zu",
			      work->threads[i], placement->n);
		show_progress(i, work);
		status = breakdown_measure(
			settings->bench, s->step, s->run, placement,
			work->threads[i], settings->common.quick,
			random_stream(settings->common.seed, i),
			interrupt_flag(), &breakdown, &why);
		if (status < 0)
			error(errno == EAGAIN ? STATUS_CANNOT_RUN :
						STATUS_FAILED,
			      0, "%s", why_text(why));
		breakdown_json(s->results, i, work->threads[i], &breakdown);
	}
	meter_end();
	return status;
}

int bench_main(int argc, char **argv, const struct bench *bench,
	       const struct bench *step)
{
	struct bench_settings settings = { .bench = bench };
	struct placement placement;
	struct bench_run run = { .work = &settings.work };
	struct environment *environment;
	struct session session = {
		.run = &run,
		.placement = &placement,
		.settings = &settings,
		.step = step,
		.results = json_array(),
	};
	json_t *report;
	int status;

	options_common_init(&settings.common);
	if (options_work_init(&settings.work) < 0)
		error(STATUS_FAILED, errno, "cannot start");
	parse_options(argc, argv, &settings);
	if (output_check(settings.common.output) < 0)
		exit(STATUS_USAGE);
	environment = place_caller(&settings.common, &placement, &run.clock);
	interrupt_catch();
	if (settings.trace)
		run.proof = open_proof();

	session.flushes = bench_flushes_json(run.proof);
	if (settings.breakdown)
		status = measure_parts(&session);
	else
		status = place_memory(settings.work.mem_bind, &placement,
				      measure_rows, &session);

	clock_finish(&run.clock);
	environment_finish(environment, &run.clock);
	report = report_new(bench->name, status == 1,
			    bench_options_json(&settings), &run.clock,
			    environment_json(environment));
	if (!report ||
	    json_object_set_new(report, "results", session.results) < 0 ||
	    (!settings.breakdown &&
	     json_object_set(report, "flushes", session.flushes) < 0))
		error(STATUS_FAILED, ENOMEM, "report");
	status = report_write(report, &settings.common,
			      settings.breakdown ? breakdown_text :
						   bench_print_text);

	json_decref(session.flushes);
	json_decref(report);
	proof_close(run.proof);
	environment_close(environment);
	placement_close(&placement);
	options_work_free(&settings.work);
	interrupt_die();
	return status < 0 ? STATUS_FAILED : STATUS_OK;
}
