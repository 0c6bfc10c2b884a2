/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>

#include "apply.h"
#include "environment.h"
#include "explain.h"
#include "hybrid.h"
#include "member.h"
#include "repeat.h"
#include "workload.h"

/* "   39.8  [39.1, 40.4]" of an {estimate, ci95}. */
static void print_estimate(FILE *to, const json_t *estimate, int digits)
{
	member_print(to, 9, digits, member_number(estimate, "estimate"));
	if (isfinite(member_end(estimate, 0)))
		fprintf(to, "  [%.*f, %.*f]", digits, member_end(estimate, 0),
			digits, member_end(estimate, 1));
}

static void print_cost(FILE *to, const json_t *fit, const char *name,
		       const char *unit, const char *meaning)
{
	fprintf(to, "  %-4s", name);
	print_estimate(to, json_object_get(fit, name), 1);
	fprintf(to, " %s: %s\n", unit, meaning);
}

static void print_costs(const json_t *report, FILE *to)
{
	const json_t *fit = json_object_get(report, "fit");
	const json_t *regimes = json_object_get(fit, "c_i_regimes");
	double drift = member_number(fit, "c_i_drift");

	if (!json_object_get(fit, "c_i"))
		return;
	fprintf(to,
		"Costs of an mprotect of n pages: T = a + n*b + (n*c_i page "
		"by page, or c_f full)\n(%.0f time blocks; 95 %% intervals for "
		"this run%s)\n",
		member_number(fit, "blocks"),
		member_number(fit, "blocks") < REPEAT_INDEPENDENT ?
			" only, too short to "
			"tell of others" :
			" and another");
	print_cost(to, fit, "a", "ns", "fixed cost of the call");
	print_cost(to, fit, "b", "ns/page", "what both ways pay for a page");
	print_cost(to, fit, "c_i", "ns/page", "one single-page flush (INVLPG)");
	print_cost(to, fit, "c_f", "ns", "the full flush");
	if (member_end(json_object_get(fit, "c_f"), 1) < 0)
		fputs("  c_f below 0: going page by page costs this much more "
		      "before its first page\n",
		      to);
	if (json_is_object(regimes))
		fprintf(to,
			"  two regimes: c_i was %.1f ns for %.0f %% of the "
			"time and %.1f ns for the rest\n",
			member_number(regimes, "low"),
			100 * (1 - member_number(regimes, "high_share")),
			member_number(regimes, "high"));
	if (fabs(drift) > 0.03)
		fprintf(to, "  drift: c_i changed by %+.0f %% over the run\n",
			100 * drift);
	if (json_is_true(json_object_get(fit, "page_flush_empties_tlb")))
		fputs("  A single-page flush costs the working set its whole "
		      "TLB here, as a full flush\n  does (typical of guests "
		      "whose 2 MiB pages the hypervisor maps in 4 KiB ones).\n"
		      "  So INVLPG saves no refill, and only c_f / c_i "
		      "counts.\n",
		      to);
	fputc('\n', to);
}

void explain_tlb_text(const json_t *tlb, const char *heading, FILE *to)
{
	fprintf(to, "%s\n  L1 dTLB     ", heading);
	print_estimate(to, json_object_get(tlb, "l1_entries"), 0);
	fputs(" entries\n    half miss ", to);
	print_estimate(to, json_object_get(tlb, "l1_knee_pages"), 0);
	fputs(" pages\n  last level  ", to);
	print_estimate(to, json_object_get(tlb, "last_level_entries"), 0);
	fputs(" entries (E)\n    half miss ", to);
	print_estimate(to, json_object_get(tlb, "last_level_knee_pages"), 0);
	fputs(" pages\n  L1 hit      ", to);
	print_estimate(to, json_object_get(tlb, "hit_l1_ns"), 1);
	fputs(" ns, the load included\n  L1 miss     ", to);
	print_estimate(to, json_object_get(tlb, "hit_last_ns"), 1);
	fputs(" ns more than a hit\n  page walk   ", to);
	print_estimate(to, json_object_get(tlb, "walk_ns"), 1);
	fputs(" ns more than a hit\n\n", to);
}

/* E as CPUID has it; a contradiction is named. */
static void print_cpuid(const json_t *report, FILE *to)
{
	const json_t *cpuid = json_object_get(report, "cpuid");
	const json_t *measured = json_object_get(json_object_get(report, "tlb"),
						 "last_level_entries");
	const char *why = json_string_value(json_object_get(cpuid, "why"));
	double entries = member_number(cpuid, "last_level_entries");

	if (!cpuid)
		return; /* saved by something that did not look */
	fputs("TLB, as CPUID has it\n  last level  ", to);
	member_print(to, 9, 0, entries);
	fprintf(to, " entries: %s%s%s\n",
		json_string_value(json_object_get(cpuid, "confidence")),
		why ? ", " : "", why ? why : "");
	if (entries < member_end(measured, 0) ||
	    entries > member_end(measured, 1))
		fputs("  contradiction: this lies outside what was measured, "
		      "which is used\n",
		      to);
	fputc('\n', to);
}

static void print_ceiling(const json_t *report, FILE *to)
{
	const json_t *ceiling =
		json_object_get(json_object_get(report, "fit"), "ceiling");
	double in_force =
		member_number(json_object_get(report, "record"), "in_force");
	double pages = member_number(ceiling, "estimate");
	double height = member_number(ceiling, "height_ns");

	if (!isfinite(pages)) {
		fprintf(to, "Ceiling in force: unknown (step: %s)\n\n",
			json_string_value(json_object_get(ceiling, "step")));
		return;
	}
	if (isfinite(in_force))
		fprintf(to,
			"Ceiling in force: %.0f pages; set to another one to "
			"measure both of its sides\n",
			in_force);
	fprintf(to, "Ceiling %s: %.0f pages ",
		isfinite(in_force) ? "while measuring" : "in force", pages);
	if (isfinite(height))
		fprintf(to,
			"(with one page more the call takes %.0f ns %s)\n\n",
			fabs(height), height < 0 ? "more" : "less");
	else
		fputs("(as the knob says; the timings without it show no "
		      "step there)\n\n",
		      to);
}

/* What of the kernel could be set, or why nothing can. */
void explain_knob_text(const json_t *report, FILE *to)
{
	const json_t *knob = json_object_get(report, "knob");
	const char *kind = json_string_value(json_object_get(knob, "kind"));
	const char *why = json_string_value(json_object_get(knob, "why"));
	const char *lift = json_string_value(json_object_get(knob, "lift"));

	if (!knob)
		return; /* saved by something that did not look */
	fprintf(to, "Knob: %s", kind ? kind : "none can be moved here");
	if (isfinite(member_number(knob, "factor"))) {
		fprintf(to, " = %.0f, E = ", member_number(knob, "factor"));
		member_print(to, 0, 0, member_number(knob, "entries"));
	}
	if (isfinite(member_number(knob, "pages")))
		fprintf(to, ", %.0f pages", member_number(knob, "pages"));
	fputc('\n', to);
	if (why)
		fprintf(to, "  %s: %s\n", kind ? "read only" : "because", why);
	if (lift)
		fprintf(to, "  what would lift that: %s\n", lift);
	fputc('\n', to);
}

/* break-even ------------------------------------------------------------ */

/* The entry of a working set and pattern. */
static const json_t *find(const json_t *list, double w, const char *pattern)
{
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		const char *name =
			json_string_value(json_object_get(entry, "pattern"));

		if (member_number(entry, "working_set") == w && name &&
		    !strcmp(name, pattern))
			return entry;
	}
	return NULL;
}

/* "71 (67-75)*", "<1", "n/a" in 20 columns. */
#define CELL 18 /* columns, a blank in front included */

/* "7.3", "71", "1e+09": pages in a few characters, however many. */
static const char *write_pages(double pages, char text[16])
{
	if (pages < 1e6)
		snprintf(text, 16, "%.*f", pages < 10, pages);
	else
		snprintf(text, 16, "%.0e", pages);
	return text;
}

static void print_pages(FILE *to, const json_t *entry)
{
	const char *mark =
		json_is_true(json_object_get(entry, "extrapolated")) ? "*" : "";
	char at[16], from[16], up_to[16];
	double pages = member_number(entry, "pages");
	double lo = member_end(entry, 0), hi = member_end(entry, 1);
	char text[64];

	if (!isfinite(pages) || !isfinite(lo))
		snprintf(text, sizeof(text), "n/a");
	else if (hi < 1)
		snprintf(text, sizeof(text), "<1");
	else if (pages < 1)
		snprintf(text, sizeof(text), "<1 (<1-%s)",
			 write_pages(hi, up_to));
	else
		snprintf(text, sizeof(text), "%s (%s-%s)%s",
			 write_pages(pages, at), write_pages(fmax(lo, 0), from),
			 write_pages(hi, up_to), mark);
	/* The interval goes before a column does. */
	if (strlen(text) >= CELL)
		snprintf(text, sizeof(text), "%s%s", write_pages(pages, at),
			 mark);
	fprintf(to, "%*s", CELL, text);
}

static void print_break_even(const json_t *report, FILE *to)
{
	const json_t *list = json_object_get(report, "break_even");
	const char *const order[] = { "seq", "random", "chase" };
	json_t *entry;
	bool extrapolated = false;
	size_t i, k;

	if (json_array_size(list) == 0)
		return;
	fputs("Break-even: flush more pages than this, and a full flush is "
	      "cheaper\n"
	      "  W reused               seq            random"
	      "             chase   refill\n",
	      to);
	json_array_foreach(list, i, entry) {
		double w = member_number(entry, "working_set");

		if (strcmp(json_string_value(json_object_get(entry, "pattern")),
			   order[0]))
			continue;
		fprintf(to, "  %8.0f", w);
		for (k = 0; k < 3; k++)
			print_pages(to, find(list, w, order[k]));
		member_print(
			to, 9, 1,
			member_number(json_object_get(find(list, w, order[2]),
						      "refill_ns_per_page"),
				      "estimate"));
		fputc('\n', to);
	}
	json_array_foreach(list, i, entry)
		extrapolated |=
			json_is_true(json_object_get(entry, "extrapolated"));
	fputs("  refill: ns per chased page that a full flush adds to the "
	      "re-access\n",
	      to);
	if (extrapolated)
		fputs("  *: beyond the ceiling in force, so extrapolated\n",
		      to);
	fputc('\n', to);
}

static void print_verify(const json_t *report, FILE *to)
{
	const json_t *list = json_object_get(report, "verify");
	json_t *check;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	fputs("\nHeld-out check: cost of flushing one page more than the "
	      "ceiling less that of the\nceiling, for working sets that no "
	      "fit has seen (ns)\n"
	      "         W  pattern    n  predicted   measured            "
	      "95 %        error\n",
	      to);
	json_array_foreach(list, i, check) {
		const json_t *measured = json_object_get(check, "measured_ns");

		fprintf(to, "  %8.0f  %-7s %4.0f %10.0f",
			member_number(check, "working_set"),
			json_string_value(json_object_get(check, "pattern")),
			member_number(check, "pages"),
			member_number(check, "predicted_ns"));
		print_estimate(to, measured, 0);
		fprintf(to, "  %5.1f %%\n",
			100 * member_number(check, "error"));
	}
	fputs("  error: of the larger of c_f + D(W) and n*c_i; 10 % is the "
	      "limit\n",
	      to);
}

void explain_text(const json_t *report, FILE *to)
{
	environment_print(json_object_get(report, "environment"), to);
	fputc('\n', to);
	explain_tlb_text(json_object_get(report, "tlb"), "TLB, measured", to);
	print_cpuid(report, to);
	print_ceiling(report, to);
	explain_knob_text(report, to);
	print_costs(report, to);
	explain_both_text(json_object_get(report, "both"), to);
	print_break_even(report, to);
	explain_choice_text(report, to);
	hybrid_text(report, to);
	if (json_object_get(report, "setting"))
		fputc('\n', to);
	apply_text(report, to);
	workload_text(report, to);
	print_verify(report, to);
	if (json_is_true(json_object_get(report, "partial")))
		fputs("\nPARTIAL: interrupted, this rests on what was measured "
		      "until then.\n",
		      to);
}
