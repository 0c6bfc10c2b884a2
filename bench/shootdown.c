/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shootdown: the program; what it measures is in shootdown.h.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdlib.h>

#include "core/environment.h"
#include "core/interrupt.h"
#include "core/options.h"
#include "core/output.h"
#include "core/place.h"
#include "core/report.h"
#include "shootdown_blame.h"
#include "why.h"

struct settings {
	struct options_common common;
	size_t *threads; /* [rows]; NULL: every number there can be */
	size_t rows;
	size_t loops;
	bool blame;
	const char *events; /* --events FILE, or NULL */
};

/* options --------------------------------------------------------------- */

enum { KEY_BLAME = 0x200, KEY_EVENTS };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case 't':
		free(settings->threads);
		settings->threads =
			options_threads("-t", arg, 1, &settings->rows);
		return 0;
	case 'l':
		settings->loops = options_loops("-l", arg);
		return 0;
	case KEY_BLAME:
		settings->blame = true;
		return 0;
	case KEY_EVENTS:
		if (!*arg)
			options_refuse("--events: expected a file name, got "
				       "''");
		settings->events = arg;
		return 0;
	case ARGP_KEY_END:
		if (settings->events && !settings->blame)
			options_refuse("--events: expected --blame beside it");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option shootdown_options[] = {
	{ "threads", 't', "LIST", 0,
	  "threads that run on other CPUs, one row of the table for each number "
	  "in LIST (default: every number from 1 to all CPUs but one)",
	  1 },
	{ "loops", 'l', "LOOPS", 0,
	  "calls per row (default: until the intervals are tight)", 1 },
	{ "blame", KEY_BLAME, NULL, 0,
	  "trace further calls, apart from those that are timed: which CPU "
	  "answered last, and what held it (as root)",
	  1 },
	{ "events", KEY_EVENTS, "FILE", 0,
	  "with --blame: write the traced events to FILE, which is replaced as "
	  "a whole",
	  1 },
	{ 0 },
};

static void parse_options(int argc, char **argv, struct settings *settings)
{
	static const struct argp argp = {
		.options = shootdown_options,
		.parser = parse,
		.doc = "Measure what it costs to interrupt other CPUs, as a "
		       "TLB shootdown does, apart from what they are "
		       "interrupted for: membarrier(2) on 1, 2, ... CPUs that "
		       "run threads of this process.\v"
		       "Beside each row stand the same call while no other "
		       "thread runs and a system call that does nothing, so "
		       "that the interrupts are what is left. A call counts "
		       "only if every thread ran just before and just after "
		       "it; the others are shown apart. Needs no privileges. "
		       "Exit status: 0 done, 1 failed, 2 bad usage or input, "
		       "77 cannot run on this machine.",
	};

	*settings = (struct settings){ 0 };
	options_common_init(&settings->common);
	options_parse_with(&argp, argc, argv, settings, &options_common_argp,
			   &settings->common);
}

/* One row for each number of CPUs, unless -t says which. */
static void choose_rows(struct settings *settings,
			const struct placement *placement)
{
	size_t i;

	for (i = 0; i < settings->rows; i++)
		if (settings->threads[i] >= placement->n)
			options_refuse("-t: %zu threads need %zu CPUs beside "
				       "the caller's, this process may use %zu "
				       "in all",
				       settings->threads[i],
				       settings->threads[i], placement->n);
	if (settings->threads)
		return;
	settings->rows = placement->n - 1;
	settings->threads = calloc(settings->rows, sizeof(*settings->threads));
	if (!settings->threads)
		error(STATUS_FAILED, errno, "rows");
	for (i = 0; i < settings->rows; i++)
		settings->threads[i] = i + 1;
}

static json_t *options_json(const struct settings *settings)
{
	json_t *threads = json_array();
	size_t i;

	for (i = 0; i < settings->rows; i++)
		json_array_append_new(
			threads,
			json_integer((json_int_t)settings->threads[i]));
	return json_pack("{s:o, s:I, s:b, s:s?, s:I, s:b}", "threads", threads,
			 "loops", (json_int_t)settings->loops, "blame",
			 settings->blame, "cpus", settings->common.cpus, "seed",
			 (json_int_t)settings->common.seed, "quick",
			 settings->common.quick);
}

/* The CPUs in the order in which they are used. */
static json_t *order_json(const struct placement *placement)
{
	json_t *order = json_array();
	size_t i;

	for (i = 0; i < placement->n; i++)
		json_array_append_new(order, json_integer(placement->cpu[i]));
	return order;
}

/* running --------------------------------------------------------------- */

static struct shootdown_plan make_plan(const struct settings *settings,
				       const struct placement *placement,
				       const struct clock *clock)
{
	return (struct shootdown_plan){
		.threads = settings->threads,
		.rows = settings->rows,
		.loops = settings->loops,
		.quick = settings->common.quick,
		.seed = settings->common.seed,
		.root = "",
		.clock = clock,
		.placement = placement,
		.stop = interrupt_flag(),
	};
}

static int measure(const struct shootdown_plan *plan, struct shootdown *all)
{
	char *why = NULL;
	int status = shootdown_measure(plan, all, &why);

	if (status < 0)
		error(errno == EAGAIN ? STATUS_CANNOT_RUN : STATUS_FAILED, 0,
		      "%s", why ? why : "out of memory");
	return status;
}

/* What --blame asks for, null without it. */
static json_t *trace(const struct settings *settings,
		     const struct shootdown_plan *plan)
{
	struct shootdown_blame blame;
	struct output log = { 0 };
	json_t *json;

	if (!settings->blame || *plan->stop)
		return json_null();
	if (settings->events && output_open(&log, settings->events) < 0)
		exit(STATUS_FAILED);
	if (shootdown_trace(plan, &blame, log.to) < 0) {
		int error_number = errno;

		if (log.to)
			output_abandon(&log);
		error(STATUS_FAILED, error_number, "tracing");
	}
	if (log.to && blame.why)
		output_abandon(&log);
	else if (log.to && output_commit(&log) < 0)
		exit(STATUS_FAILED);
	json = shootdown_blame_json(&blame);
	shootdown_blame_free(&blame);
	return json;
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct placement placement;
	struct environment *environment;
	struct shootdown all;
	struct clock clock;
	struct shootdown_plan plan;
	const char *why;
	json_t *report, *blame;
	int status;

	parse_options(argc, argv, &settings);
	if (output_check(settings.common.output) < 0 ||
	    output_check(settings.events) < 0)
		exit(STATUS_USAGE);
	environment = place_caller(&settings.common, &placement, &clock);
	if (shootdown_prepare(&placement, &why) < 0)
		error(STATUS_CANNOT_RUN, 0, "%s", why_text(why));
	choose_rows(&settings, &placement);
	interrupt_catch();

	plan = make_plan(&settings, &placement, &clock);
	status = measure(&plan, &all);
	blame = trace(&settings, &plan);
	if (*plan.stop)
		status = 1;

	clock_finish(&clock);
	environment_finish(environment, &clock);
	report = report_new("shootdown", status == 1, options_json(&settings),
			    &clock, environment_json(environment));
	if (!report ||
	    json_object_set_new(report, "order", order_json(&placement)) < 0 ||
	    json_object_set_new(report, "results", shootdown_json(&all)) < 0 ||
	    json_object_set_new(report, "blame", blame) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
	status = report_write(report, &settings.common, shootdown_text);

	json_decref(report);
	shootdown_free(&all);
	environment_close(environment);
	placement_close(&placement);
	free(settings.threads);
	interrupt_die();
	return status < 0 ? STATUS_FAILED : STATUS_OK;
}
