/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "member.h"
#include "modeldb.h"
#include "output.h"
#include "page.h"
#include "page_cell.h"
#include "plot.h"
#include "why.h"

static const char style[] =
	":root { color-scheme: light dark; --line: #ccc; --soft: #666 }\n"
	"@media (prefers-color-scheme: dark) { :root { --line: #444; --soft: "
	"#aaa } body { background: #16181b; color: #ddd } }\n"
	"body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; "
	"margin: 0 auto; padding: 1rem }\n"
	"h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem; "
	"border-bottom: 1px solid var(--line) }\n"
	".wide { overflow-x: auto }\n"
	"table { border-collapse: collapse; font-variant-numeric: "
	"tabular-nums }\n"
	"th, td { padding: .2rem .7rem .2rem 0; text-align: right; "
	"vertical-align: top }\n"
	"th:first-child, td:first-child { text-align: left }\n"
	"th, td { white-space: nowrap } td.text { text-align: left; "
	"white-space: normal } td.text:last-child { min-width: 11rem }\n"
	"th { color: var(--soft); font-weight: 500 }\n"
	"tr + tr td { border-top: 1px solid var(--line) }\n"
	"figure { margin: 1rem 0; max-width: 42rem } svg { width: 100%; "
	"height: auto; display: block }\n"
	"figcaption, .soft { color: var(--soft); font-size: .9rem }\n"
	".big { font-size: 1.3rem } pre { overflow-x: auto }\n";

static void begin_section(FILE *to, const char *title)
{
	fprintf(to, "<h2>%s</h2>\n", title);
}

static void begin_table(FILE *to, const char *heads)
{
	const char *head = heads;

	fputs("<div class=\"wide\"><table>\n<tr>", to);
	while (*head) {
		size_t len = strcspn(head, "|");

		fprintf(to, "<th>%.*s</th>", (int)len, head);
		head += len + (head[len] == '|');
	}
	fputs("</tr>\n", to);
}

static void end_table(FILE *to)
{
	fputs("</table></div>\n", to);
}

/* the parts ------------------------------------------------------------- */

static void print_answer(const json_t *report, FILE *to)
{
	const json_t *choice = json_object_get(report, "choice");
	const char *reason =
		json_string_value(json_object_get(choice, "reason"));
	const char *alone = "";

	if (json_is_true(modeldb_at(choice, "gain.leave_it_alone")))
		alone = " Leave it alone: it gains less than runs differ.";
	if (reason) {
		fputs("<p class=\"big\">No factor: ", to);
		page_text(to, reason);
		fputs(".</p>\n", to);
		return;
	}
	fputs("<p class=\"big\">tlb_flushall_factor ", to);
	page_span(to, report, "choice.factor", 1, 0);
	fputs(": page by page up to ", to);
	page_span(to, report, "choice.pages", 1, 0);
	fputs(" pages (E = ", to);
	page_span(to, report, "choice.entries", 1, 0);
	fprintf(to, ").%s</p>\n", alone);
}

static void print_machine(const json_t *report, FILE *to)
{
	static const struct {
		const char *label, *path;
	} rows[] = {
		{ "CPU", "environment.cpu.brand" },
		{ "family", "environment.cpu.family" },
		{ "model", "environment.cpu.model" },
		{ "stepping", "environment.cpu.stepping" },
		{ "microcode", "environment.cpu.microcode" },
		{ "kernel", "environment.kernel.release" },
		{ "page-table isolation", "environment.pti" },
		{ "PCID", "environment.pcid" },
		{ "INVPCID", "environment.invpcid" },
		{ "INVLPGB", "environment.invlpgb" },
		{ "hypervisor", "environment.hypervisor.signature" },
		{ "paravirtual TLB flush",
		  "environment.hypervisor.pv_tlb_flush" },
		{ "governor", "environment.governor" },
		{ "transparent huge pages", "environment.thp" },
		{ "knob", "knob.kind" },
		{ "why it is not writable", "knob.why" },
		{ "measured", "date" },
		{ "by tlbtune", "version" },
	};
	const json_t *warnings = modeldb_at(report, "environment.warnings");
	size_t i;

	begin_section(to, "Machine");
	begin_table(to, "|");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		fprintf(to, "<tr><td>%s</td>", rows[i].label);
		page_value(to, report, rows[i].path);
		fputs("</tr>\n", to);
	}
	end_table(to);
	for (i = 0; i < json_array_size(warnings); i++) {
		fputs("<p class=\"soft\">Warning: ", to);
		page_text(to, json_string_value(json_array_get(warnings, i)));
		fputs("</p>\n", to);
	}
}

/* A row of {estimate, ci95} at path. */
static void print_estimate(const json_t *report, FILE *to, const char *label,
			   const char *path, const char *unit, int digits)
{
	fprintf(to, "<tr><td>%s</td>", label);
	page_estimate(to, report, path, 1, digits);
	fprintf(to, "<td class=\"text\">%s</td></tr>\n", unit);
}

static void print_costs(const json_t *report, FILE *to)
{
	begin_section(to, "Costs");
	begin_table(to, "|estimate|from|to|");
	print_estimate(report, to, "a", "fit.a", "ns: fixed cost of the call",
		       1);
	print_estimate(report, to, "b", "fit.b",
		       "ns a page: what both ways pay", 1);
	print_estimate(report, to, "c_i", "fit.c_i",
		       "ns: one single-page flush (INVLPG)", 1);
	print_estimate(report, to, "c_f", "fit.c_f", "ns: the full flush", 1);
	print_estimate(report, to, "ceiling", "fit.ceiling", "pages", 0);
	if (json_is_object(json_object_get(report, "both"))) {
		print_estimate(report, to, "c_i, with the knob", "both.c_i",
			       "ns", 1);
		print_estimate(report, to, "c_f, with the knob", "both.c_f",
			       "ns", 1);
	}
	print_estimate(report, to, "L1 dTLB", "tlb.l1_entries", "entries", 0);
	print_estimate(report, to, "last-level TLB", "tlb.last_level_entries",
		       "entries (E)", 0);
	print_estimate(report, to, "page walk", "tlb.walk_ns", "ns", 1);
	end_table(to);
}

static void print_break_even(const json_t *report, FILE *to)
{
	const json_t *list = json_object_get(report, "break_even");
	char path[64];
	size_t i;

	if (json_array_size(list) == 0)
		return;
	begin_section(to, "Break-even");
	fputs("<p>Flush more pages than this at once, and a full flush is "
	      "cheaper. * beyond what was timed page by page: extrapolated."
	      "</p>\n",
	      to);
	begin_table(to, "pattern|pages reused|break-even|from|to|refill, "
			"ns a page|");
	for (i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);

		fputs("<tr>", to);
		snprintf(path, sizeof(path), "break_even.%zu.pattern", i);
		page_value(to, report, path);
		snprintf(path, sizeof(path), "break_even.%zu.working_set", i);
		page_number(to, report, path, 1, 0);
		snprintf(path, sizeof(path), "break_even.%zu.pages", i);
		page_number(to, report, path, 1, 1);
		snprintf(path, sizeof(path), "break_even.%zu.ci95.0", i);
		page_number(to, report, path, 1, 1);
		snprintf(path, sizeof(path), "break_even.%zu.ci95.1", i);
		page_number(to, report, path, 1, 1);
		snprintf(path, sizeof(path),
			 "break_even.%zu.refill_ns_per_page.estimate", i);
		page_number(to, report, path, 1, 1);
		fprintf(to, "<td>%s</td></tr>\n",
			json_is_true(json_object_get(entry, "extrapolated")) ?
				"*" :
				"");
	}
	end_table(to);
}

static void print_regret(const json_t *report, FILE *to, const char *label,
			 const char *name)
{
	static const char *const members[] = { "worst", "mean", "total",
					       "kernel_compile" };
	char path[80];
	size_t i;

	fprintf(to, "<tr><td>%s</td>", label);
	snprintf(path, sizeof(path), "choice.%s.pages", name);
	page_number(to, report, path, 1, 0);
	for (i = 0; i < sizeof(members) / sizeof(*members); i++) {
		snprintf(path, sizeof(path), "choice.%s.%s", name, members[i]);
		page_number(to, report, path, 100, 1);
	}
	fputs("</tr>\n", to);
}

static void print_choice(const json_t *report, FILE *to)
{
	if (!modeldb_at(report, "choice.regret_choice"))
		return;
	begin_section(to, "Choice");
	begin_table(to, "regret, %|pages|worst|mean|total|kernel compile");
	print_regret(report, to, "the factor", "regret_choice");
	print_regret(report, to, "in force", "regret_in_force");
	print_regret(report, to, "stock constant", "regret_stock");
	print_regret(report, to, "best plain ceiling", "regret_best_pages");
	end_table(to);
	fputs("<p>Gain of the factor over what is in force, %: ", to);
	page_span(to, report, "choice.gain.estimate", 100, 1);
	fputs(" [", to);
	page_span(to, report, "choice.gain.ci95.0", 100, 1);
	fputs(", ", to);
	page_span(to, report, "choice.gain.ci95.1", 100, 1);
	fputs("]. Resamples of the time blocks that choose the same, %: ", to);
	page_span(to, report, "choice.bootstrap_agreement", 100, 0);
	fputs(". Cells of the grid that are extrapolated, %: ", to);
	page_span(to, report, "choice.extrapolated", 100, 0);
	fputs(".</p>\n", to);
}

/* Both types of a hybrid part, for which there is one knob. */
static void print_core_types(const json_t *report, FILE *to)
{
	static const struct {
		const char *member;
		double scale;
		int digits;
	} columns[] = {
		{ "a.estimate", 1, 1 },
		{ "b.estimate", 1, 1 },
		{ "c_i.estimate", 1, 1 },
		{ "c_f.estimate", 1, 1 },
		{ "entries", 1, 0 },
		{ "factor", 1, 0 },
		{ "pages", 1, 0 },
		{ "regret_alone.worst", 100, 1 },
		{ "regret_choice.worst", 100, 1 },
	};
	size_t types = json_array_size(json_object_get(report, "core_types"));
	size_t i, k;
	char path[80];

	if (!types)
		return;
	begin_section(to, "Core types");
	fputs("<p>There is one knob for all of them. Alone: what would be "
	      "chosen for that type, and its worst regret, %; the last column "
	      "is the worst regret there of the choice for all.</p>\n",
	      to);
	begin_table(to, "type|a|b|c_i|c_f|E|factor alone|pages alone|regret "
			"alone|regret of the choice");
	for (i = 0; i < types; i++) {
		fputs("<tr>", to);
		snprintf(path, sizeof(path), "core_types.%zu.core_type", i);
		page_value(to, report, path);
		for (k = 0; k < sizeof(columns) / sizeof(*columns); k++) {
			snprintf(path, sizeof(path), "core_types.%zu.%s", i,
				 columns[k].member);
			page_number(to, report, path, columns[k].scale,
				    columns[k].digits);
		}
		fputs("</tr>\n", to);
	}
	end_table(to);
}

static void print_pictures(const json_t *report, FILE *to)
{
	int kind;

	begin_section(to, "Pictures");
	for (kind = 0; kind < PLOT_KINDS; kind++) {
		char *why = NULL;
		char *svg = plot_svg(report, (enum plot_kind)kind, &why);

		fputs("<figure>\n", to);
		if (svg)
			fputs(svg, to);
		else
			page_text(to, why_text(why));
		fprintf(to, "<figcaption>%s</figcaption></figure>\n",
			plot_caption[kind]);
		free(svg);
		free(why);
	}
}

static const char assumptions[] =
	"<ul>\n"
	"<li>An operation on n pages costs a + n b, and n c_i page by page or "
	"c_f and the refill for a full flush: straight lines, also where they "
	"are extrapolated.</li>\n"
	"<li>Costs are those of the calling thread on one CPU; what other CPUs "
	"pay when they are interrupted is not in the choice.</li>\n"
	"<li>Every flush of 1 to 512 pages, every reused set up to E/2 and "
	"every pattern of access counts the same.</li>\n"
	"<li>What is measured in a guest holds for guests like it, and what is "
	"measured with page-table isolation holds with it.</li>\n"
	"<li>Intervals are of 95 %, over time blocks, each a fresh process; "
	"widened by how far the machine wandered during the run.</li>\n"
	"</ul>\n";

static void print_reproduce(const json_t *report, FILE *to)
{
	begin_section(to, "Assumptions");
	fputs(assumptions, to);
	begin_section(to, "Reproduce");
	fputs("<pre>tlb-tune --max-time ", to);
	page_span(to, report, "options.max_time", 1, 1);
	fputs(" --seed ", to);
	page_span(to, report, "options.seed", 1, 0);
	fputs(" --format json -o run.json --report run.html\n"
	      "tlb-tune --from run.json --report again.html</pre>\n",
	      to);
}

void page_print(const json_t *report, FILE *to)
{
	fprintf(to,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
		"charset=\"utf-8\">\n<meta name=\"viewport\" "
		"content=\"width=device-width, initial-scale=1\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n"
		"<title>tlbtune</title>\n<style>\n%s</style></head><body>\n"
		"<h1>When is a full TLB flush cheaper?</h1>\n",
		style);
	print_answer(report, to);
	if (json_is_true(json_object_get(report, "partial")))
		fputs("<p>PARTIAL: interrupted, this rests on what was "
		      "measured until then.</p>\n",
		      to);
	print_pictures(report, to);
	print_costs(report, to);
	print_break_even(report, to);
	print_choice(report, to);
	print_core_types(report, to);
	print_machine(report, to);
	print_reproduce(report, to);
	fputs("</body></html>\n", to);
}

int page_write(const json_t *report, const char *path)
{
	struct output output;

	if (output_open(&output, path) < 0)
		return -1;
	page_print(report, output.to);
	return output_commit(&output);
}
