/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "findings.h"

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "n/a";
}

static json_int_t count(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static void print_integer(const char *name, const json_t *value, FILE *to)
{
	if (json_is_integer(value))
		fprintf(to, ", %s %" JSON_INTEGER_FORMAT, name,
			json_integer_value(value));
}

static void print_machine(const json_t *report, FILE *to)
{
	const json_t *environment = json_object_get(report, "environment");
	const json_t *threshold = json_object_get(report, "threshold");
	const json_t *sysctl = json_object_get(environment, "sysctl");
	const json_t *hypervisor = json_object_get(environment, "hypervisor");

	fprintf(to, "Kernel   %s",
		text(json_object_get(environment, "kernel"), "release"));
	print_integer("factor",
		      json_object_get(sysctl, "vm.tlb_flushall_factor"), to);
	print_integer("entries", json_object_get(sysctl, "vm.tlb_entries"), to);
	if (json_is_true(json_object_get(hypervisor, "present")))
		fprintf(to, ", guest of %s", text(hypervisor, "signature"));
	fprintf(to,
		"\nTested   every number of pages up to 2 past %" JSON_INTEGER_FORMAT
		" (%s), 1 to %" JSON_INTEGER_FORMAT
		" threads beside the initiator\n\n",
		count(threshold, "tested"),
		json_is_null(json_object_get(threshold, "kernel")) ?
			"the kernel's ceiling is unknown; this is the usual one" :
			"the kernel's ceiling",
		count(threshold, "threads"));
}

static void print_result(const json_t *result, FILE *to)
{
	const char *status = text(result, "status");

	fprintf(to, "%-14s %-8s %-11s", text(result, "operation"),
		text(result, "memory"), status);
	if (count(result, "operations") > 0)
		fprintf(to,
			" %7" JSON_INTEGER_FORMAT " %7" JSON_INTEGER_FORMAT
			"  %" JSON_INTEGER_FORMAT "-%" JSON_INTEGER_FORMAT,
			count(result, "programs"), count(result, "operations"),
			count(result, "pages_least"),
			count(result, "pages_most"));
	if (json_is_string(json_object_get(result, "reason")))
		fprintf(to, " %s", text(result, "reason"));
	fputc('\n', to);
}

static void print_results(const json_t *report, FILE *to)
{
	const json_t *results = json_object_get(report, "results");
	json_t *result;
	size_t i;

	fprintf(to, "%-14s %-8s %-11s %7s %7s  %s\n", "operation", "memory", "",
		"tests", "calls", "pages");
	json_array_foreach(results, i, result)
		print_result(result, to);
}

static void print_stale(const json_t *report, FILE *to)
{
	const json_t *stale = json_object_get(report, "stale");
	const json_t *by = json_object_get(stale, "changed_by");

	fprintf(to, "\nSTALE: %s\n", text(stale, "what"));
	fprintf(to, "  test       %s, seed %" JSON_INTEGER_FORMAT "\n",
		text(stale, "operation"),
		count(json_object_get(report, "options"), "seed"));
	if (json_is_object(by))
		fprintf(to,
			"  operation  %s of %" JSON_INTEGER_FORMAT
			" pages from page %" JSON_INTEGER_FORMAT
			" on, by actor %" JSON_INTEGER_FORMAT
			" on CPU %" JSON_INTEGER_FORMAT "\n",
			text(by, "name"), count(by, "pages"),
			count(by, "first"), count(by, "actor"),
			count(by, "cpu"));
	fprintf(to,
		"  access     %s of page %" JSON_INTEGER_FORMAT
		" by actor %" JSON_INTEGER_FORMAT
		" on CPU %" JSON_INTEGER_FORMAT ", held before by %s%s\n",
		text(stale, "access"), count(stale, "page"),
		count(stale, "actor"), count(stale, "cpu"),
		text(stale, "held_by"),
		json_is_true(json_object_get(stale, "slept")) ?
			", its CPU idle meanwhile" :
			"");
	fprintf(to, "  content    %s, expected %s\n", text(stale, "got"),
		text(stale, "wanted"));
	fprintf(to, "  program%s, to be replayed with --replay FILE:\n\n%s",
		json_is_true(json_object_get(stale, "shrunk")) ? " (shrunk)" :
								 "",
		text(stale, "program"));
}

static void print_verdict(const json_t *report, FILE *to)
{
	const json_t *results = json_object_get(report, "results");
	json_int_t programs = 0;
	json_t *result;
	size_t i;

	json_array_foreach(results, i, result)
		programs += count(result, "programs");
	if (json_is_object(json_object_get(report, "stale")))
		print_stale(report, to);
	else
		fprintf(to,
			"\nNo thread used an old translation in %" JSON_INTEGER_FORMAT
			" tests (seed %" JSON_INTEGER_FORMAT ").\n",
			programs,
			count(json_object_get(report, "options"), "seed"));
}

void findings_text(const json_t *report, FILE *to)
{
	json_t *limit;
	size_t i;

	print_machine(report, to);
	print_results(report, to);
	print_verdict(report, to);
	json_array_foreach(json_object_get(report, "limits"), i, limit)
		fprintf(to, "%s%s\n", i == 0 ? "\nNot shown: " : "           ",
			json_string_value(limit));
}
