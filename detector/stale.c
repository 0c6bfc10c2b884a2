/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stale: prove that no thread can use an old translation.
 *
 * Page tables are changed in every way that a program can ask for, while other
 * threads hold the translations in their TLBs; after the call has returned none
 * of them may see the old page. It needs no knowledge of how the kernel
 * flushes, and so runs on any.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "findings.h"
#include "interrupt.h"
#include "listing.h"
#include "options.h"
#include "output.h"
#include "place.h"
#include "report.h"
#include "sysfile.h"
#include "why.h"

#define SECONDS 10.0
#define SECONDS_QUICK 3.0
#define SECONDS_REPLAY 10.0
#define THREADS_DEFAULT 4 /* at most, and no more than there are other CPUs */
#define THREADS_MOST 63

#define HUGE_DIR "/sys/kernel/mm/hugepages/hugepages-2048kB/"

struct settings {
	struct options_common common;
	double seconds;	  /* NAN: the default */
	double random;	  /* seconds, or 0 */
	const char *file; /* --replay, or NULL */
	unsigned int threads;
	char *operations; /* names, comma-separated, or NULL: all */
	bool list;
};

/* options -------------------------------------------------------------- */

enum {
	KEY_SECONDS = 0x200,
	KEY_RANDOM,
	KEY_REPLAY,
	KEY_OPERATION,
	KEY_LIST,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &settings->common;
		return 0;
	case KEY_SECONDS:
		settings->seconds = options_decimal("--seconds", arg, 0.1, 1e6);
		return 0;
	case KEY_RANDOM:
		settings->random = options_decimal("--random", arg, 0.1, 1e6);
		return 0;
	case KEY_REPLAY:
		settings->file = arg;
		return 0;
	case 't':
		settings->threads = (unsigned int)options_integer("-t", arg, 1,
								  THREADS_MOST);
		return 0;
	case KEY_OPERATION:
		settings->operations = arg;
		return 0;
	case KEY_LIST:
		settings->list = true;
		return 0;
	case ARGP_KEY_END:
		if (settings->file &&
		    (settings->random > 0 || settings->operations))
			options_refuse("--replay: expected neither --random "
				       "nor --operation beside it");
		if (settings->random > 0 &&
		    (settings->operations || settings->seconds > 0))
			options_refuse("--random: expected neither --operation "
				       "nor --seconds beside it");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option stale_options[] = {
	{ "seconds", KEY_SECONDS, "SECONDS", 0,
	  "test for so long (default 10, with --quick 3), or until each operation "
	  "has had its turn, up to 30 seconds more",
	  1 },
	{ "operation", KEY_OPERATION, "LIST", 0,
	  "only these, separated by commas (see --list)", 1 },
	{ "list", KEY_LIST, NULL, 0, "list the operations and exit", 1 },
	{ "threads", 't', "THREADS", 0,
	  "at most so many threads beside the initiator (default: one a CPU, up "
	  "to 4)",
	  1 },
	{ "random", KEY_RANDOM, "SECONDS", 0,
	  "run random programs for so long; one that fails is shrunk", 2 },
	{ "replay", KEY_REPLAY, "FILE", 0,
	  "run the program in FILE, as a failure printed it, again and again "
	  "for --seconds",
	  2 },
	{ 0 },
};

static void parse_options(int argc, char **argv, struct settings *settings)
{
	static const struct argp_child children[] = {
		{ &options_common_argp, 0, NULL, 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = stale_options,
		.parser = parse,
		.children = children,
		.doc = "Take translations away in every way that a program can "
		       "ask for, and see whether a thread can still use one "
		       "after the call has returned.\v"
		       "Needs no privileges; what the kernel or they don't "
		       "allow is skipped, with the reason. Changes no setting "
		       "of the machine. Exit status: 0 no stale access, 1 a "
		       "stale access (or failed), 2 bad usage or input, 77 "
		       "nothing could be tested.",
	};

	*settings = (struct settings){ 0 };
	options_common_init(&settings->common);
	options_parse(&argp, argc, argv, settings);
}

static void list_operations(void)
{
	size_t i;

	for (i = 0; i < check_kinds_n; i++)
		printf("%-14s %s\n", check_kinds[i].name,
		       check_kinds[i].summary);
}

static const struct check_kind *find_kind(const char *name)
{
	size_t i;

	for (i = 0; i < check_kinds_n; i++)
		if (!strcmp(check_kinds[i].name, name))
			return &check_kinds[i];
	options_refuse("--operation: expected a name of --list, got '%s'",
		       name);
}

static json_t *options_json(const struct settings *settings, double seconds)
{
	return json_pack("{s:s, s:f, s:s?, s:s?, s:i, s:s?, s:I, s:b}", "mode",
			 settings->file	      ? SESSION_REPLAY :
			 settings->random > 0 ? SESSION_RANDOM :
						"systematic",
			 "seconds", seconds, "operations", settings->operations,
			 "replay", settings->file, "threads", settings->threads,
			 "cpus", settings->common.cpus, "seed",
			 (json_int_t)settings->common.seed, "quick",
			 settings->common.quick);
}

/* what to test --------------------------------------------------------- */

static void out_of_memory(void)
{
	error(STATUS_FAILED, ENOMEM, "session");
}

static void add_operations(const struct settings *settings,
			   struct session *session)
{
	char *names = settings->operations ? strdup(settings->operations) :
					     NULL;
	char *rest = names, *name;
	size_t i;

	if (!settings->operations) {
		for (i = 0; i < check_kinds_n; i++)
			if (session_add(session, &check_kinds[i]) < 0)
				out_of_memory();
		return;
	}
	while ((name = strsep(&rest, ",")))
		if (session_add(session, find_kind(name)) < 0)
			out_of_memory();
	free(names);
}

/* Before anything is measured: what is wrong with LIST. */
static void check_operations(const char *operations)
{
	char *names = operations ? strdup(operations) : NULL;
	char *rest = names, *name;

	while (names && (name = strsep(&rest, ",")))
		find_kind(name);
	free(names);
}

static void read_program(const char *path, struct program *program)
{
	char *text = sysfile_read("", path), *why;

	if (!text)
		options_refuse("--replay: cannot read '%s': %s", path,
			       strerror(errno));
	if (listing_parse(text, program, &why) < 0)
		options_refuse("%s:%s", path, why_text(why));
	free(text);
}

static unsigned int free_huge_pages(void)
{
	char *text = sysfile_read("", HUGE_DIR "free_hugepages");
	unsigned int n = text ? (unsigned int)strtoul(text, NULL, 10) : 0;

	free(text);
	return n;
}

static struct check_bounds bounds(const struct settings *settings,
				  const struct placement *placement,
				  const json_t *environment)
{
	int threshold = findings_threshold(environment);
	unsigned int others =
		placement->n > 1 ? (unsigned int)placement->n - 1 : 1;

	if (others > THREADS_DEFAULT)
		others = THREADS_DEFAULT;
	return (struct check_bounds){
		.threshold = threshold < 0 ? THRESHOLD_STOCK :
					     (unsigned int)threshold,
		.threads = settings->threads ? settings->threads : others,
		.huge = free_huge_pages(),
	};
}

static double session_seconds(const struct settings *settings)
{
	if (settings->random > 0)
		return settings->random;
	if (settings->seconds > 0)
		return settings->seconds;
	return settings->common.quick ? SECONDS_QUICK : SECONDS;
}

static void run(const struct settings *settings, struct session *session,
		const struct program *program)
{
	session->deadline = batch_clock() + session_seconds(settings);
	if (settings->file) {
		session_replay(session, program);
	} else if (settings->random > 0) {
		if (session_add_random(session) < 0)
			out_of_memory();
		session_random(session);
	} else {
		add_operations(settings, session);
		session_check(session);
	}
}

static const char *first_reason(const struct session *session)
{
	size_t i;

	for (i = 0; i < session->tallies; i++)
		if (session->tally[i].reason)
			return session->tally[i].reason;
	return "interrupted, or no time for it";
}

/* The program that hung or crashed, to be tried again. */
static void print_program(const struct program *program)
{
	char *listing = listing_print(program);

	if (listing)
		fprintf(stderr, "# it ran this; see --replay\n%s", listing);
	free(listing);
}

static int status(const struct session *session)
{
	if (session->failed) {
		error(0, 0, "%s", session->failed);
		if (session->died)
			print_program(&session->program);
		return session->cannot ? STATUS_CANNOT_RUN : STATUS_FAILED;
	}
	if (session->stale)
		return STATUS_FAILED;
	if (session_programs(session) == 0) {
		error(0, 0, "nothing could be tested: %s",
		      first_reason(session));
		return STATUS_CANNOT_RUN;
	}
	return STATUS_OK;
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct program program = { 0 };
	struct placement placement;
	struct environment *environment;
	struct clock clock;
	struct session session = { .stop = interrupt_flag() };
	json_t *report, *machine;
	int result;

	parse_options(argc, argv, &settings);
	if (settings.list) {
		list_operations();
		return STATUS_OK;
	}
	check_operations(settings.operations);
	if (settings.file)
		read_program(settings.file, &program);
	if (output_check(settings.common.output) < 0)
		exit(STATUS_USAGE);
	environment = place_caller(&settings.common, &placement, &clock);
	machine = environment_json(environment);
	session.placement = &placement;
	session.seed = settings.common.seed;
	session.bounds = bounds(&settings, &placement, machine);
	json_decref(machine);
	interrupt_catch();

	run(&settings, &session, &program);

	clock_finish(&clock);
	environment_finish(environment, &clock);
	report = report_new("stale", *session.stop,
			    options_json(&settings, session_seconds(&settings)),
			    &clock, environment_json(environment));
	if (!report || findings_json(report, &session) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
	result = status(&session);
	if (!session.failed && result != STATUS_CANNOT_RUN &&
	    report_write(report, &settings.common, findings_text) < 0)
		result = STATUS_FAILED;
	json_decref(report);
	session_free(&session);
	program_free(&program);
	environment_close(environment);
	placement_close(&placement);
	interrupt_die();
	return result;
}
