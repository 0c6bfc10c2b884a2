/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define MAX_THREADS 65536
#define MAX_PAGES ((uint64_t)1 << 30) /* 4 TiB */
#define MAX_LOOPS 1000000000

const char *argp_program_version = "tlbtune " PACKAGE_VERSION;

const char *const format_name[] = {
	[FORMAT_TEXT] = "text",
	[FORMAT_JSON] = "json",
	[FORMAT_CSV] = "csv",
};

void options_refuse(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(STATUS_USAGE);
}

uint64_t options_integer(const char *option, const char *text, uint64_t min,
			 uint64_t max)
{
	uintmax_t value;
	char *end;

	errno = 0;
	value = strtoumax(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || value < min ||
	    value > max)
		options_refuse("%s: expected an integer from %" PRIu64
			       " to %" PRIu64 ", got '%s'",
			       option, min, max, text);
	return value;
}

double options_decimal(const char *option, const char *text, double min,
		       double max)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	if (strspn(text, "0123456789.") != strlen(text) || end == text ||
	    *end || errno || value < min || value > max)
		options_refuse("%s: expected a number from %g to %g, got '%s'",
			       option, min, max, text);
	return value;
}

size_t *options_threads(const char *option, const char *text, size_t min,
			size_t *n)
{
	size_t *threads = calloc(strlen(text) + 1, sizeof(*threads));
	char *list = strdup(text);
	char *rest = list, *item;

	if (!list || !threads)
		options_refuse("%s: %s", option, strerror(errno));
	for (*n = 0; (item = strsep(&rest, ",")); ++*n)
		threads[*n] = options_integer(option, item, min, MAX_THREADS);
	free(list);
	return threads;
}

size_t options_loops(const char *option, const char *text)
{
	return options_integer(option, text, 1, MAX_LOOPS);
}

enum region_kind options_huge(const char *arg)
{
	int i;

	if (!arg)
		return REGION_THP;
	for (i = REGION_THP; i <= REGION_HUGETLB; i++)
		if (!strcmp(arg, region_kind_name[i]))
			return (enum region_kind)i;
	options_refuse("--huge: expected thp or hugetlb, got '%s'", arg);
}

json_t *options_huge_json(enum region_kind kind)
{
	return kind ? json_string(region_kind_name[kind]) : json_false();
}

/* options_common ------------------------------------------------------- */

enum long_only {
	KEY_CPUS = 0x100,
	KEY_FORMAT,
	KEY_SEED,
	KEY_QUICK,
	KEY_PATTERN,
	KEY_HUGE,
	KEY_MEM_BIND,
};

static enum format parse_format(const char *text)
{
	int i;

	for (i = FORMAT_TEXT; i <= FORMAT_CSV; i++)
		if (!strcmp(text, format_name[i]))
			return (enum format)i;
	options_refuse("--format: expected text, json or csv, got '%s'", text);
}

static error_t parse_output(int key, char *arg, struct argp_state *state)
{
	struct options_common *options = state->input;

	switch (key) {
	case KEY_FORMAT:
		options->format = parse_format(arg);
		return 0;
	case 'o':
		if (!*arg)
			options_refuse("-o: expected a file name, got ''");
		options->output = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct options_common *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options;
		return 0;
	case KEY_CPUS:
		options->cpus = arg;
		return 0;
	case KEY_SEED:
		options->seed = options_integer("--seed", arg, 0, UINT64_MAX);
		options->seeded = true;
		return 0;
	case KEY_QUICK:
		options->quick = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option output_options[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "text (default), json or csv",
	  10 },
	{ "output", 'o', "FILE", 0,
	  "write the result to FILE, which is replaced as a whole, by a partial "
	  "result too",
	  10 },
	{ 0 },
};

const struct argp options_output_argp = {
	.options = output_options,
	.parser = parse_output,
};

static const struct argp_option common_options[] = {
	{ "cpus", KEY_CPUS, "LIST", 0,
	  "run on these CPUs, the first for the caller (e.g. 2,4-7; default: "
	  "one thread a core first, inside the allowed cpuset)",
	  10 },
	{ "seed", KEY_SEED, "NUMBER", 0,
	  "seed of every random order (default 1)", 10 },
	{ "quick", KEY_QUICK, NULL, 0, "measure for a shorter time", 10 },
	{ 0 },
};

static const struct argp_child common_children[] = {
	{ &options_output_argp, 0, NULL, 0 },
	{ 0 },
};

const struct argp options_common_argp = {
	.options = common_options,
	.parser = parse_common,
	.children = common_children,
};

void options_common_init(struct options_common *options)
{
	*options = (struct options_common){
		.format = FORMAT_TEXT,
		.seed = 1,
	};
}

/* options_work --------------------------------------------------------- */

static error_t parse_load(int key, char *arg, struct argp_state *state)
{
	struct options_work *options = state->input;

	switch (key) {
	case 't':
		free(options->threads);
		options->threads =
			options_threads("-t", arg, 0, &options->rows);
		break;
	case 'n':
		options->pages = options_integer("-n", arg, 1, MAX_PAGES);
		break;
	case 'p':
		options->access_pages =
			options_integer("-p", arg, 1, MAX_PAGES);
		break;
	case 'l':
		options->loops = options_loops("-l", arg);
		break;
	case 'w':
		options->write = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	options->load_given = true;
	return 0;
}

static const struct argp_option load_options[] = {
	{ "threads", 't', "LIST", 0,
	  "threads that access the region beside the caller, one row of the "
	  "table for each number in LIST (default 0: the caller alone)",
	  1 },
	{ "pages", 'n', "PAGES", 0, "pages per operation (default 8)", 1 },
	{ "access", 'p', "PAGES", 0,
	  "pages accessed after each operation (default 512)", 1 },
	{ "loops", 'l', "LOOPS", 0,
	  "operations per row (default: until the interval is tight)", 1 },
	{ "write", 'w', NULL, 0, "write to the pages instead of reading", 1 },
	{ 0 },
};

const struct argp options_load_argp = {
	.options = load_options,
	.parser = parse_load,
};

static error_t parse_work(int key, char *arg, struct argp_state *state)
{
	struct options_work *options = state->input;
	int pattern;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options;
		state->child_inputs[1] = options;
		return 0;
	case KEY_PATTERN:
		pattern = pattern_parse(arg);
		if (pattern < 0)
			options_refuse("--pattern: expected seq, random or "
				       "chase, got '%s'",
				       arg);
		options->pattern = (enum pattern)pattern;
		return 0;
	case KEY_HUGE:
		options->huge = options_huge(arg);
		return 0;
	case KEY_MEM_BIND:
		options->mem_bind = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option work_options[] = {
	{ "pattern", KEY_PATTERN, "PATTERN", 0,
	  "seq, random (default) or chase: each address depends on the last",
	  1 },
	{ "huge", KEY_HUGE, "KIND", OPTION_ARG_OPTIONAL,
	  OPTIONS_HUGE_DOC ", which PAGES counts then", 1 },
	{ "mem-bind", KEY_MEM_BIND, "NODES", 0,
	  "all rows with the memory on one of these NUMA nodes after the other "
	  "(e.g. 0,1; default: where the kernel has it), each with the distance "
	  "from the caller",
	  1 },
	{ 0 },
};

static const struct argp_child work_children[] = {
	{ &options_load_argp, 0, NULL, 1 },
	{ &options_initiators_argp, 0, NULL, 1 },
	{ 0 },
};

const struct argp options_work_argp = {
	.options = work_options,
	.parser = parse_work,
	.children = work_children,
};

int options_work_init(struct options_work *options)
{
	*options = (struct options_work){
		.threads = calloc(1, sizeof(*options->threads)),
		.rows = 1,
		.pages = 8,
		.access_pages = 512,
		.pattern = PATTERN_RANDOM,
		.initiators = 1,
	};
	return options->threads ? 0 : -1;
}

void options_work_free(struct options_work *options)
{
	free(options->threads);
	options->threads = NULL;
}

/* parsing -------------------------------------------------------------- */

struct outer {
	const struct argp *argp;
	void *input;
	struct options_common *shared;
};

/*
 * The program's own parser, wrapped: refuses positional arguments, and keeps
 * argp from adding "Try ..." to getopt's one line about an unknown option.
 */
static error_t parse_outer(int key, char *arg, struct argp_state *state)
{
	const struct outer *outer = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = NULL;
		state->child_inputs[0] = outer->input;
		if (outer->shared)
			state->child_inputs[1] = outer->shared;
		return 0;
	case ARGP_KEY_ARG:
		if (outer->argp->args_doc)
			return ARGP_ERR_UNKNOWN;
		options_refuse("expected no argument but options, got '%s'",
			       arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * An optional argument has to be in the same word, or getopt does not take it
 * for one: "--huge" "thp" becomes "--huge=thp", and the word behind it another
 * "--huge=thp", which changes nothing.
 */
static void join_huge(int argc, char **argv)
{
	static char thp[] = "--huge=thp", hugetlb[] = "--huge=hugetlb";
	int i;

	for (i = 1; i + 1 < argc && strcmp(argv[i], "--"); i++) {
		if (strcmp(argv[i], "--huge"))
			continue;
		if (!strcmp(argv[i + 1], region_kind_name[REGION_THP]))
			argv[i] = argv[i + 1] = thp;
		else if (!strcmp(argv[i + 1], region_kind_name[REGION_HUGETLB]))
			argv[i] = argv[i + 1] = hugetlb;
	}
}

void options_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	options_parse_with(argp, argc, argv, input, NULL, NULL);
}

void options_parse_with(const struct argp *argp, int argc, char **argv,
			void *input, const struct argp *shared,
			struct options_common *options)
{
	struct outer outer = { argp, input, options };
	struct argp own = *argp;
	struct argp_child child[] = {
		{ &own, 0, NULL, 0 },
		{ shared, 0, NULL, 0 },
		{ 0 },
	};
	struct argp wrapper = {
		.parser = parse_outer,
		.args_doc = argp->args_doc,
		.children = child,
	};

	own.args_doc = NULL; /* --help would have it twice */
	join_huge(argc, argv);
	if (argp_parse(&wrapper, argc, argv, 0, NULL, &outer))
		exit(STATUS_USAGE);
}
