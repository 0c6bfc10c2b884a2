/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "warnings.h"

/* Above these, a disturbance is worth a line. */
#define STEAL_PERCENT 1
#define PRESSURE_PERCENT 5
#define SIBLING_PERCENT 10
#define FREQUENCY_PERCENT 3
#define SWITCHES_PER_S 20
#define DRIFT_PPM 500

struct warnings {
	json_t *list;
	bool failed;
};

__attribute__((format(printf, 2, 3))) static void warn(struct warnings *to,
						       const char *format, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0) {
		to->failed = true;
		return;
	}
	if (json_array_append_new(to->list, json_string(text)))
		to->failed = true;
	free(text);
}

static const char *string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

const char *warnings_hypervisor(const char *signature)
{
	static const char *const names[][2] = {
		{ "KVMKVMKVM", "KVM" },
		{ "Microsoft Hv", "Hyper-V" },
		{ "XenVMMXenVMM", "Xen" },
		{ "VMwareVMware", "VMware" },
		{ "VBoxVBoxVBox", "VirtualBox" },
		{ "TCGTCGTCGTCG", "QEMU without KVM" },
		{ "bhyve bhyve ", "bhyve" },
		{ "ACRNACRNACRN", "ACRN" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(signature, names[i][0]))
			return names[i][1];
	return signature;
}

static void warn_of_guest(struct warnings *to, const json_t *record)
{
	const json_t *hypervisor = json_object_get(record, "hypervisor");
	const char *signature = string(hypervisor, "signature");

	if (!json_is_true(json_object_get(hypervisor, "present")))
		return;
	warn(to,
	     "guest: measured under %s, holds for guests like this one only",
	     signature ? warnings_hypervisor(signature) :
			 "an unknown hypervisor");
	if (json_is_true(json_object_get(hypervisor, "pv_tlb_flush")))
		warn(to,
		     "paravirtual TLB flush: the hypervisor, no IPI, flushes CPUs it has stopped");
}

/* Linux broadcasts flushes since 6.15, with PCID only. */
static bool broadcasts(const json_t *record)
{
	const char *release =
		string(json_object_get(record, "kernel"), "release");
	unsigned int major, minor;

	if (!json_is_true(json_object_get(record, "invlpgb")) ||
	    json_is_false(json_object_get(record, "pcid")))
		return false;
	if (!release || sscanf(release, "%u.%u", &major, &minor) != 2)
		return true;
	return major > 6 || (major == 6 && minor >= 15);
}

static void warn_of_machine(struct warnings *to, const json_t *record)
{
	/* These choose the frequency by load. */
	static const char *const by_load[] = { "powersave", "schedutil",
					       "ondemand", "conservative" };
	const char *governor = string(record, "governor");
	const char *driver = string(record, "scaling_driver");
	size_t i;

	warn_of_guest(to, record);
	if (broadcasts(record))
		warn(to,
		     "INVLPGB (up to %.0f pages): may replace the IPIs of processes on 4 or more CPUs",
		     report_get(record, "invlpgb_max_pages"));
	for (i = 0; governor && i < sizeof(by_load) / sizeof(*by_load); i++)
		if (!strcmp(governor, by_load[i]))
			warn(to,
			     "governor %s (%s): the frequency follows the load, and times follow it",
			     governor, driver ? driver : "unknown driver");
}

static void warn_of_frequency(struct warnings *to, const json_t *record,
			      double drift_ppm)
{
	const json_t *frequency = json_object_get(record, "frequency");
	double before = report_get(frequency, "before_ghz");
	double after = report_get(frequency, "after_ghz");
	double percent = 100 * fabs(after / before - 1);

	if (percent > FREQUENCY_PERCENT)
		warn(to,
		     "frequency %.2f GHz before, %.2f GHz after (%.1f %%): early and late samples differ",
		     before, after, percent);
	if (fabs(drift_ppm) > DRIFT_PPM)
		warn(to,
		     "TSC drift %.0f ppm: its rate is no longer what it was calibrated to",
		     drift_ppm);
}

static void warn_of_noise(struct warnings *to, const json_t *record,
			  const struct noise *noise, unsigned int cpu)
{
	double switches = noise->involuntary / noise->seconds;
	const char *cpu_max =
		string(json_object_get(record, "cgroup"), "cpu_max");

	if (noise->steal_percent > STEAL_PERCENT)
		warn(to,
		     "steal %.1f %% of CPU %u: the hypervisor ran others on it, and in its TLB",
		     noise->steal_percent, cpu);
	if (noise->cpu_pressure_percent > PRESSURE_PERCENT)
		warn(to,
		     "CPU pressure %.1f %%: for so long a task had to wait for a CPU",
		     noise->cpu_pressure_percent);
	if (switches > SWITCHES_PER_S && noise->seconds > 0)
		warn(to,
		     "%.0f involuntary switches per second: each let another task use the TLB",
		     switches);
	if (noise->migrations > 0)
		warn(to, "%.0f migrations between CPUs: each onto a cold TLB",
		     noise->migrations);
	if (noise->sibling_busy_percent > SIBLING_PERCENT)
		warn(to,
		     "SMT sibling CPU %d busy %.1f %%: it shares TLB and page walkers with CPU %u",
		     noise->sibling, noise->sibling_busy_percent, cpu);
	if (noise->throttled > 0)
		warn(to,
		     "throttled %.0f times (cpu.max %s): samples contain the waits",
		     noise->throttled, cpu_max ? cpu_max : "unknown");
}

json_t *warnings_json(const json_t *record, const struct noise *noise,
		      unsigned int cpu, double drift_ppm)
{
	struct warnings warnings = { .list = json_array() };

	if (!warnings.list)
		return NULL;
	warn_of_machine(&warnings, record);
	warn_of_frequency(&warnings, record, drift_ppm);
	if (noise)
		warn_of_noise(&warnings, record, noise, cpu);
	if (warnings.failed) {
		json_decref(warnings.list);
		return NULL;
	}
	return warnings.list;
}
