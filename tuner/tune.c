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
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "explain.h"
#include "identity.h"
#include "interrupt.h"
#include "knobfile.h"
#include "knobjson.h"
#include "measure.h"
#include "options.h"
#include "output.h"
#include "place.h"
#include "plan.h"
#include "report.h"
#include "saved.h"
#include "tlb.h"

#define MAX_TIME 10.0 /* seconds, the default of --max-time */
#define MAX_TIME_QUICK 3.0
#define BLOCKS 28
#define DERIVE_SECONDS 0.5 /* kept back for what follows the measuring */
#define REACH_SHARE 0.25   /* of the time, at most, unless that is too short */
#define REACH_SECONDS_MIN 0.15 /* a block */
#define CHECK_LIMIT 0.10       /* largest error that --verify accepts */

/* Working sets that --verify measures and no fit sees, pages. */
static const unsigned int held_out[] = { 40, 160, 640 };

struct settings {
	struct options_common common;
	double max_time; /* NAN: the default */
	const char *from;
	bool verify;
};

/* options --------------------------------------------------------------- */

enum { KEY_MAX_TIME = 0x200, KEY_FROM, KEY_VERIFY };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case KEY_MAX_TIME:
		settings->max_time =
			options_decimal("--max-time", arg, 3, 3600);
		return 0;
	case KEY_FROM:
		settings->from = arg;
		return 0;
	case KEY_VERIFY:
		settings->verify = true;
		return 0;
	case ARGP_KEY_END:
		if (settings->from &&
		    (settings->verify || settings->common.cpus ||
		     settings->common.quick || isfinite(settings->max_time)))
			options_refuse("--from measures nothing: expected it "
				       "without --verify, --cpus, --quick and "
				       "--max-time");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option tune_options[] = {
	{ "max-time", KEY_MAX_TIME, "SECONDS", 0,
	  "measure about this long (default 10, with --quick 3; a "
	  "busy machine takes longer over a short run)",
	  1 },
	{ "from", KEY_FROM, "FILE", 0,
	  "derive everything again from a saved JSON report, measure nothing",
	  1 },
	{ "verify", KEY_VERIFY, NULL, 0,
	  "check the fit against working sets that it has not seen", 1 },
	{ 0 },
};

static void parse_options(int argc, char **argv, struct settings *settings)
{
	static const struct argp argp = {
		.options = tune_options,
		.parser = parse,
		.doc = "Measure when flushing TLB entries page by page (INVLPG) "
		       "is cheaper than a full flush on this machine, and "
		       "derive the tlb_flushall_factor.\v"
		       "Needs no privileges. Exit status: 0 done, 1 failed, 2 "
		       "bad usage or input, 77 cannot run on this machine.",
	};

	*settings = (struct settings){ .max_time = NAN };
	options_common_init(&settings->common);
	options_parse_with(&argp, argc, argv, settings, &options_common_argp,
			   &settings->common);
	if (!isfinite(settings->max_time))
		settings->max_time = settings->common.quick ? MAX_TIME_QUICK :
							      MAX_TIME;
}

static json_t *options_json(const struct settings *settings)
{
	return json_pack("{s:o, s:b, s:s?, s:I, s:b}", "max_time",
			 json_real(settings->max_time), "verify",
			 settings->verify, "cpus", settings->common.cpus,
			 "seed", (json_int_t)settings->common.seed, "quick",
			 settings->common.quick);
}

/* reporting ------------------------------------------------------------- */

/* Derive, add the findings to report, write it; the exit status. */
static int finish(const struct settings *settings, json_t *report,
		  const struct record *record)
{
	struct findings findings;
	int status = STATUS_OK;
	size_t i;

	if (derive(record, settings->common.seed, &findings) < 0) {
		if (errno == EINVAL && settings->from)
			options_refuse("%s: record.search: expected timings of "
				       "at least 8 sizes",
				       settings->from);
		if (errno == EINVAL)
			error(STATUS_FAILED, 0,
			      "interrupted before anything "
			      "could be derived");
		error(STATUS_FAILED, errno, "derive");
	}
	if (explain_json(report, record, &findings) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
	if (report_write(report, &settings->common, explain_text) < 0)
		status = STATUS_FAILED;
	for (i = 0; settings->verify && i < findings.n_check; i++)
		if (!(findings.check[i].error <= CHECK_LIMIT))
			status = STATUS_FAILED;
	if (settings->verify && findings.n_check == 0)
		status = STATUS_FAILED;
	derive_free(&findings);
	return status;
}

/* --from ---------------------------------------------------------------- */

static int derive_from(const struct settings *settings)
{
	const char *file = settings->from;
	struct record record;
	json_t *report;
	char *why;
	int status;

	report = saved_read(file, "a JSON report of tune", &why);
	if (!report || saved_record(report, file, &record, &why) < 0)
		options_refuse("%s", why ? why : strerror(ENOMEM));
	if (output_check(settings->common.output) < 0)
		exit(STATUS_USAGE);
	json_object_set_new(report, "derived_from", json_string(file));
	status = finish(settings, report, &record);
	record_free(&record);
	json_decref(report);
	return status;
}

/* measuring ------------------------------------------------------------- */

static void show_progress(const char *part)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s\033[K", part);
}

/* E as far as it is known by now. */
static double entries(const struct record *record)
{
	struct reach reach;

	if (record->n_reach == 0 ||
	    reach_find(record->reach, record->n_reach, &reach) < 0)
		return NAN;
	return reach.last.value;
}

/* Fill the record; exits with a message when something fails. */
static void measure_all(const struct settings *settings,
			const struct measure *measure, struct record *record)
{
	uint64_t start = clock_now(measure->clock);
	struct reach_plan reach = {
		.memory = REACH_4K,
		.pattern = PATTERN_CHASE,
		.pages = REACH_PAGES,
		.blocks = REACH_BLOCKS,
		.seconds =
			fmax(REACH_SECONDS_MIN,
			     settings->max_time * REACH_SHARE / REACH_BLOCKS),
	};
	struct plan plan;
	struct step step;
	char *why = NULL;

	show_progress("ceiling in force ...");
	if (measure_search(measure, record, &step, &why) < 0)
		error(STATUS_CANNOT_RUN, 0, "%s", why);
	show_progress("reach of the TLB ...");
	reach.flush = measure_flush(&step);
	if (!*measure->stop && measure_reach(measure, &reach, &record->reach,
					     &record->n_reach, &why) < 0)
		error(STATUS_CANNOT_RUN, 0, "%s", why);
	if (step.kind != STEP_FOUND || *measure->stop)
		return show_progress("");
	show_progress("costs ...");
	if (plan_open(&plan, step.ceiling, entries(record)) < 0)
		error(STATUS_FAILED, errno, "plan");
	plan.blocks = BLOCKS;
	plan.seconds =
		settings->max_time - DERIVE_SECONDS -
		clock_seconds(measure->clock, start, clock_now(measure->clock));
	if (settings->verify) {
		plan.held_out = held_out;
		plan.n_held_out = sizeof(held_out) / sizeof(*held_out);
	}
	if (measure_blocks(measure, &plan, record, &why) < 0)
		error(STATUS_CANNOT_RUN, 0, "%s", why);
	plan_close(&plan);
	show_progress("");
}

/* What CPUID says of E on this CPU, to stand beside what is measured. */
static json_t *cpuid_json(void)
{
	struct identity identity;
	struct tlb_info info;
	json_t *json;

	identity_read(&identity_live, &identity);
	tlb_decode(&identity_live, &identity, &info);
	json = json_pack("{s:o, s:s, s:s?}", "last_level_entries",
			 info.entries < 0 ? json_null() :
					    json_integer(info.entries),
			 "confidence", tlb_confidence_name[info.confidence],
			 "why", info.why);
	tlb_free(&info);
	return json;
}

/* The knob of this kernel, or why there is none. */
static json_t *knob_json(void)
{
	struct knob knob;

	knobfile_find("", &knob);
	return knobjson_knob(&knob);
}

static int measure_and_derive(const struct settings *settings)
{
	struct placement placement;
	struct environment *environment;
	struct clock clock;
	struct measure measure = {
		.clock = &clock,
		.seed = settings->common.seed,
		.stop = interrupt_flag(),
	};
	struct record record = { 0 };
	json_t *report;
	int status;

	if (output_check(settings->common.output) < 0)
		exit(STATUS_USAGE);
	environment = place_caller(&settings->common, &placement, &clock);
	interrupt_catch();
	measure_all(settings, &measure, &record);
	clock_finish(&clock);
	environment_finish(environment, &clock);
	report = report_new("tune", *measure.stop, options_json(settings),
			    &clock, environment_json(environment));
	if (!report || json_object_set_new(report, "cpuid", cpuid_json()) < 0 ||
	    json_object_set_new(report, "knob", knob_json()) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
	status = finish(settings, report, &record);
	json_decref(report);
	record_free(&record);
	environment_close(environment);
	placement_close(&placement);
	interrupt_die();
	return status;
}

int main(int argc, char **argv)
{
	struct settings settings;

	parse_options(argc, argv, &settings);
	if (settings.from)
		return derive_from(&settings);
	return measure_and_derive(&settings);
}
