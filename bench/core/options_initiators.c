/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_initiators: --initiators and --mode, a part of options_work_argp.
 */
#include <config.h>

#include <string.h>

#include "options.h"

#define MAX_INITIATORS 1024

enum { KEY_INITIATORS = 0x180, KEY_MODE };

const char *const mode_name[] = {
	[MODE_THREADS] = "threads",
	[MODE_PROCESSES] = "processes",
	[MODE_BOTH] = "both",
};

static void parse_mode(struct options_work *options, const char *text)
{
	int i;

	for (i = MODE_THREADS; i <= MODE_BOTH; i++)
		if (!strcmp(text, mode_name[i])) {
			options->mode = (enum mode)i;
			options->mode_given = true;
			return;
		}
	options_refuse("--mode: expected threads, processes or both, got '%s'",
		       text);
}

/* Options that exclude each other. */
static void check_work(const struct options_work *options)
{
	size_t i;

	if (options->mode_given && options->initiators < 2)
		options_refuse("--mode: expected --initiators of at least 2");
	for (i = 0; options->mode != MODE_THREADS && i < options->rows; i++)
		if (options->threads[i])
			options_refuse("-t: expected 0 with --mode %s, whose "
				       "processes share no memory with threads",
				       mode_name[options->mode]);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options_work *options = state->input;

	switch (key) {
	case KEY_INITIATORS:
		options->initiators =
			options_integer("--initiators", arg, 1, MAX_INITIATORS);
		return 0;
	case KEY_MODE:
		parse_mode(options, arg);
		return 0;
	case ARGP_KEY_END:
		check_work(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "initiators", KEY_INITIATORS, "NUMBER", 0,
	  "so many operate at a time, each on memory of its own (default 1)",
	  1 },
	{ "mode", KEY_MODE, "MODE", 0,
	  "initiators are threads (default) of one process, which interrupt "
	  "each other and wait for its locks; processes, which do neither; or "
	  "both in turn: the difference is what sharing costs",
	  1 },
	{ 0 },
};

const struct argp options_initiators_argp = {
	.options = options,
	.parser = parse,
};
