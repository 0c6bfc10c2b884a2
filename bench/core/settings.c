/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "report.h"
#include "settings.h"
#include "sysfile.h"
#include "sysjson.h"
#include "text.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define DEBUG_DIR "/sys/kernel/debug/x86"

/* The inode of the first PID namespace (PROC_PID_INIT_INO, proc_ns.h). */
#define INITIAL_PID_NAMESPACE "pid:[4026531836]"

static int turbo(const char *root)
{
	int no_turbo = sysjson_truth(root, CPU_DIR "/intel_pstate/no_turbo");

	if (no_turbo >= 0)
		return !no_turbo;
	return sysjson_truth(root, CPU_DIR "/cpufreq/boost");
}

static json_t *smt_json(const char *root)
{
	return json_pack(
		"{s:o, s:o}", "active",
		text_truth_json(sysjson_truth(root, CPU_DIR "/smt/active")),
		"control", sysjson_text(root, CPU_DIR "/smt/control"));
}

static json_t *cgroup_json(const char *root)
{
	struct cgroup cgroup;
	json_t *json;

	cgroup_read(root, &cgroup);
	json = json_pack("{s:o, s:o, s:o}", "version",
			 text_index_json(cgroup.cpu_version), "cpu_max",
			 text_json(cgroup.cpu_max), "memory_max",
			 text_json(cgroup.memory_max));
	cgroup_free(&cgroup);
	return json;
}

static json_t *numa_nodes_json(const char *root)
{
	char *text = sysfile_read(root, "/sys/devices/system/node/online");
	const char *list = text;
	unsigned int first, last;
	double nodes = 0;
	json_t *json;

	while (list && text_range(&list, &first, &last))
		nodes += (double)last - first + 1;
	json = text_count_json(list && !*list && nodes > 0 ? nodes : NAN);
	free(text);
	return json;
}

/* Why the ceiling could not be read, from errno. */
static const char *ceiling_hidden(const char *root, int error)
{
	switch (error) {
	case EPERM:
		return "EPERM (lockdown?)";
	case EACCES:
		return "EACCES (not root?)";
	case ENOENT:
	case ENOTDIR:
		return sysjson_exists(root, DEBUG_DIR) ?
			       "no such knob in this kernel" :
			       "no debugfs";
	default:
		return strerror(error);
	}
}

static json_t *ceiling_json(const char *root)
{
	char *text =
		sysfile_read(root, DEBUG_DIR "/tlb_single_page_flush_ceiling");
	int error = errno;
	double pages = text_integer(text);
	const char *why = NULL;

	if (!text)
		why = ceiling_hidden(root, error);
	else if (isnan(pages))
		why = "not a number";
	free(text);
	return json_pack("{s:o, s:s?}", "pages", text_count_json(pages), "why",
			 why);
}

static json_t *sysctl_json(const char *root)
{
	return json_pack(
		"{s:o, s:o, s:o}", "vm.tlb_flushall_factor",
		sysjson_integer(root, "/proc/sys/vm/tlb_flushall_factor"),
		"vm.tlb_entries",
		sysjson_integer(root, "/proc/sys/vm/tlb_entries"),
		"vm.tlb_flushall_pages",
		sysjson_integer(root, "/proc/sys/vm/tlb_flushall_pages"));
}

static json_t *uptime_json(const char *root)
{
	char *text = sysfile_read(root, "/proc/uptime");
	double seconds = NAN;

	if (text && sscanf(text, "%lf", &seconds) != 1)
		seconds = NAN;
	free(text);
	return report_number(seconds);
}

static json_t *loadavg_json(const char *root)
{
	char *text = sysfile_read(root, "/proc/loadavg");
	double load[3];
	bool known = text && sscanf(text, "%lf %lf %lf", &load[0], &load[1],
				    &load[2]) == 3;

	free(text);
	if (!known)
		return json_null();
	return json_pack("[o, o, o]", report_number(load[0]),
			 report_number(load[1]), report_number(load[2]));
}

const char *settings_pid_namespace(const char *root)
{
	char link[sizeof(INITIAL_PID_NAMESPACE) + 8];
	ssize_t len;
	char *path;

	if (asprintf(&path, "%s/proc/self/ns/pid", root) < 0)
		return NULL;
	len = readlink(path, link, sizeof(link) - 1);
	free(path);
	if (len < 0)
		return NULL;
	link[len] = '\0';
	if (strncmp(link, "pid:[", 5) != 0)
		return NULL;
	return strcmp(link, INITIAL_PID_NAMESPACE) ? "other" : "initial";
}

json_t *settings_container_hint(const char *root)
{
	if (sysjson_exists(root, "/run/systemd/container"))
		return sysjson_text(root, "/run/systemd/container");
	if (sysjson_exists(root, "/run/.containerenv"))
		return json_string("podman");
	if (sysjson_exists(root, "/.dockerenv"))
		return json_string("docker");
	return json_null();
}

static json_t *container_json(const char *root)
{
	return json_pack("{s:s?, s:o}", "pid_namespace",
			 settings_pid_namespace(root), "hint",
			 settings_container_hint(root));
}

static json_t *knobs_json(const char *root, unsigned int cpu)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"governor", sysjson_cpu(root, cpu, "cpufreq/scaling_governor"),
		"scaling_driver",
		sysjson_cpu(root, cpu, "cpufreq/scaling_driver"), "turbo",
		text_truth_json(turbo(root)), "thp",
		sysjson_choice(root,
			       "/sys/kernel/mm/transparent_hugepage/enabled"),
		"smt", smt_json(root), "clocksource",
		sysjson_text(root,
			     "/sys/devices/system/clocksource/clocksource0/"
			     "current_clocksource"),
		"lockdown",
		sysjson_choice(root, "/sys/kernel/security/lockdown"),
		"numa_nodes", numa_nodes_json(root), "numa_balancing",
		sysjson_integer(root, "/proc/sys/kernel/numa_balancing"),
		"tlb_single_page_flush_ceiling", ceiling_json(root), "sysctl",
		sysctl_json(root), "cgroup", cgroup_json(root));
}

static json_t *surroundings_json(const char *root)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "cpus_allowed",
			 sysjson_field(root, "/proc/self/status",
				       "Cpus_allowed_list"),
			 "cpus_online", sysjson_text(root, CPU_DIR "/online"),
			 "cpus_offline", sysjson_list(root, CPU_DIR "/offline"),
			 "uptime_s", uptime_json(root), "loadavg",
			 loadavg_json(root), "container", container_json(root));
}

json_t *settings_json(const char *root, unsigned int cpu)
{
	json_t *json = knobs_json(root, cpu);
	json_t *more = surroundings_json(root);

	if (!json || !more || json_object_update(json, more)) {
		json_decref(json);
		json = NULL;
	}
	json_decref(more);
	return json;
}
