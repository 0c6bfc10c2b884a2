/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of the environment for people. It may come from a file that
 * someone sent, so that nothing about its shape is assumed.
 */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "environment.h"
#include "report.h"
#include "warnings.h"

static const json_t *at(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

/* Text, without anything that would move the cursor; n/a for all else. */
static void put_text(const json_t *value, FILE *to)
{
	const char *text = json_string_value(value);

	for (text = text ? text : "n/a"; *text; text++)
		putc(iscntrl((unsigned char)*text) ? '?' : *text, to);
}

static void put_integer(const char *name, double value, FILE *to)
{
	if (isnan(value))
		fprintf(to, "%s n/a", name);
	else
		fprintf(to, "%s %.0f", name, value);
}

static const char *switched(const json_t *value)
{
	return json_is_true(value)  ? "on" :
	       json_is_false(value) ? "off" :
				      "n/a";
}

static void put_frequency(const json_t *frequency, FILE *to)
{
	double before = report_get(frequency, "before_ghz");
	double after = report_get(frequency, "after_ghz");
	double low = fmin(before, after), high = fmax(before, after);

	if (isnan(low))
		fprintf(to, ", frequency n/a\n");
	else if (high - low < 0.005)
		fprintf(to, ", %.2f GHz seen\n", high);
	else
		fprintf(to, ", %.2f to %.2f GHz seen\n", low, high);
}

static void put_cpu(const json_t *env, FILE *to)
{
	const json_t *cpu = at(env, "cpu");

	fprintf(to, "CPU      ");
	put_text(at(cpu, json_is_string(at(cpu, "brand")) ? "brand" : "vendor"),
		 to);
	put_integer(", family", report_get(cpu, "family"), to);
	put_integer(" model", report_get(cpu, "model"), to);
	put_integer(" stepping", report_get(cpu, "stepping"), to);
	if (json_is_string(at(cpu, "core_type"))) {
		fprintf(to, ", ");
		put_text(at(cpu, "core_type"), to);
		fprintf(to, " core");
	}
	fprintf(to, ", microcode ");
	put_text(at(cpu, "microcode"), to);
	put_frequency(at(env, "frequency"), to);
}

static void put_invlpgb(const json_t *env, FILE *to)
{
	const json_t *invlpgb = at(env, "invlpgb");

	fprintf(to, ", INVLPGB %s",
		json_is_true(invlpgb)  ? "yes" :
		json_is_false(invlpgb) ? "no" :
					 "n/a");
}

/* How many vulnerabilities the kernel does something about. */
static void put_mitigations(const json_t *env, FILE *to)
{
	json_t *mitigations = at(env, "mitigations") ?
				      json_object_get(env, "mitigations") :
				      NULL;
	const json_t *parameter =
		at(at(env, "kernel"), "mitigations_parameter");
	const char *name;
	json_t *said;
	size_t active = 0;

	if (!json_is_object(mitigations)) {
		fprintf(to, ", mitigations n/a");
	} else {
		json_object_foreach(mitigations, name, said) {
			const char *text = json_string_value(said);

			active += text && !strncmp(text, "Mitigation", 10);
		}
		fprintf(to, ", %zu mitigations", active);
	}
	if (json_string_length(parameter)) {
		fprintf(to, " (mitigations=");
		put_text(parameter, to);
		putc(')', to);
	}
}

static void put_kernel(const json_t *env, FILE *to)
{
	fprintf(to, "Kernel   ");
	put_text(at(at(env, "kernel"), "release"), to);
	fprintf(to, ", PTI %s, PCID %s, INVPCID %s", switched(at(env, "pti")),
		switched(at(env, "pcid")), switched(at(env, "invpcid")));
	put_invlpgb(env, to);
	fprintf(to, ", THP ");
	put_text(at(env, "thp"), to);
	put_mitigations(env, to);
	putc('\n', to);
}

static void put_guest(const json_t *env, FILE *to)
{
	const json_t *hypervisor = at(env, "hypervisor");
	const json_t *present = at(hypervisor, "present");
	const json_t *pv_tlb_flush = at(hypervisor, "pv_tlb_flush");
	const char *signature = json_string_value(at(hypervisor, "signature"));

	if (json_is_false(present))
		return;
	fprintf(to, "Guest    ");
	if (!json_is_true(present)) {
		fprintf(to, "n/a\n");
		return;
	}
	if (signature && signature != warnings_hypervisor(signature))
		fprintf(to, "%s", warnings_hypervisor(signature));
	else
		put_text(at(hypervisor, "signature"), to);
	fprintf(to, ", %s TLB flush\n",
		json_is_true(pv_tlb_flush)  ? "paravirtual" :
		json_is_false(pv_tlb_flush) ? "native" :
					      "n/a");
}

void environment_print(const json_t *env, FILE *to)
{
	const json_t *warnings = at(env, "warnings");
	size_t i;

	put_cpu(env, to);
	put_kernel(env, to);
	put_guest(env, to);
	for (i = 0; i < json_array_size(warnings); i++) {
		fprintf(to, "Warning  ");
		put_text(json_array_get(warnings, i), to);
		putc('\n', to);
	}
}
