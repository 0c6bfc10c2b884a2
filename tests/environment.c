/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * environment on machines that are directories: every key, what becomes of it
 * when its file goes, every warning at its threshold, and files that are cut
 * short, huge or garbage.
 */
#include <config.h>

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "environment.h"
#include "sysfile.h"
#include "tap.h"
#include "text.h"
#include "tree.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The parts of a machine that are not files. */
struct fake {
	double seconds;
	struct rusage self, children;
	bool no_usage;
};

static double fake_seconds(void *context)
{
	return ((struct fake *)context)->seconds;
}

static int fake_usage(void *context, int who, struct rusage *usage)
{
	const struct fake *fake = context;

	*usage = who == RUSAGE_SELF ? fake->self : fake->children;
	return fake->no_usage ? -1 : 0;
}

/* The clock hands the frequency over in a field that nothing else uses here. */
static double fake_ghz(const struct clock *clock)
{
	return clock->ns_per_tick;
}

static struct clock fake_clock(double ghz)
{
	return (struct clock){ .source = CLOCK_SOURCE_GETTIME,
			       .ns_per_tick = ghz,
			       .drift_ppm = NAN };
}

static struct environment *open_fake(const struct tree_machine *machine,
				     const char *root, struct fake *fake,
				     double ghz)
{
	const struct environment_source source = {
		.counters = { .root = root,
			      .seconds = fake_seconds,
			      .usage = fake_usage,
			      .context = fake },
		.cpuid = tree_cpuid(machine),
		.core_ghz = fake_ghz,
	};
	const struct clock clock = fake_clock(ghz);

	return environment_open_with(&source, &clock, machine->cpu);
}

/* The record of a machine as its tree is now, without a second reading. */
static json_t *record(const struct tree_machine *machine, const char *root)
{
	struct fake fake = { 0 };
	struct environment *env = open_fake(machine, root, &fake, 2.5);
	json_t *json = environment_json(env);

	environment_close(env);
	return json;
}

/* Every value of a record, as "path/of/keys value", in order. */
static void list_values(const json_t *json, const char *path, FILE *to)
{
	const char *key;
	json_t *value;

	if (!json_is_object(json)) {
		char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT |
						      JSON_REAL_PRECISION(9));

		fprintf(to, "%s %s\n", path, text);
		free(text);
		return;
	}
	json_object_foreach((json_t *)json, key, value) {
		char *below;

		if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", key) < 0)
			abort();
		list_values(value, below, to);
		free(below);
	}
}

static char *values(const json_t *json)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		abort();
	list_values(json, "", to);
	fclose(to);
	return text;
}

/* The value of one path in that list, malloc'ed; NULL: no such path. */
static char *value_at(const char *list, const char *path)
{
	return text_field(list, path);
}

/* Keys ------------------------------------------------------------------ */

struct expected {
	const char *path, *value;
};

static const struct expected hybrid_record[] = {
	{ "cpu/vendor", "\"GenuineIntel\"" },
	{ "cpu/brand", "\"12th Gen Core\"" },
	{ "cpu/family", "6" },
	{ "cpu/model", "154" },
	{ "cpu/stepping", "3" },
	{ "cpu/core_type", "\"performance\"" },
	{ "cpu/microcode", "\"0x435\"" },
	{ "cpu/number", "2" },
	{ "kernel/release", "\"6.8.0-51-generic\"" },
	{ "kernel/version", "\"#52-Ubuntu SMP PREEMPT_DYNAMIC\"" },
	{ "kernel/mitigations_parameter", "\"auto,nosmt\"" },
	{ "pti", "false" },
	{ "pcid", "true" },
	{ "invpcid", "true" },
	{ "invlpgb", "false" },
	{ "invlpgb_max_pages", "null" },
	{ "hypervisor/present", "false" },
	{ "hypervisor/signature", "null" },
	{ "hypervisor/guest_type", "null" },
	{ "hypervisor/pv_tlb_flush", "false" },
	{ "mitigations/meltdown", "\"Not affected\"" },
	{ "mitigations/spectre_v2",
	  "\"Mitigation: Enhanced / Automatic IBRS; IBPB: conditional\"" },
	{ "governor", "\"powersave\"" },
	{ "scaling_driver", "\"intel_pstate\"" },
	{ "turbo", "true" },
	{ "thp", "\"always\"" },
	{ "smt/active", "true" },
	{ "smt/control", "\"on\"" },
	{ "clocksource", "\"tsc\"" },
	{ "lockdown", "\"integrity\"" },
	{ "numa_nodes", "1" },
	{ "numa_balancing", "0" },
	{ "tlb_single_page_flush_ceiling/pages", "33" },
	{ "tlb_single_page_flush_ceiling/why", "null" },
	{ "sysctl/vm.tlb_flushall_factor", "null" },
	{ "sysctl/vm.tlb_entries", "null" },
	{ "sysctl/vm.tlb_flushall_pages", "null" },
	{ "cgroup/version", "2" },
	{ "cgroup/cpu_max", "\"max 100000\"" },
	{ "cgroup/memory_max", "\"8589934592\"" },
	{ "cpus_allowed", "\"0-15\"" },
	{ "cpus_online", "\"0-15\"" },
	{ "cpus_offline", "\"\"" },
	{ "uptime_s", "1234.5" },
	{ "loadavg", "[0.5,0.25,0.125]" },
	{ "container/pid_namespace", "\"initial\"" },
	{ "container/hint", "null" },
	{ "frequency/before_ghz", "2.5" },
	{ "frequency/after_ghz", "null" },
	{ "noise", "null" },
};

static const struct expected epyc_record[] = {
	{ "cpu/vendor", "\"AuthenticAMD\"" },
	{ "cpu/brand", "\"AMD EPYC 7763\"" },
	{ "cpu/family", "25" },
	{ "cpu/model", "1" },
	{ "cpu/core_type", "null" },
	{ "cpu/microcode", "\"0xa0011d5\"" },
	{ "kernel/release", "\"6.15.2\"" },
	{ "kernel/mitigations_parameter", "\"\"" },
	{ "invlpgb", "true" },
	{ "invlpgb_max_pages", "8" },
	{ "governor", "\"performance\"" },
	{ "turbo", "true" },
	{ "thp", "\"madvise\"" },
	{ "lockdown", "\"none\"" },
	{ "numa_nodes", "3" },
	{ "numa_balancing", "1" },
	{ "tlb_single_page_flush_ceiling/pages", "null" },
	{ "tlb_single_page_flush_ceiling/why", "\"no debugfs\"" },
	{ "sysctl/vm.tlb_flushall_factor", "-2" },
	{ "sysctl/vm.tlb_entries", "2048" },
	{ "sysctl/vm.tlb_flushall_pages", "33" },
	{ "cgroup/version", "2" },
	{ "cgroup/cpu_max", "\"150000 100000\"" },
	{ "cgroup/memory_max", "\"4294967296\"" },
	{ "cpus_allowed", "\"4-7,132-135\"" },
	{ "cpus_offline", "\"256-511\"" },
	{ "container/pid_namespace", "\"other\"" },
	{ "container/hint", "\"podman\"" },
};

static const struct expected xen_record[] = {
	{ "cpu/brand", "null" },
	{ "cpu/model", "63" },
	{ "kernel/mitigations_parameter", "null" },
	{ "pti", "false" },
	{ "pcid", "false" },
	{ "hypervisor/present", "true" },
	{ "hypervisor/signature", "\"XenVMMXenVMM\"" },
	{ "hypervisor/guest_type", "\"PV\"" },
	{ "hypervisor/pv_tlb_flush", "true" },
	{ "cgroup/version", "1" },
	{ "cgroup/cpu_max", "\"50000 100000\"" },
	{ "cgroup/memory_max", "\"max\"" },
	{ "container/hint", "\"docker\"" },
};

static const struct expected kvm_record[] = {
	{ "cpu/model", "85" },
	{ "cpu/microcode", "null" },
	{ "pti", "true" },
	{ "pcid", "true" },
	{ "invpcid", "false" },
	{ "mitigations", "null" },
	{ "hypervisor/present", "true" },
	{ "hypervisor/signature", "\"KVMKVMKVM\"" },
	{ "hypervisor/pv_tlb_flush", "true" },
	{ "turbo", "null" },
	{ "cgroup/version", "null" },
	{ "container/pid_namespace", "null" },
};

static const struct expected container_record[] = {
	{ "cpu/family", "23" },
	{ "cpu/model", "113" },
	{ "kernel/release", "\"5.15.0\"" },
	{ "pti", "false" },
	{ "pcid", "false" },
	{ "invpcid", "true" },
	{ "mitigations", "null" },
	{ "governor", "null" },
	{ "thp", "null" },
	{ "cpus_allowed", "\"1\"" },
	{ "cpus_online", "null" },
	{ "cpus_offline", "null" },
	{ "container/pid_namespace", "\"other\"" },
	{ "container/hint", "\"lxc\"" },
};

static void test_record(const struct tree_machine *machine,
			const struct expected *expected, size_t n)
{
	char *root = tree_open();
	char *list;
	json_t *json;
	size_t i;

	tree_fill(root, machine);
	json = record(machine, root);
	list = values(json);
	for (i = 0; i < n; i++) {
		char *got = value_at(list, expected[i].path);

		is_string(got, expected[i].value, "%s: %s", machine->name,
			  expected[i].path);
		free(got);
	}
	free(list);
	json_decref(json);
	tree_close(root);
}

/* The paths in a list of values, without those that differ by machine. */
static char *paths(const char *list)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	const char *line;

	if (!to)
		abort();
	for (line = list; *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, "mitigations", 11) != 0)
			fprintf(to, "%.*s ", (int)strcspn(line, " "), line);
	fclose(to);
	return text;
}

/* A reader finds every key on every machine, known or not. */
static void test_shape(void)
{
	static const struct tree_machine none = { .name = "nothing known" };
	static const struct tree_machine *const others[] = {
		&tree_epyc, &tree_xen, &tree_kvm, &tree_container, &none
	};
	char *root = tree_open(), *want, *list;
	json_t *json;
	size_t i;

	tree_fill(root, &tree_hybrid);
	json = record(&tree_hybrid, root);
	list = values(json);
	want = paths(list);
	free(list);
	json_decref(json);
	tree_close(root);
	for (i = 0; i < COUNT(others); i++) {
		char *got;

		root = tree_open();
		if (others[i]->files)
			tree_fill(root, others[i]);
		json = record(others[i], root);
		list = values(json);
		got = paths(list);
		is_string(got, want, "%s: the same keys", others[i]->name);
		free(got);
		free(list);
		json_decref(json);
		tree_close(root);
	}
	free(want);
}

/* No files and no CPUID: nothing but null. */
static void test_nothing(void)
{
	static const struct tree_machine none = { .cpu = 3 };
	char *root = tree_open();
	json_t *json = record(&none, root);
	char *list = values(json);
	size_t known = 0;
	char *line, *rest;

	for (line = strtok_r(list, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *value = strchr(line, ' ') + 1;

		if (!strcmp(value, "null"))
			continue;
		if (strcmp(line, "cpu/number 3") != 0 &&
		    strcmp(line, "frequency/before_ghz 2.5") != 0 &&
		    strcmp(line, "warnings []") != 0 &&
		    strcmp(line, "tlb_single_page_flush_ceiling/why "
				 "\"no debugfs\"") != 0) {
			diag("%s", line);
			known++;
		}
	}
	is_int(known, 0, "a machine that tells nothing is unknown");
	free(list);
	json_decref(json);
	tree_close(root);
}

/* What each file is read for: without it these are null, and only these. */
static const struct expected hybrid_sources[] = {
	{ "/proc/cpuinfo", "cpu/microcode pcid invpcid" },
	{ "/proc/cmdline", "kernel/mitigations_parameter" },
	{ "/proc/sys/kernel/osrelease", "kernel/release" },
	{ "/proc/sys/kernel/version", "kernel/version" },
	{ "/proc/sys/kernel/numa_balancing", "numa_balancing" },
	{ "/proc/self/status", "cpus_allowed" },
	{ "/proc/self/cgroup",
	  "cgroup/version cgroup/cpu_max cgroup/memory_max" },
	{ "/proc/self/ns/pid", "container/pid_namespace" },
	{ "/proc/uptime", "uptime_s" },
	{ "/proc/loadavg", "loadavg" },
	{ "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "governor" },
	{ "/sys/devices/system/cpu/cpu2/cpufreq/scaling_driver",
	  "scaling_driver" },
	{ "/sys/devices/system/cpu/intel_pstate/no_turbo", "turbo" },
	{ "/sys/devices/system/cpu/smt/active", "smt/active" },
	{ "/sys/devices/system/cpu/smt/control", "smt/control" },
	{ "/sys/devices/system/cpu/online", "cpus_online" },
	{ "/sys/devices/system/cpu/offline", "cpus_offline" },
	{ "/sys/devices/system/node/online", "numa_nodes" },
	{ "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	  "clocksource" },
	{ "/sys/kernel/mm/transparent_hugepage/enabled", "thp" },
	{ "/sys/kernel/security/lockdown", "lockdown" },
	{ "/sys/kernel/debug/x86/tlb_single_page_flush_ceiling",
	  "tlb_single_page_flush_ceiling/pages" },
	{ "/sys/fs/cgroup/user.slice/cpu.max", "cgroup/cpu_max" },
};

static const struct expected epyc_sources[] = {
	{ "/proc/sys/vm/tlb_flushall_factor", "sysctl/vm.tlb_flushall_factor" },
	{ "/proc/sys/vm/tlb_entries", "sysctl/vm.tlb_entries" },
	{ "/proc/sys/vm/tlb_flushall_pages", "sysctl/vm.tlb_flushall_pages" },
	{ "/sys/devices/system/cpu/cpufreq/boost", "turbo" },
	{ "/sys/fs/cgroup/cpu.max", "cgroup/cpu_max" },
	{ "/sys/fs/cgroup/memory.max", "cgroup/memory_max" },
	{ "/run/.containerenv", "container/hint" },
};

/* How many values differ, or have gone, other than to null as named. */
static int compare_without(const char *before, const char *after,
			   const char *named)
{
	const char *line;
	int wrong = 0;

	for (line = before; *line; line = strchr(line, '\n') + 1) {
		char *path = strndup(line, strcspn(line, " "));
		char *was = value_at(before, path);
		char *is = value_at(after, path);
		const char *want = text_has_word(named, path) ? "null" : was;

		/* Why there is no ceiling comes with there being none. */
		if ((!is || strcmp(is, want) != 0) &&
		    strcmp(path, "tlb_single_page_flush_ceiling/why") != 0 &&
		    strcmp(path, "warnings") != 0) {
			diag("%s: %s, not %s", path, is, want);
			wrong++;
		}
		free(is);
		free(was);
		free(path);
	}
	return wrong;
}

static void test_sources(const struct tree_machine *machine,
			 const struct expected *sources, size_t n)
{
	char *root = tree_open();
	char *before;
	json_t *json;
	size_t i;

	tree_fill(root, machine);
	json = record(machine, root);
	before = values(json);
	json_decref(json);
	for (i = 0; i < n; i++) {
		const struct tree_file *file = machine->files;
		char *after;

		while (strcmp(file->path, sources[i].path) != 0)
			file++;
		tree_remove(root, file->path);
		json = record(machine, root);
		after = values(json);
		is_int(compare_without(before, after, sources[i].value), 0,
		       "%s without %s", machine->name, file->path);
		free(after);
		json_decref(json);
		tree_write(root, file->path, file->text);
	}
	free(before);
	tree_close(root);
}

/* Give a machine one other file, and look at one value. */
static void is_value(const struct tree_machine *machine, const char *path,
		     const char *text, const char *key, const char *want)
{
	char *root = tree_open();
	json_t *json;
	char *list, *got;

	tree_fill(root, machine);
	tree_write(root, path, text);
	json = record(machine, root);
	list = values(json);
	got = value_at(list, key);
	is_string(got, want, "%s: %s after other %s", machine->name, key, path);
	free(got);
	free(list);
	json_decref(json);
	tree_close(root);
}

static void test_variants(void)
{
	static const char meltdown[] =
		"/sys/devices/system/cpu/vulnerabilities/meltdown";
	struct tree_machine e_core = tree_hybrid;

	is_value(&tree_hybrid, meltdown, "Mitigation: PTI\n", "pti", "true");
	is_value(&tree_container, meltdown, "Mitigation: PTI", "pti", "true");
	is_value(&tree_kvm, meltdown, "Vulnerable\n", "pti", "true");
	is_value(&tree_kvm, "/proc/cpuinfo", "", "pti", "null");
	is_value(&tree_xen, "/proc/cpuinfo", "", "pti", "null");
	is_value(&tree_hybrid, "/proc/cpuinfo", "", "pti", "false");
	is_value(&tree_hybrid, "/sys/devices/system/cpu/intel_pstate/no_turbo",
		 "1\n", "turbo", "false");
	is_value(&tree_epyc, "/sys/devices/system/cpu/cpufreq/boost", "0\n",
		 "turbo", "false");
	is_value(&tree_kvm, "/sys/devices/system/cpu/cpu0/microcode/version",
		 "0x2b\n", "cpu/microcode", "\"0x2b\"");
	is_value(&tree_xen, "/sys/hypervisor/guest_type", "HVM\n",
		 "hypervisor/pv_tlb_flush", "false");
	is_value(&tree_xen, "/sys/hypervisor/guest_type", "",
		 "hypervisor/pv_tlb_flush", "null");
	is_value(&tree_kvm, "/proc/cmdline", "x mitigations=off\n",
		 "kernel/mitigations_parameter", "\"off\"");
	is_value(&tree_hybrid, "/sys/devices/system/node/online", "0,x\n",
		 "numa_nodes", "null");
	is_value(&tree_hybrid,
		 "/sys/kernel/debug/x86/tlb_single_page_flush_ceiling", "x\n",
		 "tlb_single_page_flush_ceiling/why", "\"not a number\"");
	is_value(&tree_epyc, "/sys/kernel/debug/x86/pat_memtype_list", "",
		 "tlb_single_page_flush_ceiling/why",
		 "\"no such knob in this kernel\"");
	is_value(&tree_epyc, "/run/systemd/container", "docker\n",
		 "container/hint", "\"docker\"");

	e_core.cpu = 8;
	is_value(&e_core, "/nothing", "", "cpu/microcode", "\"0x436\"");
	is_value(&e_core, "/nothing", "", "governor", "null");
	e_core.cpu = 9;
	is_value(&e_core, "/nothing", "", "pcid", "null");
}

/* What only root may read. */
static void test_forbidden(void)
{
	static const char path[] =
		"/sys/kernel/debug/x86/tlb_single_page_flush_ceiling";
	char *root = tree_open(), *name, *list, *why;
	json_t *json;
	uid_t uid = geteuid();

	tree_fill(root, &tree_hybrid);
	if (asprintf(&name, "%s%s", root, path) < 0)
		abort();
	chmod(name, 0);
	chmod(root, 0755);
	if (!uid && seteuid(65534)) {
		skip(1, "root cannot be given up");
	} else {
		json = record(&tree_hybrid, root);
		list = values(json);
		why = value_at(list, "tlb_single_page_flush_ceiling/why");
		is_string(why, "\"EACCES (not root?)\"",
			  "a ceiling that may not be read");
		free(why);
		free(list);
		json_decref(json);
		if (seteuid(uid))
			abort();
	}
	free(name);
	tree_close(root);
}

/* Warnings -------------------------------------------------------------- */

/* True if one of the warnings contains text. */
static bool warned(const json_t *json, const char *text)
{
	const json_t *warnings = json_object_get(json, "warnings");
	size_t i;

	for (i = 0; i < json_array_size(warnings); i++)
		if (strstr(json_string_value(json_array_get(warnings, i)),
			   text))
			return true;
	return false;
}

/* A run of 100 s in which some counters change. */
struct run {
	const struct tree_machine *machine;
	const char *path, *text; /* of the file that changes */
	struct rusage self, children;
	double before_ghz, after_ghz;
	double drift_ppm;
};

/* A quiet run on a machine about which there is nothing to say. */
static const struct run quiet = { .machine = &tree_container,
				  .before_ghz = 4,
				  .after_ghz = 4,
				  .drift_ppm = 0 };

static json_t *run_record(const struct run *run)
{
	struct clock clock = fake_clock(run->after_ghz);
	struct fake fake = { .seconds = 1000 };
	struct environment *env;
	char *root = tree_open();
	json_t *json;

	tree_fill(root, run->machine);
	env = open_fake(run->machine, root, &fake, run->before_ghz);
	if (run->path)
		tree_write(root, run->path, run->text);
	fake.seconds += 100;
	fake.self = run->self;
	fake.children = run->children;
	clock.drift_ppm = run->drift_ppm;
	environment_finish(env, &clock);
	json = environment_json(env);
	environment_close(env);
	tree_close(root);
	return json;
}

/* The warning is there, or is not. */
static void is_warned(const struct run *run, const char *text, bool want,
		      const char *name)
{
	json_t *json = run_record(run);

	ok(warned(json, text) == want, "%s: %swarned of", name,
	   want ? "" : "not ");
	json_decref(json);
}

/* Both sides of the threshold, by the text of one file. */
static void test_threshold(const char *path, const char *at, const char *above,
			   const char *text, const char *name)
{
	struct run run = quiet;

	run.machine = &tree_epyc;
	run.path = path;
	run.text = at;
	is_warned(&run, text, false, name);
	run.text = above;
	is_warned(&run, text, true, name);
}

#define STAT(cpu4, cpu132)                                                     \
	"cpu  0 0 0 0 0 0 0 0\ncpu4 " cpu4 " 0 0\ncpu132 " cpu132              \
	" 0 0\nintr 0\n"

static void test_counters(void)
{
	/* One tick is 10 ms, so that 100 s have 10000. */
	if (sysconf(_SC_CLK_TCK) != 100) {
		skip(4, "not 100 ticks a second");
	} else {
		test_threshold("/proc/stat",
			       STAT("0 0 0 0 0 0 0 100", "0 0 0 0 0 0 0 900"),
			       STAT("0 0 0 0 0 0 0 101", "0 0 0 0 0 0 0 0"),
			       "steal 1.0 % of CPU 4", "steal of 1 %");
		test_threshold("/proc/stat",
			       STAT("9000 0 0 0 0 0 0 0",
				    "500 100 200 9000 9000 100 100 90"),
			       STAT("9000 0 0 0 0 0 0 0",
				    "500 100 200 9000 9000 101 100 90"),
			       "SMT sibling CPU 132 busy 10.0 %",
			       "SMT sibling busy for 10 %");
	}
	test_threshold("/proc/pressure/cpu", "some total=5000000\n",
		       "some total=5000001\n", "CPU pressure 5.0 %",
		       "CPU pressure of 5 %");
	test_threshold("/proc/self/sched", "se.nr_migrations : 0\n",
		       "se.nr_migrations : 1\n", "1 migrations", "migration");
	test_threshold("/sys/fs/cgroup/cpu.stat", "nr_throttled 3\n",
		       "nr_throttled 4\n",
		       "throttled 1 times (cpu.max 150000 100000)",
		       "throttling");
}

static void test_rates(void)
{
	static const char switches[] = "involuntary switches per second";
	static const char frequency[] = "frequency 4.00 GHz before, ";
	struct run run = quiet;

	run.self.ru_nivcsw = 1500;
	run.children.ru_nivcsw = 500;
	run.self.ru_nvcsw = run.children.ru_nvcsw = 5000;
	is_warned(&run, switches, false, "20 switches per second");
	run.children.ru_nivcsw = 501;
	is_warned(&run, switches, true, "more, the children's included");

	run = quiet;
	run.after_ghz = 4.119;
	is_warned(&run, frequency, false, "frequency up by 2.98 %");
	run.after_ghz = 4.121;
	is_warned(&run, frequency, true, "frequency up by 3.03 %");
	run.after_ghz = 3.879;
	is_warned(&run, frequency, true, "frequency down by 3.03 %");
	run.after_ghz = NAN;
	is_warned(&run, "frequency", false, "an unknown frequency");

	run = quiet;
	run.drift_ppm = 500;
	is_warned(&run, "TSC drift", false, "TSC drift of 500 ppm");
	run.drift_ppm = 501;
	is_warned(&run, "TSC drift 501 ppm", true, "TSC drift of 501 ppm");
	run.drift_ppm = -501;
	is_warned(&run, "TSC drift -501 ppm", true, "TSC drift of -501 ppm");
	run.drift_ppm = NAN;
	is_warned(&run, "TSC drift", false, "an unknown drift");
}

/* Each governor that Linux has. */
static void test_governors(void)
{
	static const struct {
		const char *name;
		bool warn;
	} governors[] = {
		{ "performance", false }, { "userspace", false },
		{ "powersave", true },	  { "schedutil", true },
		{ "ondemand", true },	  { "conservative", true },
	};
	size_t i;

	for (i = 0; i < COUNT(governors); i++) {
		char *root = tree_open();
		json_t *json;

		tree_write(root,
			   "/sys/devices/system/cpu/cpu1/cpufreq/"
			   "scaling_governor",
			   governors[i].name);
		json = record(&tree_container, root);
		ok(warned(json, "governor ") == governors[i].warn,
		   "governor %s: %swarned of", governors[i].name,
		   governors[i].warn ? "" : "not ");
		json_decref(json);
		tree_close(root);
	}
}

static void test_hypervisors(void)
{
	struct run run = quiet;

	is_warned(&run, "guest", false, "no hypervisor");
	is_warned(&run, "paravirtual", false, "no hypervisor that flushes");
	run.machine = &tree_kvm;
	is_warned(&run, "guest: measured under KVM", true, "a guest");
	is_warned(&run, "paravirtual TLB flush", true, "PV flush");
	run.machine = &tree_xen;
	is_warned(&run, "guest: measured under Xen", true, "a guest of Xen");

	run.machine = &tree_hybrid;
	is_warned(&run, "INVLPGB", false, "no INVLPGB");
	run.machine = &tree_epyc;
	is_warned(&run, "INVLPGB (up to 8 pages)", true, "INVLPGB");
}

/* INVLPGB goes unused by old kernels, and without PCID. */
static void test_invlpgb(void)
{
	static const struct {
		const char *path, *text;
		bool warn;
	} machines[] = {
		{ "/proc/sys/kernel/osrelease", "6.14.9", false },
		{ "/proc/sys/kernel/osrelease", "5.19.0", false },
		{ "/proc/sys/kernel/osrelease", "7.0.0", true },
		{ "/proc/sys/kernel/osrelease", "unknown", true },
		{ "/proc/cpuinfo", "processor : 4\nflags : fpu\n", false },
		{ "/proc/cpuinfo", "", true },
	};
	size_t i;

	for (i = 0; i < COUNT(machines); i++) {
		char *root = tree_open();
		json_t *json;

		tree_fill(root, &tree_epyc);
		tree_write(root, machines[i].path, machines[i].text);
		json = record(&tree_epyc, root);
		ok(warned(json, "INVLPGB") == machines[i].warn,
		   "INVLPGB with %s of '%.6s': %swarned of", machines[i].path,
		   machines[i].text, machines[i].warn ? "" : "not ");
		json_decref(json);
		tree_close(root);
	}
}

static void test_quiet(void)
{
	json_t *json = run_record(&quiet);
	const json_t *noise = json_object_get(json, "noise");
	json_t *never = record(&tree_container, "/nonexistent");

	is_int(json_array_size(json_object_get(json, "warnings")), 0,
	       "nothing to warn of");
	is_double(json_number_value(json_object_get(noise, "seconds")), 100,
		  1e-9, "how long the run took");
	is_int(json_integer_value(
		       json_object_get(noise, "involuntary_switches")),
	       0, "no switches");
	ok(json_is_null(json_object_get(noise, "migrations")),
	   "migrations that are not counted are unknown");
	is_int(json_array_size(json_object_get(never, "warnings")), 0,
	       "what is unknown is not warned of");
	json_decref(never);
	json_decref(json);
}

/* Bad files ------------------------------------------------------------- */

/* The record can be made, printed, and read back. */
static bool survives(const struct tree_machine *machine, const char *root)
{
	struct clock clock = fake_clock(2);
	struct fake fake = { .no_usage = true };
	struct environment *env = open_fake(machine, root, &fake, 2);
	json_t *json, *again;
	char *text, *printed = NULL;
	size_t len;
	FILE *to = open_memstream(&printed, &len);
	bool same;

	if (!env || !to)
		return false;
	fake.seconds = 1;
	environment_finish(env, &clock);
	json = environment_json(env);
	text = json_dumps(json, 0);
	again = text ? json_loads(text, 0, NULL) : NULL;
	same = again && json_equal(json, again);
	environment_print(json, to);
	fclose(to);
	json_decref(again);
	json_decref(json);
	environment_close(env);
	free(printed);
	free(text);
	return same;
}

static void test_truncation(const struct tree_machine *machine)
{
	char *root = tree_open();
	const struct tree_file *file;
	int failed = 0;

	tree_fill(root, machine);
	for (file = machine->files; file->path; file++) {
		size_t whole = strlen(file->text), len;
		size_t step = whole / 16 + 1;

		if (!strncmp(file->text, "-> ", 3))
			continue;
		for (len = 0; len < whole; len += step) {
			tree_put(root, file->path, file->text, len);
			failed += !survives(machine, root);
		}
		tree_write(root, file->path, file->text);
	}
	is_int(failed, 0, "%s: files cut short", machine->name);
	tree_close(root);
}

/* Bytes of a file replaced at random, NUL and newline among them. */
static void test_corruption(const struct tree_machine *machine)
{
	unsigned short state[3] = { 4, 5, 6 };
	char *root = tree_open();
	const struct tree_file *file;
	int failed = 0, i;

	tree_fill(root, machine);
	for (file = machine->files; file->path; file++) {
		size_t len = strlen(file->text);
		char *text = malloc(len + 1);

		if (!text || !strncmp(file->text, "-> ", 3)) {
			free(text);
			continue;
		}
		for (i = 0; i < 8; i++) {
			size_t k;

			memcpy(text, file->text, len + 1);
			for (k = 0; k < len; k++)
				if (nrand48(state) % 4 < i)
					text[k] = (char)nrand48(state);
			tree_put(root, file->path, text, len);
			failed += !survives(machine, root);
		}
		free(text);
		tree_write(root, file->path, file->text);
	}
	is_int(failed, 0, "%s: files with random bytes", machine->name);
	tree_close(root);
}

static void test_bytes(void)
{
	static const char governor[] =
		"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
	static const struct {
		const char *text, *want;
	} bytes[] = {
		{ "caf\xe9", "\"caf\\\\xe9\"" },
		{ "caf\xc3\xa9", "\"caf\xc3\xa9\"" },
		{ "\x1b[31mred", "\"\\\\x1b[31mred\"" },
		{ "tab\there", "\"tab\\\\x09here\"" },
		{ "two\nlines", "\"two\"" },
		{ "", "null" },
		{ "\n", "null" },
	};
	size_t i;

	for (i = 0; i < COUNT(bytes); i++)
		is_value(&tree_container, governor, bytes[i].text, "governor",
			 bytes[i].want);
	is_value(&tree_hybrid, "/sys/devices/system/cpu/vulnerabilities/b\xe4r",
		 "Sick", "mitigations/b\\xe4r", "\"Sick\"");
}

/* Text that repeats line, with its number put in, n times. */
static char *repeated(const char *first, const char *before, const char *after,
		      unsigned int n, const char *last)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	unsigned int i;

	if (!to)
		abort();
	fputs(first, to);
	for (i = 0; i < n; i++)
		fprintf(to, "%s%u%s", before, i, after);
	fputs(last, to);
	fclose(to);
	return text;
}

static void test_size(void)
{
	struct tree_machine large = tree_container;
	char *cpuinfo = repeated("", "processor\t: ",
				 "\nmicrocode\t: 0x99\nflags\t: fpu pcid\n\n",
				 4096, "");
	char *stat = repeated("cpu  1 1 1 1 1 1 1 1 1 1\n", "cpu",
			      " 100 100 100 100 100 100 100 0 0 0\n", 4096,
			      "intr 1\n");
	char *garbage = malloc(20 << 20);
	char *root = tree_open();
	json_t *json;

	large.cpu = 4095;
	tree_write(root, "/proc/cpuinfo", cpuinfo);
	tree_write(root, "/proc/stat", stat);
	json = record(&large, root);
	is_string(json_string_value(json_object_get(
			  json_object_get(json, "cpu"), "microcode")),
		  "0x99", "the last of 4096 CPUs");
	json_decref(json);
	ok(survives(&large, root), "/proc/stat of 4096 CPUs");
	tree_close(root);

	memset(garbage, 'x', 20 << 20);
	root = tree_open();
	tree_put(root, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
		 garbage, 20 << 20);
	tree_put(root, "/proc/cpuinfo", garbage, 20 << 20);
	tree_put(root, "/proc/sys/kernel/osrelease", garbage, 8192);
	tree_put(root, "/sys/devices/system/cpu/online/file", "", 0);
	json = record(&tree_container, root);
	ok(json_is_null(json_object_get(json, "governor")) &&
		   json_is_null(json_object_get(json, "pcid")) &&
		   json_is_null(json_object_get(json_object_get(json, "kernel"),
						"release")) &&
		   json_is_null(json_object_get(json, "cpus_online")),
	   "no value is that long, and none is a directory");
	json_decref(json);
	tree_close(root);
	free(garbage);
	free(stat);
	free(cpuinfo);
}

/* Text ------------------------------------------------------------------ */

static void is_printed(const json_t *json, const char *want, const char *name)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		abort();
	environment_print(json, to);
	fclose(to);
	is_string(text, want, "printed: %s", name);
	free(text);
}

static void test_print(void)
{
	struct run run = quiet;
	json_t *json;

	run.machine = &tree_hybrid;
	run.path = "/nothing";
	run.text = "";
	run.after_ghz = 3.1;
	json = run_record(&run);
	is_printed(json,
		   "CPU      12th Gen Core, family 6 model 154 stepping 3, "
		   "performance core, microcode 0x435, 3.10 to 4.00 GHz seen\n"
		   "Kernel   6.8.0-51-generic, PTI off, PCID on, INVPCID on, "
		   "INVLPGB no, THP always, 2 mitigations "
		   "(mitigations=auto,nosmt)\n"
		   "Warning  governor powersave (intel_pstate): the frequency "
		   "follows the load, and times follow it\n"
		   "Warning  frequency 4.00 GHz before, 3.10 GHz after "
		   "(22.5 %): early and late samples differ\n",
		   "a laptop");
	json_decref(json);

	run = quiet;
	run.machine = &tree_kvm;
	run.after_ghz = 4.001;
	json = run_record(&run);
	is_printed(json,
		   "CPU      GenuineIntel, family 6 model 85 stepping 4, "
		   "microcode n/a, 4.00 GHz seen\n"
		   "Kernel   n/a, PTI on, PCID on, INVPCID off, INVLPGB no, "
		   "THP n/a, mitigations n/a\n"
		   "Guest    KVM, paravirtual TLB flush\n"
		   "Warning  guest: measured under KVM, holds for guests like "
		   "this one only\n"
		   "Warning  paravirtual TLB flush: the hypervisor, no IPI, "
		   "flushes CPUs it has stopped\n",
		   "a guest");
	json_decref(json);

	json = json_pack("{s:s, s:{s:[], s:s}, s:{s:b, s:s}, s:[i, s]}", "pti",
			 "maybe", "cpu", "brand", "vendor", "\x1b]0;title\x07",
			 "hypervisor", "present", 1, "signature", "NoSuchHyper",
			 "warnings", 1, "w");
	is_printed(json,
		   "CPU      ?]0;title?, family n/a model n/a stepping n/a, "
		   "microcode n/a, frequency n/a\n"
		   "Kernel   n/a, PTI n/a, PCID n/a, INVPCID n/a, INVLPGB n/a, "
		   "THP n/a, mitigations n/a\n"
		   "Guest    NoSuchHyper, n/a TLB flush\n"
		   "Warning  n/a\n"
		   "Warning  w\n",
		   "something of another shape");
	json_decref(json);
	is_printed(NULL,
		   "CPU      n/a, family n/a model n/a stepping n/a, "
		   "microcode n/a, frequency n/a\n"
		   "Kernel   n/a, PTI n/a, PCID n/a, INVPCID n/a, INVLPGB n/a, "
		   "THP n/a, mitigations n/a\n"
		   "Guest    n/a\n",
		   "nothing");
}

/* This machine ---------------------------------------------------------- */

static char *allowed(void)
{
	char *status = sysfile_read("", "/proc/self/status");
	char *list = status ? text_field(status, "Cpus_allowed_list") : NULL;

	free(status);
	return list;
}

static void test_this_machine(void)
{
	char *before = allowed(), *after;
	int cpu = sched_getcpu();
	struct environment *env;
	struct clock clock;
	json_t *json;

	clock_init(&clock, "");
	env = environment_open("", &clock, cpu < 0 ? 0 : (unsigned int)cpu);
	if (!ok(env, "this machine's record"))
		return;
	environment_finish(env, &clock);
	json = environment_json(env);
	after = allowed();
	is_string(after, before, "left on the CPUs it was allowed");
	ok(json_is_number(json_object_get(json_object_get(json, "frequency"),
					  "before_ghz")),
	   "a frequency");
	ok(json_is_object(json_object_get(json, "noise")), "noise");
	ok(json_is_string(
		   json_object_get(json_object_get(json, "cpu"), "vendor")),
	   "a vendor");
	environment_print(json, stderr);
	free(after);
	free(before);
	json_decref(json);
	environment_close(env);
	environment_close(NULL);
}

/* A CPU that does not exist cannot be measured, and is not. */
static void test_no_such_cpu(void)
{
	struct environment *env;
	struct clock clock;
	json_t *json, *ghz;

	clock_init(&clock, "");
	env = environment_open("", &clock, 1000000);
	json = environment_json(env);
	ghz = json_object_get(json_object_get(json, "frequency"), "before_ghz");
	ok(json_is_null(ghz), "no frequency of a CPU that is not there");
	json_decref(json);
	environment_close(env);
}

int main(void)
{
	static const struct tree_machine *const machines[] = {
		&tree_hybrid, &tree_epyc, &tree_xen, &tree_kvm, &tree_container
	};
	size_t i;

	test_record(&tree_hybrid, hybrid_record, COUNT(hybrid_record));
	test_record(&tree_epyc, epyc_record, COUNT(epyc_record));
	test_record(&tree_xen, xen_record, COUNT(xen_record));
	test_record(&tree_kvm, kvm_record, COUNT(kvm_record));
	test_record(&tree_container, container_record, COUNT(container_record));
	test_shape();
	test_nothing();
	test_sources(&tree_hybrid, hybrid_sources, COUNT(hybrid_sources));
	test_sources(&tree_epyc, epyc_sources, COUNT(epyc_sources));
	test_variants();
	test_forbidden();
	test_counters();
	test_rates();
	test_governors();
	test_hypervisors();
	test_invlpgb();
	test_quiet();
	for (i = 0; i < COUNT(machines); i++) {
		test_truncation(machines[i]);
		test_corruption(machines[i]);
	}
	test_bytes();
	test_size();
	test_print();
	test_this_machine();
	test_no_such_cpu();
	return done();
}
