/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>

#include "environment.h"
#include "explain.h"
#include "latency.h"
#include "membind.h"

static const char *member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "n/a";
}

/* A result is of that curve, and of what. */
static bool is_of(const json_t *result, const json_t *curve, const char *what)
{
	return !strcmp(member(result, "what"), what) &&
	       !strcmp(member(result, "memory"), member(curve, "memory")) &&
	       !strcmp(member(result, "pattern"), member(curve, "pattern"));
}

static bool is_chase(const json_t *curve)
{
	return !strcmp(member(curve, "pattern"), "chase");
}

/* Print the median of what at that many pages, in 9 columns. */
static void print_cell(const json_t *report, const json_t *curve,
		       const char *what, json_int_t pages, FILE *to)
{
	json_t *result;
	size_t i;

	json_array_foreach(json_object_get(report, "results"), i, result) {
		json_t *median = json_object_get(result, "median");

		if (json_integer_value(json_object_get(result, "pages")) !=
			    pages ||
		    !is_of(result, curve, what) || !json_is_number(median))
			continue;
		fprintf(to, "%9.2f", json_number_value(median));
		return;
	}
	fprintf(to, "%9s", "");
}

static void print_row(const json_t *report, json_int_t pages, FILE *to)
{
	json_t *curve;
	size_t i;

	fprintf(to, "%7" JSON_INTEGER_FORMAT, pages);
	json_array_foreach(json_object_get(report, "curves"), i, curve) {
		print_cell(report, curve, "access", pages, to);
		if (is_chase(curve))
			print_cell(report, curve, "excess", pages, to);
	}
	fputc('\n', to);
}

static void print_header(const json_t *curves, FILE *to)
{
	json_t *curve;
	size_t i;

	fprintf(to, "%7s", "");
	json_array_foreach(curves, i, curve)
		fprintf(to, "%*s", is_chase(curve) ? 18 : 9,
			member(curve, "memory"));
	fprintf(to, "\n%7s", "pages");
	json_array_foreach(curves, i, curve) {
		fprintf(to, "%9s", member(curve, "pattern"));
		if (is_chase(curve))
			fprintf(to, "%9s", "excess");
	}
	fputc('\n', to);
}

/* Two rows an octave, of the sets of the first curve. */
static void print_table(const json_t *report, FILE *to)
{
	const json_t *curves = json_object_get(report, "curves");
	const json_t *first = json_array_get(curves, 0);
	json_t *result;
	double last = -1;
	size_t i;

	fputs("\nLatency of an access (ns, medians), one cache line a page; "
	      "excess: more than in a\nchase over as many lines without "
	      "gaps, which the TLB has no part in\n\n",
	      to);
	print_header(curves, to);
	json_array_foreach(json_object_get(report, "results"), i, result) {
		json_int_t pages =
			json_integer_value(json_object_get(result, "pages"));
		double half_octave = floor(2 * log2((double)pages));

		if (!is_of(result, first, "access") || half_octave <= last)
			continue;
		last = half_octave;
		print_row(report, pages, to);
	}
	fputc('\n', to);
}

static void print_count(const json_t *count, FILE *to)
{
	if (json_is_integer(count))
		fprintf(to, "%" JSON_INTEGER_FORMAT, json_integer_value(count));
	else
		fputs("n/a", to);
}

static void print_levels(const json_t *cpuid, const char *key,
			 const char *pages, FILE *to)
{
	const json_t *levels = json_object_get(cpuid, key);

	fprintf(to, "  %s pages: L1 dTLB ", pages);
	print_count(json_object_get(levels, "l1_entries"), to);
	fputs(" entries, last level ", to);
	print_count(json_object_get(levels, "last_level_entries"), to);
	fputc('\n', to);
}

static void print_cpuid(const json_t *report, FILE *to)
{
	const json_t *cpuid = json_object_get(report, "cpuid");
	json_t *sentence;
	size_t i;

	fputs("TLB, as CPUID has it\n", to);
	print_levels(cpuid, "pages_4k", "4 KiB", to);
	print_levels(cpuid, "pages_2m", "2 MiB", to);
	fprintf(to, "  E is %s: %s\n", member(cpuid, "confidence"),
		member(cpuid, "why"));
	if (json_is_string(json_object_get(cpuid, "odd")))
		fprintf(to, "  odd: %s\n", member(cpuid, "odd"));
	json_array_foreach(json_object_get(report, "contradictions"), i,
			   sentence)
		fprintf(to, "  CONTRADICTION: %s\n",
			json_string_value(sentence));
	fputc('\n', to);
}

static void print_splintered(const json_t *report, FILE *to)
{
	const json_t *splintered = json_object_get(report, "splintered");
	const char *verdict = member(splintered, "verdict");
	double share = json_number_value(json_object_get(
		json_object_get(splintered, "share"), "estimate"));

	fprintf(to, "2 MiB pages splintered by a hypervisor: %s", verdict);
	if (!strcmp(verdict, "unknown")) {
		fprintf(to, " (%s)\n", member(splintered, "why"));
		return;
	}
	fprintf(to,
		"\n  pieces of 4 KiB of them miss %.0f %% of what as many pages "
		"of their own do\n",
		100 * fmax(share, 0));
	if (strcmp(verdict, "no"))
		fputs("  So an entry holds 4 KiB of a large page, not all of "
		      "it, and what is measured\n  with one access a large "
		      "page is no number of entries.\n",
		      to);
}

static void print_failures(const json_t *report, FILE *to)
{
	json_t *curve;
	size_t i;

	json_array_foreach(json_object_get(report, "curves"), i, curve)
		if (json_is_string(json_object_get(curve, "why")))
			fprintf(to, "%s, %s: not measured: %s\n",
				member(curve, "memory"),
				member(curve, "pattern"), member(curve, "why"));
}

void latency_text(const json_t *report, FILE *to)
{
	static const struct {
		const char *key, *heading;
	} tlbs[] = {
		{ "tlb", "TLB, measured, 4 KiB pages" },
		{ "tlb_2m", "TLB, measured, 2 MiB pages" },
	};
	const char *splintered =
		member(json_object_get(report, "splintered"), "verdict");
	size_t i;

	environment_print(json_object_get(report, "environment"), to);
	membind_text(json_object_get(report, "memory"), to);
	print_table(report, to);
	for (i = 0; i < sizeof(tlbs) / sizeof(*tlbs); i++) {
		const json_t *tlb = json_object_get(report, tlbs[i].key);

		/* Splintered, what is found is no number of entries. */
		if (i == 1 && strcmp(splintered, "no"))
			continue;
		if (json_is_object(tlb))
			explain_tlb_text(tlb, tlbs[i].heading, to);
	}
	print_cpuid(report, to);
	print_splintered(report, to);
	print_failures(report, to);
	if (json_is_true(json_object_get(report, "partial")))
		fputs("PARTIAL: interrupted, this is what was measured until "
		      "then.\n",
		      to);
}
