/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "sysfile.h"
#include "sysjson.h"
#include "text.h"

#define CPU_DIR "/sys/devices/system/cpu"

/* CPU ------------------------------------------------------------------ */

/* The paragraph of /proc/cpuinfo on CPU number cpu, malloc'ed; or NULL. */
static char *read_cpuinfo(const char *root, unsigned int cpu)
{
	char *text = sysfile_read(root, "/proc/cpuinfo");
	char *block = text, *found = NULL;

	while (block && !found) {
		char *end = strstr(block, "\n\n");
		char *field;

		if (end)
			*end = '\0';
		field = text_field(block, "processor");
		if (text_integer(field) == cpu)
			found = strdup(block);
		free(field);
		block = end ? end + 2 : NULL;
	}
	free(text);
	return found;
}

static json_t *microcode_json(const char *root, unsigned int cpu,
			      const char *cpuinfo)
{
	char *field = cpuinfo ? text_field(cpuinfo, "microcode") : NULL;
	json_t *json = field ? text_json(field) :
			       sysjson_cpu(root, cpu, "microcode/version");

	free(field);
	return json;
}

static json_t *name_json(const char *name)
{
	return text_json(name && *name ? name : NULL);
}

static json_t *cpu_json(const char *root, unsigned int cpu, const char *cpuinfo,
			const struct identity *id)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "vendor",
			 name_json(id->vendor), "brand", name_json(id->brand),
			 "family", text_index_json(id->family), "model",
			 text_index_json(id->model), "stepping",
			 text_index_json(id->stepping), "core_type",
			 name_json(id->core_type), "microcode",
			 microcode_json(root, cpu, cpuinfo), "number",
			 (int)cpu);
}

/* Kernel --------------------------------------------------------------- */

/* The value of the last mitigations= that is for the kernel, not for init. */
static json_t *mitigations_parameter_json(const char *root)
{
	static const char name[] = "mitigations=";
	char *text = sysfile_read(root, "/proc/cmdline");
	const char *value = "";
	char *word, *rest;
	json_t *json;

	for (word = text ? strtok_r(text, " \t\n", &rest) : NULL;
	     word && strcmp(word, "--") != 0;
	     word = strtok_r(NULL, " \t\n", &rest))
		if (!strncmp(word, name, strlen(name)))
			value = word + strlen(name);
	json = text_json(text ? value : NULL);
	free(text);
	return json;
}

static json_t *kernel_json(const char *root)
{
	return json_pack("{s:o, s:o, s:o}", "release",
			 sysjson_text(root, "/proc/sys/kernel/osrelease"),
			 "version",
			 sysjson_text(root, "/proc/sys/kernel/version"),
			 "mitigations_parameter",
			 mitigations_parameter_json(root));
}

/* 1 or 0: the kernel uses the feature; -1: it does not tell. */
static int has_flag(const char *flags, const char *flag)
{
	return flags ? text_has_word(flags, flag) : -1;
}

/* The flag where there are flags; else what is said about Meltdown. */
static int pti_in_use(const char *root, const char *flags)
{
	char *text = sysfile_read(root, CPU_DIR "/vulnerabilities/meltdown");
	int pti = has_flag(flags, "pti");

	if (text && !strncmp(text, "Mitigation: PTI", 15))
		pti = 1;
	else if (pti < 0 && text && *text && strncmp(text, "Unknown", 7) != 0)
		pti = 0;
	free(text);
	return pti;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* What the kernel says of one vulnerability; 0, or -1 on ENOMEM. */
static int add_vulnerability(json_t *all, const char *root, const char *file)
{
	json_t *name = text_json(file), *said = NULL;
	int failed = -1;
	char *path;

	if (asprintf(&path, CPU_DIR "/vulnerabilities/%s", file) >= 0) {
		said = sysjson_text(root, path);
		free(path);
	}
	if (name)
		failed = json_object_set(all, json_string_value(name), said);
	json_decref(name);
	json_decref(said);
	return failed;
}

/* Of all of them, by name; null without the directory. */
static json_t *vulnerabilities_json(const char *root)
{
	json_t *all = NULL;
	struct dirent **entries;
	int n = -1, failed = 0, i;
	char *path;

	if (asprintf(&path, "%s" CPU_DIR "/vulnerabilities", root) >= 0) {
		n = scandir(path, &entries, is_visible, alphasort);
		free(path);
	}
	if (n < 0)
		return json_null();
	all = json_object();
	for (i = 0; i < n; i++) {
		failed |= add_vulnerability(all, root, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (failed) {
		json_decref(all);
		return NULL;
	}
	return all;
}

static json_t *hypervisor_json(const char *root, const char *flags,
			       const struct identity *id)
{
	char *type = sysfile_read(root, "/sys/hypervisor/type");
	char *guest = sysfile_read(root, "/sys/hypervisor/guest_type");
	bool xen = type && !strcmp(type, "xen");
	int present = id->guest < 0 ? has_flag(flags, "hypervisor") : id->guest;
	int pv_tlb_flush = id->pv_tlb_flush;
	json_t *json;

	/* A PV guest of Xen executes CPUID as if there were no Xen. */
	if (xen) {
		present = 1;
		pv_tlb_flush = guest && *guest ? !strcmp(guest, "PV") : -1;
	}
	json = json_pack("{s:o, s:o, s:o, s:o}", "present",
			 text_truth_json(present), "signature",
			 name_json(id->hypervisor[0] ? id->hypervisor :
				   xen		     ? "XenVMMXenVMM" :
						       NULL),
			 "guest_type", name_json(guest), "pv_tlb_flush",
			 text_truth_json(pv_tlb_flush));
	free(guest);
	free(type);
	return json;
}

/* All ------------------------------------------------------------------ */

json_t *machine_json(const char *root, unsigned int cpu,
		     const struct identity *id)
{
	char *cpuinfo = read_cpuinfo(root, cpu);
	char *flags = cpuinfo ? text_field(cpuinfo, "flags") : NULL;
	json_t *json = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpu",
		cpu_json(root, cpu, cpuinfo, id), "kernel", kernel_json(root),
		"pti", text_truth_json(pti_in_use(root, flags)), "pcid",
		text_truth_json(has_flag(flags, "pcid")), "invpcid",
		text_truth_json(has_flag(flags, "invpcid")), "invlpgb",
		text_truth_json(id->invlpgb), "invlpgb_max_pages",
		text_index_json(id->invlpgb_max_pages), "hypervisor",
		hypervisor_json(root, flags, id), "mitigations",
		vulnerabilities_json(root));

	free(flags);
	free(cpuinfo);
	return json;
}
