/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "identity.h"
#include "interrupt.h"
#include "knobjson.h"
#include "measure.h"
#include "meter.h"
#include "place.h"
#include "plan.h"
#include "report.h"
#include "run.h"
#include "tlb.h"
#include "why.h"

#define BLOCKS 28
#define DERIVE_SECONDS 0.5 /* kept back for what follows the measuring */
#define REACH_SHARE 0.25   /* of the time, at most, unless that is too short */
#define REACH_SECONDS_MIN 0.075 /* a block */
#define BOTH_SHARE 0.35		/* of the rest, with a knob */

/* Working sets that --verify measures and no fit sees, pages. */
static const unsigned int held_out[] = { 40, 160, 640 };

/* Exit because a part failed; why NULL: it has been said. */
__attribute__((noreturn)) static void fail(const char *why)
{
	meter_end();
	if (why)
		error(STATUS_CANNOT_RUN, 0, "%s", why_text(why));
	exit(STATUS_CANNOT_RUN);
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

/*
 * The ceiling in force. A knob is moved before anything rests on the ceiling,
 * as one that is seen to act knows better where it is than the timings do.
 */
static struct step measure_ceiling(const struct tune_options *options,
				   struct session *session,
				   const struct measure *measure,
				   struct record *record)
{
	const double seconds = options->max_time * (1 - REACH_SHARE);
	struct step step;
	char *why = NULL;

	meter_show("ceiling in force ...");
	if (measure_search(measure, record, &step, &why) < 0)
		fail(why);
	if (session->locked)
		meter_show("costs, with the knob ...");
	if (session_measure_both(session, measure, BOTH_SHARE * seconds, record,
				 &why) < 0)
		fail(why);
	if (!*measure->stop && derive_search_step(record, &step) < 0)
		error(STATUS_FAILED, errno, "ceiling");
	return step;
}

/* The reach of the TLB. */
static void measure_tlb(const struct tune_options *options,
			const struct measure *measure, const struct step *step,
			struct record *record)
{
	const struct reach_plan reach = {
		.memory = REACH_4K,
		.pattern = PATTERN_CHASE,
		.pages = REACH_PAGES,
		.blocks = REACH_BLOCKS,
		.flush = measure_flush(step),
		.seconds = fmax(REACH_SECONDS_MIN,
				options->max_time * REACH_SHARE / REACH_BLOCKS),
	};
	char *why = NULL;

	meter_show("reach of the TLB ...");
	if (measure_reach(measure, &reach, &record->reach, &record->n_reach,
			  &why) < 0)
		fail(why);
}

/* The costs, in so many seconds. */
static void measure_costs(const struct tune_options *options,
			  const struct measure *measure,
			  const struct step *step, double seconds,
			  struct record *record)
{
	struct plan plan;
	char *why = NULL;

	meter_show("costs ...");
	if (plan_open(&plan, step->ceiling, entries(record)) < 0)
		error(STATUS_FAILED, errno, "plan");
	plan.blocks = BLOCKS;
	plan.seconds = seconds;
	if (options->verify) {
		plan.held_out = held_out;
		plan.n_held_out = sizeof(held_out) / sizeof(*held_out);
	}
	if (measure_blocks(measure, &plan, record, &why) < 0)
		fail(why);
	plan_close(&plan);
}

static void measure_all(const struct tune_options *options,
			struct session *session, const struct measure *measure,
			struct record *record)
{
	const struct clock *clock = measure->clock;
	uint64_t start = clock_now(clock);
	struct step step;
	double left;
	char *why;

	if (session_begin(session, record, &why) < 0)
		fail(why);
	step = measure_ceiling(options, session, measure, record);
	if (!*measure->stop)
		measure_tlb(options, measure, &step, record);
	left = options->max_time - DERIVE_SECONDS -
	       clock_seconds(clock, start, clock_now(clock));
	if (step.kind == STEP_FOUND && !*measure->stop)
		measure_costs(options, measure, &step, left, record);
	if (session_end(session, &why) < 0)
		fail(why);
	meter_end();
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

static json_t *options_json(const struct tune_options *options)
{
	return json_pack("{s:o, s:b, s:s?, s:I, s:b}", "max_time",
			 json_real(options->max_time), "verify",
			 options->verify, "cpus", options->common.cpus, "seed",
			 (json_int_t)options->common.seed, "quick",
			 options->common.quick);
}

json_t *run_environment(void)
{
	struct environment *environment;
	struct clock clock;
	json_t *json;
	int cpu = sched_getcpu();

	clock_init(&clock, "");
	environment =
		environment_open("", &clock, cpu < 0 ? 0 : (unsigned int)cpu);
	json = environment ? environment_json(environment) : NULL;
	if (!json)
		error(STATUS_FAILED, ENOMEM, "environment");
	environment_close(environment);
	return json;
}

json_t *run_measure(const struct tune_options *options, struct session *session,
		    struct record *record)
{
	struct placement placement;
	struct environment *environment;
	struct clock clock;
	struct measure measure = {
		.clock = &clock,
		.seed = options->common.seed,
		.stop = interrupt_flag(),
	};
	json_t *report;

	environment = place_caller(&options->common, &placement, &clock);
	measure.cpu = placement.cpu[0];
	measure_all(options, session, &measure, record);
	clock_finish(&clock);
	environment_finish(environment, &clock);
	report = report_new("tune", *measure.stop, options_json(options),
			    &clock, environment_json(environment));
	if (!report || json_object_set_new(report, "cpuid", cpuid_json()) < 0 ||
	    json_object_set_new(report, "knob", knobjson_knob(&session->knob)) <
		    0)
		error(STATUS_FAILED, ENOMEM, "report");
	environment_close(environment);
	placement_close(&placement);
	return report;
}
