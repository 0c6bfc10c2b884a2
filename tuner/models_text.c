/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "access.h"
#include "modeldb.h"
#include "models.h"
#include "report.h"
#include "warnings.h"

/* JSON ------------------------------------------------------------------ */

static json_t *value(const json_t *record, const char *path)
{
	return report_number(modeldb_value(record, path));
}

static json_t *copy(const json_t *record, const char *path)
{
	json_t *member = json_deep_copy(modeldb_at(record, path));

	return member ? member : json_null();
}

json_t *models_row(const json_t *record)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:o}",
		"id", copy(record, "id"), "vendor",
		copy(record, "identity.vendor"), "family",
		copy(record, "identity.family"), "model",
		copy(record, "identity.model"), "stepping",
		copy(record, "identity.stepping"), "core_type",
		copy(record, "identity.core_type"), "hypervisor",
		copy(record, "condition.hypervisor"), "pti",
		copy(record, "condition.pti"), "entries",
		value(record, "entries"), "c_i_ns", value(record, "c_i"),
		"c_f_ns", value(record, "c_f"), "r_chase_ns",
		value(record, "r.chase"), "break_even_chase_pages",
		value(record, "break_even.chase"), "factor",
		copy(record, "choice.factor"), "pages",
		copy(record, "choice.pages"), "date", copy(record, "date"));
}

static const struct quantity {
	const char *path, *name, *unit;
} quantities[] = {
	{ "entries", "E", "entries" },
	{ "c_i", "c_i", "ns/page" },
	{ "c_f", "c_f", "ns" },
	{ "r.chase", "r(256) chase", "ns/page" },
	{ "break_even.chase", "n*(256) chase", "pages" },
};

json_t *models_agreement(const json_t *recorded, const json_t *here)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; rows && i < sizeof(quantities) / sizeof(*quantities); i++) {
		const struct quantity *q = &quantities[i];
		double then = modeldb_value(recorded, q->path);
		double now = modeldb_value(here, q->path);
		bool agrees = modeldb_agree(modeldb_at(recorded, q->path),
					    modeldb_at(here, q->path));

		if (isnan(then) || isnan(now))
			continue;
		json_array_append_new(
			rows, json_pack("{s:s, s:s, s:o, s:o, s:o, s:b}",
					"quantity", q->name, "unit", q->unit,
					"recorded", report_number(then), "here",
					report_number(now), "change",
					report_number((now - then) /
						      fmax(fabs(then), 1)),
					"agrees", agrees));
	}
	return rows;
}

/* text ------------------------------------------------------------------ */

static const char *text(const json_t *json, const char *path)
{
	const char *found = json_string_value(modeldb_at(json, path));

	return found ? found : "n/a";
}

static void put_number(const json_t *number, int digits, FILE *to)
{
	if (json_is_number(number))
		fprintf(to, "%.*f", digits, json_number_value(number));
	else
		fputs("n/a", to);
}

static void put_estimate(const json_t *estimate, int digits, FILE *to)
{
	const json_t *ci95 = json_object_get(estimate, "ci95");

	put_number(json_object_get(estimate, "estimate"), digits, to);
	if (!json_is_array(ci95))
		return;
	fputs(" [", to);
	put_number(json_array_get(ci95, 0), digits, to);
	fputs(", ", to);
	put_number(json_array_get(ci95, 1), digits, to);
	fputc(']', to);
}

static void put_factor(const json_t *factor, const json_t *pages, FILE *to)
{
	if (!json_is_integer(factor)) {
		fputs("no factor", to);
		return;
	}
	fputs("factor ", to);
	put_number(factor, 0, to);
	fputs(" (", to);
	put_number(pages, 0, to);
	fputs(" pages)", to);
}

static void print_list(const json_t *report, FILE *to)
{
	const json_t *rows = json_object_get(report, "results");
	size_t i;

	for (i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		fprintf(to, "%s\n    E ", text(row, "id"));
		put_number(json_object_get(row, "entries"), 0, to);
		fputs(", c_i ", to);
		put_number(json_object_get(row, "c_i_ns"), 1, to);
		fputs(" ns, c_f ", to);
		put_number(json_object_get(row, "c_f_ns"), 1, to);
		fputs(" ns, ", to);
		put_factor(json_object_get(row, "factor"),
			   json_object_get(row, "pages"), to);
		fprintf(to, ", %.10s\n", text(row, "date"));
	}
	if (i == 0)
		fputs("No CPU model is on file yet.\n", to);
}

static void put_switch(const char *name, const json_t *truth, FILE *to)
{
	fprintf(to, ", %s %s", name,
		json_is_true(truth)  ? "on" :
		json_is_false(truth) ? "off" :
				       "n/a");
}

static void show_machine(const json_t *record, FILE *to)
{
	const json_t *condition = json_object_get(record, "condition");
	const json_t *guest = json_object_get(condition, "guest");
	const char *signature =
		json_string_value(json_object_get(condition, "hypervisor"));

	fprintf(to, "  CPU        %s", text(record, "identity.vendor"));
	fputs(" family ", to);
	put_number(modeldb_at(record, "identity.family"), 0, to);
	fputs(" model ", to);
	put_number(modeldb_at(record, "identity.model"), 0, to);
	fputs(" stepping ", to);
	put_number(modeldb_at(record, "identity.stepping"), 0, to);
	fprintf(to, " (%s)", text(record, "identity.brand"));
	if (json_is_string(modeldb_at(record, "identity.core_type")))
		fprintf(to, ", %s core", text(record, "identity.core_type"));
	fputs("\n  Condition  ", to);
	if (json_is_true(guest))
		fprintf(to, "guest of %s",
			signature ? warnings_hypervisor(signature) :
				    "an unknown hypervisor");
	else
		fputs(json_is_false(guest) ? "bare metal" :
					     "unknown whether a guest",
		      to);
	put_switch("PTI", json_object_get(condition, "pti"), to);
	put_switch("PCID", json_object_get(condition, "pcid"), to);
	put_switch("INVPCID", json_object_get(condition, "invpcid"), to);
	put_switch("INVLPGB", json_object_get(condition, "invlpgb"), to);
	put_switch("paravirtual flush",
		   json_object_get(condition, "pv_tlb_flush"), to);
	fputs("\n             (holds under this condition only)\n", to);
}

static void show_run(const json_t *record, FILE *to)
{
	const json_t *raw = json_object_get(record, "raw");
	const json_t *warnings = json_object_get(raw, "warnings");
	size_t i;

	fprintf(to,
		"  Measured   %.10s, Linux %s, microcode %s, tlbtune %s\n"
		"             ",
		text(record, "date"), text(record, "kernel"),
		text(record, "microcode"), text(record, "version"));
	put_number(json_object_get(raw, "samples"), 0, to);
	fputs(" calls in ", to);
	put_number(json_object_get(raw, "blocks"), 0, to);
	fprintf(to, " time blocks%s%s%s\n",
		json_is_true(json_object_get(raw, "quick")) ? ", --quick" : "",
		json_is_true(json_object_get(raw, "partial")) ?
			", interrupted" :
			"",
		json_is_true(json_object_get(raw, "two_regimes")) ?
			", two regimes of c_i" :
			"");
	for (i = 0; i < json_array_size(warnings); i++)
		fprintf(to, "  Warning    %s\n",
			json_string_value(json_array_get(warnings, i)));
}

static void show_cost(const json_t *record, const char *name,
		      const char *meaning, FILE *to)
{
	fprintf(to, "  %-9s  ", name);
	put_estimate(json_object_get(record, name), 1, to);
	fprintf(to, " %s\n", meaning);
}

static void show_patterns(const json_t *record, const char *member,
			  const char *name, const char *meaning, FILE *to)
{
	const json_t *by = json_object_get(record, member);
	int i;

	fprintf(to, "  %-9s  ", name);
	for (i = 0; i < PATTERNS; i++) {
		fprintf(to, "%s%s ", i ? ", " : "", pattern_name[i]);
		put_estimate(json_object_get(by, pattern_name[i]), 1, to);
	}
	fprintf(to, "\n             %s\n", meaning);
}

static void show_costs(const json_t *record, FILE *to)
{
	fputs("  E          ", to);
	put_estimate(json_object_get(record, "entries"), 0, to);
	fputs(" entries of the last-level data TLB, measured\n", to);
	show_cost(record, "a", "ns, fixed cost of a call", to);
	show_cost(record, "b", "ns/page, what both ways pay", to);
	show_cost(record, "c_i", "ns/page, one single-page flush", to);
	show_cost(record, "c_f", "ns, the full flush", to);
	show_patterns(record, "r", "r(256)",
		      "ns/page, refill of 256 pages after a full flush", to);
	show_patterns(record, "break_even", "n*(256)",
		      "pages from which a full flush is cheaper", to);
	if (json_is_true(json_object_get(record, "page_flush_empties_tlb")))
		fputs("             A single-page flush empties the whole TLB "
		      "here.\n",
		      to);
}

static void print_show(const json_t *report, FILE *to)
{
	const json_t *record = json_object_get(report, "record");
	const json_t *choice = json_object_get(record, "choice");
	const json_t *regret = json_object_get(choice, "regret_worst");

	fprintf(to, "%s\n", text(record, "id"));
	show_machine(record, to);
	show_run(record, to);
	show_costs(record, to);
	fputs("  Choice     ", to);
	put_factor(json_object_get(choice, "factor"),
		   json_object_get(choice, "pages"), to);
	if (json_is_number(regret))
		fprintf(to, ", at worst %.0f %% dearer than the best way",
			100 * json_number_value(regret));
	if (json_is_string(json_object_get(choice, "reason")))
		fprintf(to, ": %s", text(choice, "reason"));
	fprintf(to, "\n  File       %s\n", text(report, "database"));
}

static void print_agreement(const json_t *report, FILE *to)
{
	const json_t *rows = json_object_get(report, "results");
	size_t i, agree = 0;

	for (i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		bool agrees = json_is_true(json_object_get(row, "agrees"));

		agree += agrees;
		fprintf(to, "  %-14s", text(row, "quantity"));
		put_number(json_object_get(row, "here"), 1, to);
		fputs(" here, ", to);
		put_number(json_object_get(row, "recorded"), 1, to);
		fprintf(to, " %s on file (%+.0f %%): %s\n", text(row, "unit"),
			100 * json_number_value(json_object_get(row, "change")),
			agrees ? "agrees" : "DIFFERS");
	}
	if (i > 0)
		fprintf(to,
			"This machine agrees with the record in %zu of %zu "
			"quantities.\n",
			agree, i);
}

static void print_lookup(const json_t *report, FILE *to)
{
	const char *level = text(report, "level");
	const json_t *others = json_object_get(report, "other_conditions");
	bool of_model = !strcmp(level, modeldb_level_name[MODELDB_MODEL]);
	size_t i;

	if (of_model)
		fprintf(to,
			"This CPU is on file (looked up by model): %s\n"
			"  in %s\n",
			text(report, "record.id"), text(report, "database"));
	else if (json_is_object(json_object_get(report, "record")))
		fprintf(to,
			"The nearest on file (looked up by family, same "
			"condition): %s\n  in %s\n",
			text(report, "record.id"), text(report, "database"));
	for (i = 0; i < json_array_size(others); i++)
		fprintf(to, "Not used, another condition: %s\n",
			json_string_value(json_array_get(others, i)));
	if (json_is_object(json_object_get(report, "record"))) {
		fputs("  ", to);
		put_factor(modeldb_at(report, "record.choice.factor"),
			   modeldb_at(report, "record.choice.pages"), to);
		fprintf(to, ", measured %.10s under Linux %s\n",
			text(report, "record.date"),
			text(report, "record.kernel"));
	}
	print_agreement(report, to);
	if (!of_model)
		fprintf(to, "This CPU (%s) is not in %s yet: %s\n",
			text(report, "machine.id"), text(report, "looked_in"),
			text(report, "record_command"));
}

static void print_merge(const json_t *report, FILE *to)
{
	const json_t *rows = json_object_get(report, "results");
	size_t i;

	for (i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		fprintf(to, "%s %s: %s\n", text(row, "verdict"),
			text(row, "id"), text(row, "why"));
	}
	fprintf(to, "%s has %.0f record%s\n", text(report, "database"),
		json_number_value(json_object_get(report, "records")),
		json_number_value(json_object_get(report, "records")) == 1 ?
			"" :
			"s");
}

void models_text(const json_t *report, FILE *to)
{
	static const struct {
		const char *action;
		void (*print)(const json_t *report, FILE *to);
	} actions[] = {
		{ "list", print_list },	    { "show", print_show },
		{ "lookup", print_lookup }, { "record", print_merge },
		{ "merge", print_merge },
	};
	size_t i;

	for (i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(text(report, "action"), actions[i].action))
			actions[i].print(report, to);
}
