/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsing of numbers and shared options. What is refused exits, so it is tried
 * in a child whose stderr is read.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "tap.h"

struct both {
	struct options_common common;
	struct options_work work;
	char *line; /* into which the options point */
};

static void both_free(struct both *both)
{
	options_work_free(&both->work);
	free(both->line);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct both *both = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = &both->common;
	state->child_inputs[1] = &both->work;
	return 0;
}

/* Parse a command line of blank-separated words. */
static void parse_line(const char *line, struct both *both)
{
	static const struct argp_child children[] = {
		{ &options_common_argp, 0, NULL, 0 },
		{ &options_work_argp, 0, NULL, 0 },
		{ 0 },
	};
	static const struct argp argp = { .parser = parse,
					  .children = children };
	char name[] = "options";
	char *argv[32] = { name };
	char *rest = both->line = strdup(line);
	int argc = 1;

	while ((argv[argc] = strsep(&rest, " ")))
		argc += *argv[argc] != '\0';
	options_common_init(&both->common);
	options_work_init(&both->work);
	options_parse(&argp, argc, argv, both);
}

/* The exit status of parsing line, and what it says on stderr. */
static int try(const char *line, char *said, size_t size)
{
	int fds[2], status;
	size_t used = 0;
	ssize_t got;
	pid_t pid;

	fflush(stdout);
	if (pipe(fds) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		struct both both;

		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		parse_line(line, &both);
		both_free(&both);
		_exit(0);
	}
	close(fds[1]);
	while ((got = read(fds[0], said + used, size - 1 - used)) > 0)
		used += (size_t)got;
	said[used] = '\0';
	close(fds[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void refused(const char *line, const char *names)
{
	char said[1024];
	int status = try(line, said, sizeof(said));
	char *newline = strchr(said, '\n');

	ok(status == STATUS_USAGE && strstr(said, names) && newline &&
		   newline[1] == '\0',
	   "'%s' is refused in one line that names %s", line, names);
	if (status != STATUS_USAGE)
		diag("status %d, '%s'", status, said);
}

static void test_refused(void)
{
	static const char *const bad[][2] = {
		{ "-n 0", "-n" },
		{ "-n -1", "-n" },
		{ "-n +1", "-n" },
		{ "-n 1x", "-n" },
		{ "-n 0x10", "-n" },
		{ "-n 1e3", "-n" },
		{ "-n 1.5", "-n" },
		{ "-n 18446744073709551616", "-n" },
		{ "-n 18446744073709551615", "-n" },
		{ "-n 1073741825", "-n" },
		{ "-n", "n" },
		{ "--pages=", "-n" },
		{ "-p 0", "-p" },
		{ "-p none", "-p" },
		{ "-l 0", "-l" },
		{ "-l 1000000001", "-l" },
		{ "-t -1", "-t" },
		{ "-t 65537", "-t" },
		{ "-t 1,", "-t" },
		{ "-t ,1", "-t" },
		{ "-t 1,,2", "-t" },
		{ "-t 1;2", "-t" },
		{ "--pattern=stride", "--pattern" },
		{ "--pattern=", "--pattern" },
		{ "--format=xml", "--format" },
		{ "--format=JSON", "--format" },
		{ "--output=", "-o" },
		{ "--seed=-1", "--seed" },
		{ "--seed=a", "--seed" },
		{ "--seed=18446744073709551616", "--seed" },
		{ "--huge=yes", "thp or hugetlb" },
		{ "--no-such-option", "no-such-option" },
		{ "-Z", "Z" },
		{ "mprotect", "mprotect" },
		{ "-n 8 9", "9" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refused(bad[i][0], bad[i][1]);
}

static void test_accepted(void)
{
	struct both both;

	parse_line("", &both);
	ok(both.work.rows == 1 && both.work.threads[0] == 0 &&
		   both.work.pages == 8 && both.work.access_pages == 512 &&
		   both.work.loops == 0 && !both.work.write &&
		   !both.work.huge && both.work.pattern == PATTERN_RANDOM,
	   "the defaults are those of the 2012 benchmark");
	ok(both.common.format == FORMAT_TEXT && !both.common.output &&
		   both.common.seed == 1 && !both.common.quick,
	   "and text to stdout");
	both_free(&both);

	parse_line("-t 1,2,128 -n 33 -p 4096 -l 7 -w --pattern=chase --huge",
		   &both);
	ok(both.work.rows == 3 && both.work.threads[0] == 1 &&
		   both.work.threads[2] == 128,
	   "-t takes a list");
	ok(both.work.pages == 33 && both.work.access_pages == 4096 &&
		   both.work.loops == 7 && both.work.write &&
		   both.work.huge == REGION_THP &&
		   both.work.pattern == PATTERN_CHASE,
	   "all of the work options");
	both_free(&both);

	parse_line("--format=csv --output=x.csv --seed=18446744073709551615 "
		   "--quick --cpus=0",
		   &both);
	ok(both.common.format == FORMAT_CSV && both.common.quick &&
		   !strcmp(both.common.output, "x.csv") &&
		   both.common.seed == UINT64_MAX &&
		   !strcmp(both.common.cpus, "0"),
	   "all of the common options");
	both_free(&both);

	parse_line("--huge hugetlb -n 3", &both);
	ok(both.work.huge == REGION_HUGETLB && both.work.pages == 3,
	   "--huge hugetlb, as two words");
	both_free(&both);
	parse_line("--huge=thp", &both);
	ok(both.work.huge == REGION_THP, "--huge=thp, as one");
	both_free(&both);
	parse_line("--huge hugetlb --huge thp", &both);
	ok(both.work.huge == REGION_THP, "the last counts");
	both_free(&both);

	parse_line("-t 4 -t 0", &both);
	ok(both.work.rows == 1 && both.work.threads[0] == 0,
	   "the last -t counts; 0 is the caller alone");
	both_free(&both);
}

static void test_decimal(void)
{
	is_double(options_decimal("-x", "2.5", 0, 10), 2.5, 0, "a decimal");
	is_double(options_decimal("-x", "10", 0, 10), 10, 0, "the maximum");
}

static error_t parse_flag(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != 'x')
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

/* A program's own options beside shared ones, each with an input of its own. */
static void test_shared(void)
{
	static const struct argp_option flag[] = {
		{ "flag", 'x', NULL, 0, "", 0 },
		{ 0 },
	};
	static const struct argp argp = { .options = flag,
					  .parser = parse_flag };
	const struct argp *const shared[] = { &options_output_argp,
					      &options_common_argp };
	char name[] = "options", x[] = "-x", format[] = "--format=json";
	char *argv[] = { name, x, format, NULL };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct options_common common;
		bool seen = false;

		options_common_init(&common);
		options_parse_with(&argp, 3, argv, &seen, shared[i], &common);
		ok(seen && common.format == FORMAT_JSON,
		   "own options, and shared ones (%zu)", i);
	}
}

int main(void)
{
	test_refused();
	test_accepted();
	test_decimal();
	test_shared();
	return done();
}
