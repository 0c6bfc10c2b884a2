/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identify: which CPU this is, or was where CPUID was recorded, its TLBs, and
 * E, the entries of the last-level data TLB for 4 KiB pages, with how E is
 * known.
 *
 * Nothing is measured and nothing is guessed: what CPUID does not tell is
 * unknown, and ./tune measures it.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpuid_types.h"
#include "machine.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "text.h"
#include "why.h"

struct settings {
	struct options_common common;
	const char *record;
};

/* options --------------------------------------------------------------- */

enum { KEY_CPUID = 0x200 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case KEY_CPUID:
		if (!*arg)
			options_refuse("--cpuid: expected a file or directory "
				       "name, got ''");
		settings->record = arg;
		return 0;
	case ARGP_KEY_END:
		if (settings->record && settings->common.cpus)
			options_refuse("--cpus is for this machine, --cpuid "
				       "reads another: expected one of them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option identify_options[] = {
	{ "cpuid", KEY_CPUID, "PATH", 0,
	  "identify a recorded machine: a directory that hwloc-gather-cpuid "
	  "wrote, or a text file by AIDA64, `cpuid -r` or libcpuid",
	  1 },
	{ 0 },
};

static void parse_options(int argc, char **argv, struct settings *settings)
{
	static const struct argp argp = {
		.options = identify_options,
		.parser = parse,
		.doc = "Identify the CPU, the types of its cores, their TLBs "
		       "and E, the entries of the last-level data TLB for 4 "
		       "KiB pages.\v"
		       "Needs no privileges. Exit status: 0 done (E may be "
		       "unknown), 1 failed, 2 bad usage or input, 77 cannot run "
		       "on this machine.",
	};

	*settings = (struct settings){ 0 };
	options_common_init(&settings->common);
	options_parse_with(&argp, argc, argv, settings, &options_common_argp,
			   &settings->common);
}

/* JSON ------------------------------------------------------------------ */

static json_t *name_json(const char *name)
{
	return text_json(name && *name ? name : NULL);
}

static json_t *cpus_json(const struct cpuid_type *type)
{
	json_t *json = NULL;
	char *list;

	if (hwloc_bitmap_list_asprintf(&list, type->cpus) >= 0) {
		json = json_string(list);
		free(list);
	}
	return json;
}

/* "4K+2M" */
static json_t *pages_json(unsigned int pages)
{
	static const char *const names[] = { "4K", "2M", "4M", "1G" };
	char text[sizeof("4K+2M+4M+1G")] = "";
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (!(pages & 1u << i))
			continue;
		if (*text)
			strcat(text, "+");
		strcat(text, names[i]);
	}
	return json_string(text);
}

/* "leaf 0x18 sub-leaf 7" */
static json_t *origin_json(const struct tlb *tlb)
{
	switch (tlb->leaf) {
	case 0x2:
		return json_sprintf("leaf 2 descriptor 0x%02X", tlb->selector);
	case 0x18:
		return json_sprintf("leaf 0x18 sub-leaf %u", tlb->selector);
	default:
		return json_sprintf("leaf 0x%X", tlb->leaf);
	}
}

static json_t *count_json(int count)
{
	return count < 0 ? json_null() : json_integer(count);
}

/* One row of the table: an array, or E. */
static json_t *row_json(size_t number, const struct cpuid_type *type,
			const char *what, int level, unsigned int pages,
			int entries)
{
	return json_pack("{s:I, s:o, s:o, s:s, s:o, s:o, s:o}", "type",
			 (json_int_t)number, "cpus", cpus_json(type),
			 "core_type", name_json(type->id.core_type), "what",
			 what, "level", count_json(level), "pages",
			 pages_json(pages), "entries", count_json(entries));
}

static int add_entries(json_t *results, size_t number,
		       const struct cpuid_type *type)
{
	const struct tlb_info *info = &type->tlb;
	json_t *row =
		row_json(number, type, "E",
			 info->entries < 0 ? -1 : tlb_last_level(info, TLB_4K),
			 TLB_4K, info->entries);
	int failed;

	failed = json_object_set_new(row, "ways", json_null());
	failed |= json_object_set_new(
		row, "confidence",
		json_string(tlb_confidence_name[info->confidence]));
	failed |= json_object_set_new(row, "origin", name_json(info->why));
	return failed | json_array_append_new(results, row);
}

static int add_tlb(json_t *results, size_t number,
		   const struct cpuid_type *type, const struct tlb *tlb)
{
	json_t *row = row_json(number, type, tlb_kind_name[tlb->kind],
			       (int)tlb->level, tlb->pages, (int)tlb->entries);
	int failed = json_object_set_new(row, "ways", count_json(tlb->ways));

	failed |= json_object_set_new(
		row, "confidence",
		json_string(tlb_confidence_name[tlb->confidence]));
	failed |= json_object_set_new(row, "origin", origin_json(tlb));
	return failed | json_array_append_new(results, row);
}

static json_t *type_json(const struct cpuid_type *type)
{
	const struct identity *id = &type->id;
	const struct tlb_info *info = &type->tlb;

	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, "
		"s:o}",
		"cpus", cpus_json(type), "vendor", name_json(id->vendor),
		"brand", name_json(id->brand), "family",
		text_index_json(id->family), "model",
		text_index_json(id->model), "stepping",
		text_index_json(id->stepping), "core_type",
		name_json(id->core_type), "guest", text_truth_json(id->guest),
		"hypervisor", name_json(id->hypervisor), "entries",
		count_json(info->entries), "confidence",
		tlb_confidence_name[info->confidence], "why",
		name_json(info->why), "odd", name_json(info->odd));
}

static int add_types(json_t *report, const struct cpuid_types *types)
{
	json_t *all = json_array(), *results = json_array();
	int failed = 0;
	size_t i, k;

	for (i = 0; i < types->n; i++) {
		const struct cpuid_type *type = &types->type[i];

		failed |= json_array_append_new(all, type_json(type));
		failed |= add_entries(results, i, type);
		for (k = 0; k < type->tlb.n; k++)
			failed |= add_tlb(results, i, type, &type->tlb.tlb[k]);
	}
	failed |= json_object_set_new(report, "types", all);
	return failed | json_object_set_new(report, "results", results);
}

/* The environment is this machine's; of a recorded one it is unknown. */
static json_t *report_of(const struct settings *settings,
			 const struct cpuid_machine *machine,
			 const struct cpuid_types *types)
{
	const struct clock clock = {
		.source = CLOCK_SOURCE_GETTIME,
		.why = "nothing is timed",
		.ns_per_tick = NAN,
		.overhead_ns = NAN,
		.step_ns = NAN,
		.drift_ppm = NAN,
	};
	json_t *environment = json_null();
	json_t *report;

	if (!settings->record)
		environment = machine_json("", machine->cpu[0].number,
					   &types->type[0].id);
	report = report_new("identify", false,
			    json_pack("{s:s?, s:s?}", "cpuid", settings->record,
				      "cpus", settings->common.cpus),
			    &clock, environment);
	if (json_object_set_new(report, "source",
				json_string(machine->format)) ||
	    add_types(report, types)) {
		json_decref(report);
		return NULL;
	}
	return report;
}

/* text ------------------------------------------------------------------ */

static const char *string(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "unknown";
}

/* A number right-aligned in that width, or n/a. */
static void print_count(FILE *to, int width, const json_t *count)
{
	if (json_is_integer(count))
		fprintf(to, "%*" JSON_INTEGER_FORMAT, width,
			json_integer_value(count));
	else
		fprintf(to, "%*s", width, "n/a");
}

static void print_number(FILE *to, const json_t *type, const char *name)
{
	fprintf(to, ", %s ", name);
	print_count(to, 0, json_object_get(type, name));
}

static void print_cpu(const json_t *type, FILE *to)
{
	const char *core_type =
		json_string_value(json_object_get(type, "core_type"));
	const char *hypervisor =
		json_string_value(json_object_get(type, "hypervisor"));

	fprintf(to, "CPUs %s: %s\n", string(type, "cpus"),
		string(type, "brand"));
	fprintf(to, "  %s", string(type, "vendor"));
	print_number(to, type, "family");
	print_number(to, type, "model");
	print_number(to, type, "stepping");
	if (core_type)
		fprintf(to, ", %s core", core_type);
	fputc('\n', to);
	if (json_is_true(json_object_get(type, "guest")))
		fprintf(to,
			"  guest of a hypervisor%s%s: CPUID is what that one "
			"shows\n",
			hypervisor ? ", " : "", hypervisor ? hypervisor : "");
}

static void print_row(const json_t *row, FILE *to)
{
	const json_t *entries = json_object_get(row, "entries");
	const json_t *ways = json_object_get(row, "ways");

	fputs("  ", to);
	print_count(to, 5, json_object_get(row, "level"));
	fprintf(to, "  %-11s  %-11s", string(row, "what"),
		string(row, "pages"));
	print_count(to, 7, entries);
	if (json_is_integer(ways) && json_equal(ways, entries))
		fprintf(to, "  %4s", "full");
	else
		print_count(to, 6, ways);
	fprintf(to, "  %s, %s\n", string(row, "confidence"),
		string(row, "origin"));
}

static void print_table(const json_t *report, size_t number, FILE *to)
{
	bool heading = false;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(report, "results"), i, row) {
		const json_t *type = json_object_get(row, "type");

		if ((size_t)json_integer_value(type) != number ||
		    !strcmp(string(row, "what"), "E"))
			continue;
		if (!heading)
			fprintf(to, "\n  %5s  %-11s  %-11s%7s  %4s  %s\n",
				"level", "TLB", "pages", "entries", "ways",
				"known from");
		heading = true;
		print_row(row, to);
	}
	fputc('\n', to);
}

static void print_entries(const json_t *type, FILE *to)
{
	const json_t *entries = json_object_get(type, "entries");

	fputs("  E = ", to);
	if (json_is_integer(entries)) {
		print_count(to, 0, entries);
		fprintf(to, ", %s: ", string(type, "confidence"));
	} else {
		fputs("unknown: ", to);
	}
	fprintf(to, "%s\n", string(type, "why"));
	if (json_is_string(json_object_get(type, "odd")))
		fprintf(to, "  odd: %s\n", string(type, "odd"));
}

static void print_text(const json_t *report, FILE *to)
{
	json_t *type;
	size_t i;

	json_array_foreach(json_object_get(report, "types"), i, type) {
		if (i)
			fputc('\n', to);
		print_cpu(type, to);
		print_table(report, i, to);
		print_entries(type, to);
	}
	fputs("\nE: entries of the last-level data TLB for 4 KiB pages.\n", to);
}

/* ------------------------------------------------------------------------ */

static void read_this_machine(const struct settings *settings,
			      struct cpuid_machine *machine)
{
	struct placement placement;
	char *why = NULL;

	if (placement_open(&placement, settings->common.cpus, &why) < 0) {
		if (errno == EINVAL)
			options_refuse("--cpus: %s", why_text(why));
		error(STATUS_CANNOT_RUN, 0, "%s", why_text(why));
	}
	if (cpuid_read_live(&placement, machine) < 0)
		error(errno == ENOMEM ? STATUS_FAILED : STATUS_CANNOT_RUN,
		      errno, "cannot run on any CPU");
	placement_close(&placement);
}

static void read_record(const struct settings *settings,
			struct cpuid_machine *machine)
{
	char *why;

	if (!cpuid_read_record(settings->record, machine, &why))
		return;
	if (errno == ENOMEM)
		error(STATUS_FAILED, errno, "--cpuid");
	options_refuse("--cpuid: %s", why_text(why));
}

int main(int argc, char **argv)
{
	struct cpuid_machine machine;
	struct cpuid_types types;
	struct settings settings;
	int status = STATUS_OK;
	json_t *report;

	parse_options(argc, argv, &settings);
	if (output_check(settings.common.output) < 0)
		exit(STATUS_USAGE);
	if (settings.record)
		read_record(&settings, &machine);
	else
		read_this_machine(&settings, &machine);
	if (cpuid_types_find(&machine, &types) < 0)
		error(STATUS_FAILED, ENOMEM, "TLBs");
	report = report_of(&settings, &machine, &types);
	if (!report)
		error(STATUS_FAILED, ENOMEM, "report");
	if (report_write(report, &settings.common, print_text) < 0)
		status = STATUS_FAILED;
	json_decref(report);
	cpuid_types_free(&types);
	cpuid_free(&machine);
	return status;
}
