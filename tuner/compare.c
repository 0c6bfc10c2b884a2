/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare: what differs between the results of one program in two runs, or in
 * two sets of runs, and is more than chance.
 *
 * Nothing is measured. What the runs did not have in common beside their
 * results is said first, or is the reason to refuse.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "conditions.h"
#include "contrast.h"
#include "options.h"
#include "output.h"
#include "ranktest.h"
#include "report.h"
#include "saved.h"
#include "why.h"

#define PERCENT_MAX 1e6

/* The runs of one side. */
struct side {
	size_t n;
	char *list;  /* what file[] points into */
	char **file; /* [n] names */
	json_t **report;
	struct quantities *quantities;
};

struct settings {
	struct options_common common;
	const char *side[2]; /* as they were given */
	size_t sides;
	double fail_above; /* percent; NAN: whatever comes out is no failure */
	bool force;
};

/* options --------------------------------------------------------------- */

enum { KEY_FAIL_ABOVE = 0x200, KEY_FORCE };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case KEY_FAIL_ABOVE:
		settings->fail_above =
			options_decimal("--fail-above", arg, 0, PERCENT_MAX);
		return 0;
	case KEY_FORCE:
		settings->force = true;
		return 0;
	case ARGP_KEY_ARG:
		if (settings->sides == 2)
			options_refuse("expected two arguments, A and B, got "
				       "'%s' as well",
				       arg);
		settings->side[settings->sides++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (settings->sides < 2)
			options_refuse("expected two arguments: the JSON "
				       "reports of A and B");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option compare_options[] = {
	{ "fail-above", KEY_FAIL_ABOVE, "PERCENT", 0,
	  "exit with status 1 if B takes more than PERCENT longer than A "
	  "anywhere, the whole interval of the ratio being above that",
	  1 },
	{ "force", KEY_FORCE, NULL, 0,
	  "compare even what was measured on different machines or with "
	  "different options",
	  1 },
	{ 0 },
};

static void parse_options(int argc, char **argv, struct settings *settings)
{
	static const struct argp argp = {
		.options = compare_options,
		.parser = parse,
		.args_doc = "A.json[,A.json...] B.json[,B.json...]",
		.doc = "Compare two runs of one program, saved with --format "
		       "json: for each result the ratio of B to A with its 95 "
		       "% interval, and whether a difference is seen.\v"
		       "With several runs a side, four at least, what is "
		       "compared are runs, not the time blocks of one: only "
		       "that tells a difference from what differs from run to "
		       "run anyway. Exit status: 0 done, 1 failed, or above "
		       "the limit of --fail-above, 2 bad usage or input, or "
		       "runs that cannot be compared.",
	};

	*settings = (struct settings){ .fail_above = NAN };
	options_common_init(&settings->common);
	options_parse_with(&argp, argc, argv, settings, &options_output_argp,
			   &settings->common);
}

/* reading --------------------------------------------------------------- */

/* Split a list of files, unless there is a file of that name. */
static void split(const char *argument, struct side *side)
{
	char *rest, *name;
	size_t room = 1;

	side->list = strdup(argument);
	side->file = calloc(strlen(argument) + 1, sizeof(*side->file));
	if (!side->list || !side->file)
		error(STATUS_FAILED, ENOMEM, "reports");
	if (access(argument, F_OK) == 0) {
		side->file[side->n++] = side->list;
	} else {
		rest = side->list;
		while ((name = strsep(&rest, ",")))
			side->file[side->n++] = name;
	}
	room += side->n;
	side->report = calloc(room, sizeof(*side->report));
	side->quantities = calloc(room, sizeof(*side->quantities));
	if (!side->report || !side->quantities)
		error(STATUS_FAILED, ENOMEM, "reports");
}

/* End on a report that is not one of a program that measures. */
static void check(const char *file, const json_t *report)
{
	const json_t *schema = json_object_get(report, "schema");

	if (!json_is_integer(schema) ||
	    !json_is_string(json_object_get(report, "program")) ||
	    !json_is_array(json_object_get(report, "results")))
		options_refuse("%s: expected a JSON report with results", file);
	if (json_integer_value(schema) != REPORT_SCHEMA)
		options_refuse("%s: expected schema %d, got "
			       "%" JSON_INTEGER_FORMAT,
			       file, REPORT_SCHEMA, json_integer_value(schema));
	if (!json_is_object(json_object_get(report, "environment")) ||
	    !json_is_object(json_object_get(report, "options")))
		options_refuse("%s: options and environment: expected objects",
			       file);
}

static void load(struct side *side)
{
	size_t i;

	for (i = 0; i < side->n; i++) {
		const char *file = side->file[i];
		char *why = NULL;

		side->report[i] = saved_read(file, "a JSON report", &why);
		if (!side->report[i])
			options_refuse("%s", why_text(why));
		check(file, side->report[i]);
		if (quantities_read(side->report[i], &side->quantities[i],
				    &why) < 0)
			options_refuse("%s: %s", file, why_text(why));
	}
}

static const char *program_of(const json_t *report)
{
	return json_string_value(json_object_get(report, "program"));
}

/* Compare all runs of a side with the first of A. */
static void differ(const struct side *first, const struct side *side,
		   json_t *list)
{
	size_t i;

	for (i = 0; i < side->n; i++) {
		const char *program = program_of(side->report[i]);

		if (strcmp(program, program_of(first->report[0])))
			options_refuse("%s is of %s, %s of %s: expected one "
				       "program",
				       first->file[0],
				       program_of(first->report[0]),
				       side->file[i], program);
		if (conditions_differ(first->report[0], side->report[i], list) <
		    0)
			error(STATUS_FAILED, ENOMEM, "differences");
	}
}

/* End where the runs cannot be compared. */
static void refuse_severe(const json_t *list)
{
	char a[CONDITIONS_TEXT], b[CONDITIONS_TEXT];
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		if (json_is_true(json_object_get(one, "severe")))
			options_refuse(
				"%s is %s in A and %s in B: not comparable "
				"(--force compares nevertheless)",
				json_string_value(json_object_get(one, "key")),
				conditions_text(json_object_get(one, "a"), a),
				conditions_text(json_object_get(one, "b"), b));
}

/* End where no test could see anything. */
static void refuse_too_few(const struct side *a, const struct side *b,
			   const struct contrasts *contrasts)
{
	size_t i;

	for (i = 0; i < contrasts->n; i++)
		if (contrasts->of[i].verdict != CONTRAST_TOO_FEW)
			return;
	if (contrasts->n == 0)
		options_refuse("%s and %s have no result in common", a->file[0],
			       b->file[0]);
	options_refuse("%s and %s: too few samples: expected at least %d %s of "
		       "a result",
		       a->file[0], b->file[0], RANKTEST_MIN,
		       a->n > 1 || b->n > 1 ? "runs" : "time blocks");
}

/* reporting ------------------------------------------------------------- */

static json_t *files_json(const struct side *side)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < side->n; i++)
		json_array_append_new(list, json_string(side->file[i]));
	return list;
}

static json_t *contrast_json(const struct contrast *of, double percent)
{
	json_t *ratio = report_estimate(&of->ratio);
	json_t *difference = report_estimate(&of->difference);
	json_t *json = json_pack(
		"{s:s, s:s, s:I, s:I, s:o, s:o, s:O, s:O, s:O, s:O, s:s, s:o, "
		"s:o, s:s, s:b}",
		"label", of->label, "unit", of->unit, "values_a",
		(json_int_t)of->values_a, "values_b", (json_int_t)of->values_b,
		"a", report_number(of->a), "b", report_number(of->b), "ratio",
		json_object_get(ratio, "estimate"), "ratio_ci95",
		json_object_get(ratio, "ci95"), "difference",
		json_object_get(difference, "estimate"), "difference_ci95",
		json_object_get(difference, "ci95"), "test",
		contrast_test_name[of->test], "p", report_number(of->p),
		"p_holm", report_number(of->p_holm), "verdict",
		contrast_verdict_name[of->verdict], "above",
		contrast_above(of, percent));

	json_decref(ratio);
	json_decref(difference);
	return json;
}

static json_t *report_json(const struct settings *settings,
			   const struct side *a, const struct side *b,
			   json_t *conditions,
			   const struct contrasts *contrasts)
{
	json_t *results = json_array();
	size_t i;

	for (i = 0; i < contrasts->n; i++)
		json_array_append_new(results,
				      contrast_json(&contrasts->of[i],
						    settings->fail_above));
	return json_pack("{s:i, s:s, s:s, s:o, s:s, s:o, s:o, s:s, s:o, s:o, "
			 "s:I, s:o}",
			 "schema", REPORT_SCHEMA, "program", "compare",
			 "version", PACKAGE_VERSION, "date", report_date(),
			 "compared", program_of(a->report[0]), "a",
			 files_json(a), "b", files_json(b), "values",
			 a->n > 1 || b->n > 1 ? "runs" : "time blocks",
			 "fail_above", report_number(settings->fail_above),
			 "conditions", conditions, "unmatched",
			 (json_int_t)contrasts->unmatched, "results", results);
}

/* Say what is above the limit; the exit status. */
static int judge(const struct settings *settings,
		 const struct contrasts *contrasts)
{
	const struct contrast *worst = NULL;
	size_t above = 0, i;

	for (i = 0; i < contrasts->n; i++) {
		const struct contrast *of = &contrasts->of[i];

		if (!contrast_above(of, settings->fail_above))
			continue;
		above++;
		if (!worst || of->ratio.ci95.lo > worst->ratio.ci95.lo)
			worst = of;
	}
	if (!above)
		return STATUS_OK;
	error(0, 0,
	      "%zu of %zu results are more than %g %% above A, the worst '%s'",
	      above, contrasts->n, settings->fail_above, worst->label);
	return STATUS_FAILED;
}

static void close_side(struct side *side)
{
	size_t i;

	for (i = 0; i < side->n; i++) {
		quantities_free(&side->quantities[i]);
		json_decref(side->report[i]);
	}
	free(side->quantities);
	free(side->report);
	free(side->file);
	free(side->list);
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct side a = { 0 }, b = { 0 };
	struct contrasts contrasts;
	json_t *conditions = json_array(), *report;
	int status;

	parse_options(argc, argv, &settings);
	if (output_check(settings.common.output) < 0)
		exit(STATUS_USAGE);
	split(settings.side[0], &a);
	split(settings.side[1], &b);
	if ((a.n > 1 || b.n > 1) && (a.n < RANKTEST_MIN || b.n < RANKTEST_MIN))
		options_refuse("expected one run on each side or at least %d, "
			       "got %zu and %zu",
			       RANKTEST_MIN, a.n, b.n);
	load(&a);
	load(&b);
	differ(&a, &a, conditions);
	differ(&a, &b, conditions);
	if (!settings.force)
		refuse_severe(conditions);
	if (contrast(a.quantities, a.n, b.quantities, b.n, &contrasts) < 0)
		error(STATUS_FAILED, ENOMEM, "comparison");
	refuse_too_few(&a, &b, &contrasts);
	status = judge(&settings, &contrasts);
	report = report_json(&settings, &a, &b, conditions, &contrasts);
	if (!report)
		error(STATUS_FAILED, ENOMEM, "report");
	if (report_write(report, &settings.common, compare_text) < 0)
		status = STATUS_FAILED;
	json_decref(report);
	contrasts_free(&contrasts);
	close_side(&a);
	close_side(&b);
	return status;
}
