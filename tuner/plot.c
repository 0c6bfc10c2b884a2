/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cost.h"
#include "member.h"
#include "modeldb.h"
#include "output.h"
#include "plot.h"
#include "why.h"

const char *const plot_caption[] = {
	[PLOT_COST] = "What an mprotect costs against the pages it flushes: "
		      "the lines are fitted, the points medians.",
	[PLOT_REFILL] = "What a full flush adds to the next access of a "
			"working set, per page.",
	[PLOT_REGRET] = "Regret against the factor: the largest over sizes, "
			"working sets and patterns, and the mean.",
};

/* Readable on white and on black. */
#define PAGE_COLOUR "#3f7fd0"
#define FULL_COLOUR "#d9772b"
#define THIRD_COLOUR "#4c9f70"

/* scripts --------------------------------------------------------------- */

static double cost(const json_t *report, const char *path)
{
	return member_number(modeldb_at(report, path), "estimate");
}

/* The points that results[] has, as an inline data block. */
static void put_calls(const json_t *report, FILE *to)
{
	const json_t *results = json_object_get(report, "results");
	size_t i;

	fputs("$calls << END\n", to);
	for (i = 0; i < json_array_size(results); i++) {
		const json_t *result = json_array_get(results, i);
		const char *what =
			json_string_value(json_object_get(result, "what"));

		if (what && !strcmp(what, "call"))
			fprintf(to, "%.0f %.9g\n",
				member_number(result, "pages"),
				member_number(result, "median"));
	}
	fputs("END\n", to);
}

/* A vertical line at x, with a label. */
static void put_mark(FILE *to, int tag, double x, const char *label,
		     double height)
{
	if (!isfinite(x) || x < 1 || x > COST_CLAMP)
		return;
	fprintf(to,
		"set arrow %d from %.9g, graph 0 to %.9g, graph 1 nohead dt 3 "
		"lc rgb 'gray'\n"
		"set label %d '%s: %.0f' at %.9g, graph %.2f right rotate by "
		"90 offset -0.6,0\n",
		tag, x, x, tag, label, x, x, height);
}

/* The break-even of a chase over 256 pages. */
static double break_even(const json_t *report)
{
	const json_t *list = json_object_get(report, "break_even");
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		const char *pattern =
			json_string_value(json_object_get(entry, "pattern"));

		if (pattern && !strcmp(pattern, "chase") &&
		    member_number(entry, "working_set") == MODELDB_WORKING_SET)
			return member_number(entry, "pages");
	}
	return NAN;
}

static int script_cost(const json_t *report, FILE *to)
{
	double a = cost(report, "fit.a"), b = cost(report, "fit.b");
	double c_i = cost(report, "fit.c_i"), c_f = cost(report, "fit.c_f");

	if (!isfinite(a) || !isfinite(b) || !isfinite(c_i) || !isfinite(c_f))
		return -1;
	put_calls(report, to);
	put_mark(to, 1, cost(report, "fit.ceiling"), "ceiling", 0.97);
	put_mark(to, 2, break_even(report), "break-even (W = 256)", 0.97);
	fprintf(to,
		"set logscale xy\nset xrange [1:512]\n"
		"set xlabel 'pages flushed'\nset ylabel 'ns'\n"
		"plot %.9g + x * (%.9g) with lines lw 2 lc rgb '" PAGE_COLOUR
		"' title 'page by page', %.9g + x * (%.9g) with lines lw 2 lc "
		"rgb '" FULL_COLOUR "' title 'full', $calls using 1:2 with "
		"points pt 7 ps 0.5 lc rgb '" THIRD_COLOUR
		"' title 'measured'\n",
		a, b + c_i, a + c_f, b);
	return 0;
}

static int script_refill(const json_t *report, FILE *to)
{
	static const char *const patterns[] = { "chase", "random", "seq" };
	static const char *const colours[] = { PAGE_COLOUR, FULL_COLOUR,
					       THIRD_COLOUR };
	const json_t *list = json_object_get(report, "break_even");
	size_t i, k, points = 0;

	for (k = 0; k < 3; k++) {
		fprintf(to, "$%s << END\n", patterns[k]);
		for (i = 0; i < json_array_size(list); i++) {
			const json_t *entry = json_array_get(list, i);
			const char *pattern = json_string_value(
				json_object_get(entry, "pattern"));
			double refill = cost(entry, "refill_ns_per_page");

			if (!pattern || strcmp(pattern, patterns[k]) ||
			    !isfinite(refill))
				continue;
			fprintf(to, "%.0f %.9g\n",
				member_number(entry, "working_set"), refill);
			points++;
		}
		fputs("END\n", to);
	}
	fputs("set logscale x 2\nset xlabel 'pages of the working set'\n"
	      "set ylabel 'ns per page'\nset yrange [0:*]\nplot ",
	      to);
	for (k = 0; k < 3; k++)
		fprintf(to,
			"%s$%s using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc "
			"rgb '%s' title '%s'",
			k ? ", " : "", patterns[k], colours[k], patterns[k]);
	fputc('\n', to);
	return points ? 0 : -1;
}

static int script_regret(const json_t *report, FILE *to)
{
	const json_t *list = modeldb_at(report, "choice.regret_by_factor");
	double chosen =
		member_number(json_object_get(report, "choice"), "factor");
	size_t i;

	if (json_array_size(list) == 0)
		return -1;
	fputs("$regret << END\n", to);
	for (i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);

		fprintf(to, "%.0f %.9g %.9g\n", member_number(entry, "factor"),
			100 * member_number(entry, "worst"),
			100 * member_number(entry, "mean"));
	}
	fprintf(to,
		"END\nset arrow 1 from %.0f, graph 0 to %.0f, graph 1 nohead "
		"dt 3 lc rgb 'gray'\n"
		"set label 1 'the choice' at %.0f, graph 0.97 right rotate by "
		"90 offset -0.6,0\n"
		"set xtics -1,1\nset xlabel 'factor'\nset ylabel 'regret, %%'\n"
		"set yrange [0:*]\n"
		"plot $regret using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc "
		"rgb '" PAGE_COLOUR "' title 'worst case', $regret using 1:3 "
		"with linespoints lw 2 pt 7 ps 0.6 lc rgb '" FULL_COLOUR
		"' title 'mean'\n",
		chosen, chosen, chosen);
	return 0;
}

static int script(const json_t *report, enum plot_kind kind, FILE *to)
{
	static int (*const scripts[])(const json_t *report, FILE *to) = {
		[PLOT_COST] = script_cost,
		[PLOT_REFILL] = script_refill,
		[PLOT_REGRET] = script_regret,
	};

	fprintf(to,
		"set term svg size 560,400 dynamic name 'plot%d' font "
		"'sans-serif,15'\nset border 3\nset tics nomirror\nset key "
		"above horizontal\n",
		kind);
	return scripts[kind](report, to);
}

/* gnuplot --------------------------------------------------------------- */

/* Run gnuplot on the file from, its output into the file to. 0 or -1. */
static int run(FILE *from, FILE *to, char **why)
{
	char *const argv[] = { (char *)"gnuplot", (char *)"-", NULL };
	posix_spawn_file_actions_t actions;
	int status, error;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(from), STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fileno(to), STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error == ENOENT)
		return why_set(why, error,
			       "no pictures without gnuplot (Debian: "
			       "gnuplot-nox)");
	if (error)
		return why_set(why, error, "cannot run gnuplot: %s",
			       strerror(error));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return why_set(why, 0, "gnuplot is lost");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return why_set(why, EIO, "gnuplot failed");
	return 0;
}

/* All of a file; NULL on failure. */
static char *read_all(FILE *file)
{
	char *text;
	long size;

	if (fseek(file, 0, SEEK_END) < 0 || (size = ftell(file)) < 0)
		return NULL;
	rewind(file);
	text = calloc((size_t)size + 1, 1);
	if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
		free(text);
		text = NULL;
	}
	return text;
}

/*
 * From <svg on, with every black turned into the colour of the text around; no
 * document type, so that it can be part of a page.
 */
static char *adapt(const char *svg)
{
	const char *from = strstr(svg, "<svg"), *black;
	char *text = NULL;
	size_t size;
	FILE *to = from ? open_memstream(&text, &size) : NULL;

	if (!to)
		return NULL;
	while ((black = strstr(from, "black"))) {
		fwrite(from, 1, (size_t)(black - from), to);
		fputs("currentColor", to);
		from = black + strlen("black");
	}
	fputs(from, to);
	if (fclose(to)) {
		free(text);
		text = NULL;
	}
	return text;
}

char *plot_svg(const json_t *report, enum plot_kind kind, char **why)
{
	FILE *from = tmpfile(), *to = tmpfile();
	char *raw = NULL, *svg = NULL;

	*why = NULL;
	if (!from || !to) {
		why_set(why, 0, "no temporary file: %s", strerror(errno));
	} else if (script(report, kind, from) < 0) {
		why_set(why, EINVAL, "there is nothing to be drawn");
	} else {
		rewind(from);
		if (run(from, to, why) == 0) {
			raw = read_all(to);
			svg = raw ? adapt(raw) : NULL;
			if (!svg)
				why_set(why, EIO, "gnuplot drew nothing");
		}
	}
	if (from)
		fclose(from);
	if (to)
		fclose(to);
	free(raw);
	return svg;
}

int plot_write(const json_t *report, enum plot_kind kind, const char *path,
	       char **why)
{
	char *svg = plot_svg(report, kind, why);
	const char *end = svg ? strchr(svg, '>') : NULL;
	struct output output;
	int status;

	if (!end) {
		free(svg);
		return -1;
	}
	if (output_open(&output, path) < 0) {
		free(svg);
		return -1;
	}
	fprintf(output.to,
		"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
		"%.*s\n<style>svg { color: #222; background: #fff } @media "
		"(prefers-color-scheme: dark) { svg { color: #ddd; background: "
		"#1a1a1a } }</style>%s",
		(int)(end - svg + 1), svg, end + 1);
	status = output_commit(&output);
	free(svg);
	return status;
}
