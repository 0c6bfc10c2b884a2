/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access: latency of an access against the number of pages that are accessed in
 * turn, and with it the reach of the TLB: where the latency rises, a level of
 * it is full.
 *
 * A pointer chase, so that neither prefetching nor memory-level parallelism
 * hides a miss; one cache line a page; the TLB fully flushed before each set.
 * What the caches below contribute is measured as well, by the same chase over
 * as many lines packed densely, and subtracted.
 *
 * With --under the question is another: what accesses take while another thread
 * flushes (under.h).
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "interrupt.h"
#include "latency.h"
#include "membind.h"
#include "options.h"
#include "output.h"
#include "place.h"
#include "report.h"
#include "rounds.h"
#include "under.h"
#include "why.h"

#define MAX_TIME 10.0 /* seconds, the default of --max-time */
#define MAX_TIME_QUICK 3.0
#define DERIVE_SECONDS 0.5 /* kept back for what follows the measuring */

/* Time blocks, as long as there is time. */
#define BLOCKS 24
#define BLOCKS_QUICK 10

/*
 * 384 MiB of huge pages, twice what L1 dTLBs hold. A last level would take 10
 * GiB and more, which nobody expects of a program that is just run.
 */
#define HUGE_PAGES 192
#define PAGES_MIN 128	    /* fewer don't show a knee */
#define PAGES_LARGEST 65536 /* 128 GiB of huge pages */

struct settings {
	struct options_common common;
	unsigned int pages; /* 0: the default */
	enum region_kind huge;
	bool pattern[PATTERNS]; /* beside the chase */
	double max_time;	/* NAN: the default */
	struct under under;
};

/* options --------------------------------------------------------------- */

enum {
	KEY_PAGES_MAX = 0x200,
	KEY_HUGE,
	KEY_PATTERN,
	KEY_MAX_TIME,
	KEY_MEM_BIND,
};

static void parse_pattern(struct settings *settings, const char *arg)
{
	int pattern = pattern_parse(arg);

	if (pattern < 0)
		options_refuse("--pattern: expected seq, random or chase, got "
			       "'%s'",
			       arg);
	settings->pattern[pattern] = true;
	settings->under.work.pattern = (enum pattern)pattern;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &settings->under;
		return 0;
	case KEY_PAGES_MAX:
		settings->pages = (unsigned int)options_integer(
			"--pages-max", arg, PAGES_MIN, PAGES_LARGEST);
		return 0;
	case KEY_HUGE:
		settings->huge = options_huge(arg);
		return 0;
	case KEY_PATTERN:
		parse_pattern(settings, arg);
		return 0;
	case KEY_MAX_TIME:
		settings->max_time =
			options_decimal("--max-time", arg, 2, 3600);
		return 0;
	case KEY_MEM_BIND:
		settings->under.work.mem_bind = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option access_options[] = {
	{ "pages-max", KEY_PAGES_MAX, "PAGES", 0,
	  "the largest set (default 16384 pages of 4 KiB, 192 of 2 MiB), of 4 "
	  "KiB pages, with --huge of 2 MiB pages",
	  1 },
	{ "huge", KEY_HUGE, "KIND", OPTION_ARG_OPTIONAL,
	  "only " OPTIONS_HUGE_DOC, 1 },
	{ "pattern", KEY_PATTERN, "PATTERN", 0,
	  "the latency of seq or random beside that of the chase; may be "
	  "repeated",
	  1 },
	{ "max-time", KEY_MAX_TIME, "SECONDS", 0,
	  "measure at most this long (default 10, with --quick 3)", 1 },
	{ "mem-bind", KEY_MEM_BIND, "NODES", 0,
	  "have the memory on this NUMA node, with --under on one of these "
	  "after the other (e.g. 0,1; default: where the kernel has it), each "
	  "with the distance from the caller",
	  1 },
	{ 0 },
};

static const struct argp_child access_children[] = {
	{ &under_argp, 0, NULL, 2 },
	{ 0 },
};

/* What one way to measure has no use for is refused, not ignored. */
static void check_options(struct settings *settings)
{
	int i, patterns = 0;

	if (!under_check(&settings->under))
		return;
	for (i = 0; i < PATTERNS; i++)
		patterns += settings->pattern[i];
	if (settings->pages || isfinite(settings->max_time))
		options_refuse("--pages-max and --max-time: not with --under");
	if (patterns > 1)
		options_refuse("--pattern: once, with --under");
	settings->under.work.huge = settings->huge;
}

static void parse_options(int argc, char **argv, struct settings *settings)
{
	static const struct argp argp = {
		.options = access_options,
		.parser = parse,
		.children = access_children,
		.doc = "Measure the latency of an access against the number of "
		       "pages accessed, and find how many entries the levels "
		       "of the data TLB have and what it costs to miss "
		       "them. Or, with --under, what a thread loses while "
		       "another one of its process flushes.\v"
		       "The whole curve is in the JSON and CSV output. Needs no "
		       "privileges. Exit status: 0 done, 1 failed, 2 bad usage "
		       "or input, 77 cannot run on this machine.",
	};

	*settings = (struct settings){ .max_time = NAN };
	options_common_init(&settings->common);
	under_init(&settings->under);
	options_parse_with(&argp, argc, argv, settings, &options_common_argp,
			   &settings->common);
	check_options(settings);
	if (!isfinite(settings->max_time))
		settings->max_time = settings->common.quick ? MAX_TIME_QUICK :
							      MAX_TIME;
}

static json_t *options_json(const struct settings *settings)
{
	json_t *patterns = json_array();
	int i;

	for (i = 0; i < PATTERNS; i++)
		if (i == PATTERN_CHASE || settings->pattern[i])
			json_array_append_new(patterns,
					      json_string(pattern_name[i]));
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:s?, s:s?, s:I, s:b}", "pages_max",
		settings->pages ? json_integer(settings->pages) : json_null(),
		"huge", options_huge_json(settings->huge), "patterns", patterns,
		"max_time", json_real(settings->max_time), "mem_bind",
		settings->under.work.mem_bind, "cpus", settings->common.cpus,
		"seed", (json_int_t)settings->common.seed, "quick",
		settings->common.quick);
}

/* measuring ------------------------------------------------------------- */

static void add(struct latencies *all, enum reach_memory memory,
		enum pattern pattern, unsigned int pages)
{
	all->curve[all->n++] = (struct latency){
		.memory = memory,
		.pattern = pattern,
		.pages = pages,
	};
}

/* The curves to measure, the one that must be there first. */
static void choose_curves(const struct settings *settings,
			  struct latencies *all)
{
	unsigned int huge = HUGE_PAGES, small = REACH_PAGES;
	int i;

	all->curve = calloc(3 + PATTERNS, sizeof(*all->curve));
	if (!all->curve)
		error(STATUS_FAILED, errno, "curves");
	if (settings->pages && settings->huge)
		huge = settings->pages;
	else if (settings->pages)
		small = settings->pages;
	if (!settings->huge)
		add(all, REACH_4K, PATTERN_CHASE, small);
	else
		add(all, REACH_2M, PATTERN_CHASE, huge);
	add(all, REACH_4K_OF_2M, PATTERN_CHASE, small);
	if (!settings->huge)
		add(all, REACH_2M, PATTERN_CHASE, huge);
	for (i = 0; i < PATTERNS; i++)
		if (settings->pattern[i] && i != PATTERN_CHASE)
			add(all, settings->huge ? REACH_2M : REACH_4K,
			    (enum pattern)i, settings->huge ? huge : small);
	for (i = 0; i < (int)all->n; i++)
		all->curve[i].huge = settings->huge;
}

struct session {
	const struct settings *settings;
	struct measure *measure;
	struct latencies *all;
	json_t *memory; /* which node it is bound to, null: none */
};

/* Measure all curves; exits with a message when that is impossible. */
static int measure_all(void *context, const struct membind *memory, size_t node)
{
	struct session *session = context;
	const struct settings *settings = session->settings;
	struct measure *measure = session->measure;
	struct latencies *all = session->all;
	uint64_t start = clock_now(measure->clock);
	struct record record = { 0 };
	struct rounds rounds;
	struct step step;
	char *why = NULL;

	if (memory && memory->n > 1)
		options_refuse("--mem-bind: expected one node without --under, "
			       "got '%s'",
			       settings->under.work.mem_bind);
	measure->memory = memory;
	session->memory = memory ? membind_json(&memory->node[node]) :
				   json_null();
	if (measure_search(measure, &record, &step, &why) < 0)
		error(STATUS_CANNOT_RUN, 0, "%s", why_text(why));
	record_free(&record);
	rounds = (struct rounds){
		.measure = measure,
		.flush = measure_flush(&step),
		.most = settings->common.quick ? BLOCKS_QUICK : BLOCKS,
		.start = start,
		.seconds = settings->max_time - DERIVE_SECONDS,
	};
	if (rounds_run(&rounds, all, &why) < 0)
		error(STATUS_CANNOT_RUN, 0, "%s", why_text(why));
	return 0;
}

/* What CPUID says, on the CPU that is measured. */
static void read_cpuid(struct tlb_info *info)
{
	struct identity id;

	identity_read(&identity_live, &id);
	if (tlb_decode(&identity_live, &id, info) < 0)
		error(STATUS_FAILED, errno, "CPUID");
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct placement placement;
	struct environment *environment;
	struct clock clock;
	struct measure measure = {
		.clock = &clock,
		.stop = interrupt_flag(),
	};
	struct latencies all = { 0 };
	struct session session = { &settings, &measure, &all, NULL };
	json_t *report;
	char *why = NULL;
	int status = STATUS_OK;

	parse_options(argc, argv, &settings);
	measure.seed = settings.common.seed;
	if (output_check(settings.common.output) < 0)
		exit(STATUS_USAGE);
	if (settings.under.bench) {
		status = under_run(&settings.under, &settings.common);
		under_free(&settings.under);
		return status;
	}
	environment = place_caller(&settings.common, &placement, &clock);
	measure.cpu = placement.cpu[0];
	read_cpuid(&all.cpuid);
	choose_curves(&settings, &all);
	interrupt_catch();

	place_memory(settings.under.work.mem_bind, &placement, measure_all,
		     &session);
	if (place_check(&placement, NULL, &why) < 0)
		error(STATUS_FAILED, 0, "%s", why_text(why));

	clock_finish(&clock);
	environment_finish(environment, &clock);
	report = report_new("access", *measure.stop, options_json(&settings),
			    &clock, environment_json(environment));
	if (!report ||
	    json_object_set_new(report, "memory", session.memory) < 0 ||
	    latency_derive(&all) < 0 || latency_json(report, &all) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
	if (report_write(report, &settings.common, latency_text) < 0)
		status = STATUS_FAILED;
	json_decref(report);
	latency_free(&all);
	under_free(&settings.under);
	environment_close(environment);
	placement_close(&placement);
	interrupt_die();
	return status;
}
