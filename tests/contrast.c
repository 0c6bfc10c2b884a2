/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read from reports, what is said of two of them, and how often it is
 * said where nothing differs: on simulated runs whose readings know of those in
 * the same time block.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "conditions.h"
#include "contrast.h"
#include "samples.h"
#include "tap.h"

#define BLOCKS 20
#define READINGS 20 /* a block */

/* JSON with ' for ". */
static json_t *parse(const char *text)
{
	char *quoted = strdup(text), *c;
	json_t *json;

	for (c = quoted; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(quoted, 0, NULL);
	free(quoted);
	return json;
}

/* reading --------------------------------------------------------------- */

static void test_read(void)
{
	json_t *report = parse(
		"{'results': [{'threads': 4, 'odd': true, 'even': false,"
		" 'side': 'caller', 'pattern': null, 'unit': 'ns', 'n': 9,"
		" 'median': 5, 'ci95': [4, 6], 'blocks': [5, null, 7]},"
		" {'what': 'call', 'unit': 'ns', 'median': null, 'ci95': null},"
		" {'part': 'refill', 'unit': 'ns', 'n': 5, 'why': null,"
		" 'estimate': 7, 'ci95': [6, 8]}],"
		" 'fit': {'blocks': 28, 'c_i': {'estimate': 40, 'ci95': [39, 41]}},"
		" 'tlb': {'last_level_entries': {'estimate': null, 'ci95': null}},"
		" 'break_even': [{'working_set': 64, 'pattern': 'seq',"
		" 'pages': 20, 'ci95': [19, 22]}]}");
	struct quantities all;
	const struct quantity *one;
	char *why = NULL;

	ok(quantities_read(report, &all, &why) == 0 && all.n == 6,
	   "all that a report has");
	one = quantities_find(&all, "threads 4 odd caller", "ns");
	ok(one && one->value == 5 && one->ci95.hi == 6 && one->blocks == 3 &&
		   isnan(one->block[1]) && one->block[2] == 7,
	   "a result is called by its labels, false and null left out");
	one = quantities_find(&all, "call", "ns");
	ok(one && isnan(one->value) && isnan(one->ci95.lo) && !one->blocks,
	   "what is unknown");
	one = quantities_find(&all, "refill", "ns");
	ok(one && one->value == 7 && one->ci95.lo == 6,
	   "a part of a breakdown, which has no median");
	ok(quantities_find(&all, "fit c_i", "ns/page") &&
		   quantities_find(&all, "tlb last_level_entries", "entries") &&
		   quantities_find(&all, "break_even working_set 64 seq",
				   "pages"),
	   "estimates, with their units");
	ok(!quantities_find(&all, "call", "pages"), "the unit counts");
	quantities_free(&all);
	json_decref(report);
}

static void test_refused(void)
{
	static const char *const bad[][2] = {
		{ "{'results': 1}", "results:" },
		{ "{'results': [1]}", "results[0]:" },
		{ "{'results': [{'unit': 'ns', 'median': 1, 'ci95': null}]}",
		  "labels" },
		{ "{'results': [{'a': 'b', 'unit': 'ns', 'median': '1'}]}",
		  "results[0].median" },
		{ "{'results': [{'a': 'b', 'unit': 'ns', 'median': 1,"
		  " 'ci95': [1]}]}",
		  "results[0].ci95" },
		{ "{'results': [{'a': 'b', 'unit': 'ns', 'median': 1,"
		  " 'ci95': null, 'blocks': ['x']}]}",
		  "results[0].blocks" },
		{ "{'results': [{'a': 'b', 'unit': 'ns', 'median': 1,"
		  " 'ci95': null, 'blocks': [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
		  "1,1,1,1]}]}",
		  "results[0].blocks" },
		{ "{'results': [], 'fit': {'a': {'estimate': 'x'}}}", "fit.a" },
		{ "{'results': [], 'break_even': [{}]}", "break_even[0]" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		json_t *report = parse(bad[i][0]);
		struct quantities all;
		char *why = NULL;

		quantities_read(report, &all, &why);
		ok(why && strstr(why, bad[i][1]), "refused: %s",
		   why ? why : bad[i][0]);
		free(why);
		json_decref(report);
	}
}

/* simulated runs -------------------------------------------------------- */

/* A kind of machine and of run; standard deviations as shares. */
struct kind {
	double reading, block, run;
	double walk; /* of a level that is forgotten within 7 blocks */
	size_t results;
};

/* One run; everything takes `scale` times as long. */
static void simulate(gsl_rng *rng, const struct kind *kind, double scale,
		     struct quantities *out)
{
	size_t k, i, j;

	out->n = kind->results;
	out->of = calloc(out->n, sizeof(*out->of));
	for (k = 0; k < out->n; k++) {
		struct quantity *of = &out->of[k];
		double run = 1 + gsl_ran_gaussian(rng, kind->run), level = 0;
		struct samples samples = { 0 };
		struct summary summary;

		for (i = 0; i < BLOCKS; i++) {
			double block = 1 + gsl_ran_gaussian(rng, kind->block);

			level += gsl_ran_gaussian(rng, kind->walk) - level / 7;
			for (j = 0; j < READINGS; j++)
				samples_add(
					&samples,
					1000 * scale * run * (block + level) *
						(1 +
						 gsl_ran_gaussian(
							 rng, kind->reading)));
			samples_end_block(&samples);
		}
		samples_summarise(&samples, 1, &summary);
		samples_free(&samples);
		if (asprintf(&of->label, "result %zu", k) < 0)
			of->label = NULL;
		of->unit = strdup("ns");
		of->value = summary.median;
		of->ci95 = summary.ci95;
		of->blocks = summary.blocks;
		memcpy(of->block, summary.block, sizeof(of->block));
	}
}

/* What came out of many pairs of sides. */
struct rates {
	double p;     /* p <= 0.05 of a single result */
	double seen;  /* any difference is seen */
	double above; /* any is above 5 % */
};

static struct rates measure_rates(gsl_rng *rng, const struct kind *kind,
				  size_t runs, double scale, int pairs)
{
	struct rates rates = { 0 };
	struct quantities a[8], b[8];
	int pair;
	size_t i;

	for (pair = 0; pair < pairs; pair++) {
		struct contrasts all;
		bool seen = false, above = false;

		for (i = 0; i < runs; i++) {
			simulate(rng, kind, 1, &a[i]);
			simulate(rng, kind, scale, &b[i]);
		}
		contrast(a, runs, b, runs, &all);
		for (i = 0; i < all.n; i++) {
			rates.p += (all.of[i].p <= 0.05) / (double)all.n;
			seen |= all.of[i].verdict != CONTRAST_SAME;
			above |= contrast_above(&all.of[i], 5);
		}
		rates.seen += seen;
		rates.above += above;
		contrasts_free(&all);
		for (i = 0; i < runs; i++) {
			quantities_free(&a[i]);
			quantities_free(&b[i]);
		}
	}
	rates.p /= pairs;
	rates.seen /= pairs;
	rates.above /= pairs;
	return rates;
}

static void test_rates(void)
{
	const struct kind still = { 0.05, 0.03, 0, 0, 1 };
	const struct kind many = { 0.05, 0.03, 0, 0, 10 };
	const struct kind wandering = { 0.05, 0.01, 0, 0.01, 1 };
	const struct kind restless = { 0.05, 0.03, 0.1, 0, 1 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct rates r;

	r = measure_rates(rng, &still, 1, 1, 1000);
	diag("A/A, one run a side: p %.3f, seen %.3f", r.p, r.seen);
	ok(r.p > 0.035 && r.p < 0.065,
	   "A/A: the test rejects 5 %% of the pairs");
	ok(r.seen < 0.05, "... and no more are called different");
	r = measure_rates(rng, &many, 1, 1, 200);
	diag("ten results: p %.3f, seen %.3f", r.p, r.seen);
	ok(r.p > 0.035 && r.p < 0.065 && r.seen < 0.05,
	   "ten results: still not in more than 5 %% of the pairs");
	r = measure_rates(rng, &wandering, 1, 1, 400);
	diag("wandering: p %.3f, seen %.3f", r.p, r.seen);
	ok(r.p > 0.3 && r.seen < 0.12,
	   "a machine that wanders within runs misleads the test alone, and "
	   "rarely the verdict");
	r = measure_rates(rng, &restless, 1, 1, 300);
	diag("restless: p %.3f, seen %.3f", r.p, r.seen);
	ok(r.seen > 0.3, "what differs from run to run is seen with one each");
	r = measure_rates(rng, &restless, 5, 1, 600);
	diag("restless, five runs a side: p %.3f, seen %.3f", r.p, r.seen);
	/* Of the p that 5 and 5 can have, 0.032 is the last up to 0.05. */
	ok(r.p > 0.015 && r.p < 0.055 && r.seen < 0.055,
	   "five runs a side: at most 5 %%, whatever runs differ by");
	r = measure_rates(rng, &still, 1, 1.1, 200);
	diag("10 %% slower: seen %.3f, above 5 %%: %.3f", r.seen, r.above);
	ok(r.seen > 0.9, "10 %% are seen");
	r = measure_rates(rng, &still, 1, 1.15, 200);
	ok(r.above > 0.9, "15 %% are more than 5 %%");
	r = measure_rates(rng, &still, 1, 0.8, 100);
	ok(r.seen > 0.95 && r.above == 0, "what got faster is not above");
	r = measure_rates(rng, &many, 6, 1.2, 10);
	ok(r.seen == 1, "six runs a side suffice for ten results");
	gsl_rng_free(rng);
}

/* cases ----------------------------------------------------------------- */

static struct quantities *read_report(const char *text)
{
	json_t *report = parse(text);
	struct quantities *all = calloc(1, sizeof(*all));
	char *why = NULL;

	if (quantities_read(report, all, &why) < 0)
		diag("%s", why);
	json_decref(report);
	return all;
}

static void test_cases(void)
{
	struct quantities *a = read_report(
		"{'fit': {'c_i': {'estimate': 40, 'ci95': [39, 41]},"
		" 'b': {'estimate': 15, 'ci95': [14, 16]},"
		" 'c_f': {'estimate': -60, 'ci95': [-70, -50]},"
		" 'a': {'estimate': 1, 'ci95': null}},"
		" 'results': ["
		"{'what': 'call', 'unit': 'ns', 'median': 80, 'ci95': null,"
		" 'blocks': [80, 82, 78, 79, 81]},"
		"{'what': 'page', 'unit': 'ns', 'median': 10, 'ci95': null,"
		" 'blocks': [10, 10.25, 9.75, 9.875, 10.125]},"
		"{'what': 'excess', 'unit': 'ns', 'median': 0, 'ci95': null,"
		" 'blocks': [-1, 0, 1, 0.5, -0.5]},"
		"{'what': 'short', 'unit': 'ns', 'median': 1, 'ci95': null,"
		" 'blocks': [1, 2, 3]},"
		"{'what': 'gone', 'unit': 'ns', 'median': 1, 'ci95': null}]}");
	struct quantities *b = read_report(
		"{'fit': {'c_i': {'estimate': 50, 'ci95': [49, 51]},"
		" 'b': {'estimate': 15.5, 'ci95': [14.5, 16.5]},"
		" 'c_f': {'estimate': -20, 'ci95': [-25, -15]},"
		" 'a': {'estimate': 100, 'ci95': null}},"
		" 'results': ["
		"{'what': 'call', 'unit': 'ns', 'median': 160, 'ci95': null,"
		" 'blocks': [160, 164, 156, 158, 162]},"
		"{'what': 'page', 'unit': 'ns', 'median': 20, 'ci95': null,"
		" 'blocks': [20, 20.5, 19.5, 19.75, 20.25]},"
		"{'what': 'excess', 'unit': 'ns', 'median': 20, 'ci95': null,"
		" 'blocks': [19, 20, 21, 20.5, 19.5]},"
		"{'what': 'short', 'unit': 'ns', 'median': 9, 'ci95': null,"
		" 'blocks': [9, 9, 9]},"
		"{'what': 'new', 'unit': 'ns', 'median': 1, 'ci95': null}]}");
	struct contrasts all;
	const struct contrast *of;

	contrast(a, 1, b, 1, &all);
	is_int(all.n, 7, "what both have, but for what says the same again");
	is_int(all.unmatched, 2, "the others are counted");
	of = &all.of[0];
	ok(of->test == CONTRAST_INTERVALS && of->verdict == CONTRAST_HIGHER &&
		   fabs(of->ratio.value - 1.25) < 1e-12,
	   "c_i: higher, by its interval");
	/* log(51/50), log(40/39) joined: 1.25 exp(hypot(..)) */
	is_double(of->ratio.ci95.hi,
		  1.25 * exp(hypot(log(51.0 / 50), log(40.0 / 39))), 1e-12,
		  "... whose ends are joined");
	ok(all.of[1].verdict == CONTRAST_SAME, "b: within the intervals");
	ok(all.of[2].verdict == CONTRAST_HIGHER &&
		   isnan(all.of[2].ratio.value) &&
		   all.of[2].difference.value == 40,
	   "c_f: below 0, so a difference");
	is_double(all.of[2].difference.ci95.lo, 40 - hypot(5, 10), 1e-12,
		  "... with its interval");
	ok(all.of[3].verdict == CONTRAST_TOO_FEW && isnan(all.of[3].p),
	   "an estimate without interval: nothing can be said");
	of = &all.of[4];
	ok(!strcmp(of->label, "call") && of->test == CONTRAST_RANKS &&
		   of->values_a == 5 && fabs(of->ratio.value - 2) < 0.03,
	   "a result: by ranks, twice as long");
	is_double(of->p, 2.0 / 252, 1e-12, "... p");
	/* asked 5 questions: two p are 0, those of 2/252 count for 3 */
	is_double(of->p_holm, 3 * 2.0 / 252, 1e-3, "... and with Holm");
	ok(all.of[5].verdict == CONTRAST_HIGHER &&
		   all.of[5].difference.value == 20 &&
		   !contrast_above(&all.of[5], 0),
	   "values of 0 and less: a difference, and above nothing");
	ok(all.of[6].verdict == CONTRAST_TOO_FEW && all.of[6].values_a == 3,
	   "three blocks are too few");
	contrasts_free(&all);
	quantities_free(a);
	quantities_free(b);
	free(a);
	free(b);
}

/* conditions ------------------------------------------------------------ */

static void test_conditions(void)
{
	json_t *a = parse("{'version': '1', 'partial': false,"
			  " 'options': {'pages': 8, 'seed': 1, 'cpus': null},"
			  " 'environment': {'pti': false, 'thp': 'madvise',"
			  " 'governor': null, 'uptime_s': 5, 'turbo': null,"
			  " 'cpu': {'model': 1, 'microcode': '0x1'},"
			  " 'kernel': {'release': '6.1'},"
			  " 'frequency': {'before_ghz': 4.0},"
			  " 'noise': {'steal_percent': 0.0}}}");
	json_t *b = parse("{'version': '1', 'partial': true,"
			  " 'options': {'pages': 8, 'seed': 2, 'cpus': '1'},"
			  " 'environment': {'pti': true, 'thp': 'madvise',"
			  " 'governor': 'performance', 'uptime_s': 50,"
			  " 'cpu': {'model': 1, 'microcode': '0x2'},"
			  " 'kernel': {'release': '6.2'},"
			  " 'frequency': {'before_ghz': 4.05},"
			  " 'noise': {'steal_percent': 50.0}}}");
	const char *const wanted[] = {
		"options/cpus",
		"environment/pti",
		"environment/governor",
		"environment/cpu/microcode",
		"environment/kernel/release",
		"partial",
		"environment/noise/steal_percent",
	};
	json_t *list = json_array();
	char text[CONDITIONS_TEXT];
	size_t i;

	conditions_differ(a, a, list);
	is_int(json_array_size(list), 0, "nothing differs from itself");
	conditions_differ(a, b, list);
	for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		is_string(json_string_value(json_object_get(
				  json_array_get(list, i), "key")),
			  wanted[i], "%s", wanted[i]);
	is_int(json_array_size(list), i, "and nothing else");
	ok(!conditions_severe(list), "none of it forbids to compare");
	conditions_differ(a, b, list);
	is_int(json_array_size(list), i, "each once");
	json_object_set_new(json_object_get(b, "options"), "pages",
			    json_integer(9));
	conditions_differ(a, b, list);
	ok(conditions_severe(list), "another option does");
	json_array_clear(list);
	json_object_set(b, "options", json_object_get(a, "options"));
	json_object_set_new(json_object_get(json_object_get(b, "environment"),
					    "cpu"),
			    "model", json_integer(2));
	conditions_differ(a, b, list);
	ok(conditions_severe(list), "another model does");
	is_string(conditions_text(json_object_get(a, "options"), text),
		  "{\"pages\":8,\"seed\":1,\"cpus\":null}", "values as text");
	json_decref(list);
	list = json_string(
		"0123456789012345678901234567890123456789\x1b[2J012345");
	is_string(conditions_text(list, text),
		  "0123456789012345678901234567890123456789?[2J...",
		  "... cut short, and harmless");
	json_decref(list);
	json_decref(a);
	json_decref(b);
}

int main(void)
{
	test_read();
	test_refused();
	test_cases();
	test_conditions();
	test_rates();
	return done();
}
