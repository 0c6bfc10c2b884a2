/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines to test on, each as far as the environment record reads it. Written
 * by hand in the formats of the kernel; values are typical, not recorded.
 */
#include <config.h>

#include "tree.h"

/* Four letters as a register holds them. */
#define WORD(a, b, c, d)                                                       \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 |            \
	 (uint32_t)(d) << 24)

/* "GenuineIntel" and "AuthenticAMD" in EBX, ECX, EDX. */
#define INTEL                                                                  \
	WORD('G', 'e', 'n', 'u'), WORD('n', 't', 'e', 'l'),                    \
		WORD('i', 'n', 'e', 'I')
#define AMD                                                                    \
	WORD('A', 'u', 't', 'h'), WORD('c', 'A', 'M', 'D'),                    \
		WORD('e', 'n', 't', 'i')

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A hybrid laptop; the CPU measured is a P-core, 8 is an E-core. -------- */

static const struct tree_file hybrid_files[] = {
	{ "/proc/cpuinfo",
	  "processor\t: 2\nvendor_id\t: GenuineIntel\nmicrocode\t: 0x435\n"
	  "flags\t\t: fpu pcid invpcid ept_ad\nvmx flags\t: pti\n\n"
	  "processor\t: 3\nmicrocode\t: 0x435\nflags\t\t: fpu pcid invpcid\n\n"
	  "processor\t: 8\nmicrocode\t: 0x436\nflags\t\t: fpu pcid invpcid\n" },
	{ "/proc/cmdline", "BOOT_IMAGE=/vmlinuz ro mitigations=off quiet "
			   "mitigations=auto,nosmt -- mitigations=init\n" },
	{ "/proc/sys/kernel/osrelease", "6.8.0-51-generic\n" },
	{ "/proc/sys/kernel/version", "#52-Ubuntu SMP PREEMPT_DYNAMIC\n" },
	{ "/proc/sys/kernel/numa_balancing", "0\n" },
	{ "/proc/self/status",
	  "Name:\ttlb-tune\nCpus_allowed:\tffff\nCpus_allowed_list:\t0-15\n"
	  "Mems_allowed_list:\t0\n" },
	{ "/proc/self/sched", "tlb-tune (4711, #threads: 1)\n-----\n"
			      "se.vruntime                 :        54.28\n"
			      "se.nr_migrations            :            7\n" },
	{ "/proc/self/cgroup",
	  "0::/user.slice/user-1000.slice/session-2.scope\n" },
	{ "/proc/self/ns/pid", "-> pid:[4026531836]" },
	{ "/proc/stat", "cpu  9 0 9 9 9 0 9 0 0 0\n"
			"cpu2 1000 0 500 90000 10 0 20 0 0 0\n"
			"cpu3 2000 100 500 80000 10 30 20 0 0 0\n"
			"cpu8 100 0 100 99000 10 0 0 0 0 0\n"
			"intr 1 2 3\nctxt 4\n" },
	{ "/proc/interrupts",
	  "           CPU2       CPU3       CPU8\n"
	  "NMI:          1          2          3   Non-maskable interrupts\n"
	  "TLB:        100        200        300   TLB shootdowns\n"
	  "ERR:          0\n" },
	{ "/proc/pressure/cpu",
	  "some avg10=0.00 avg60=0.00 avg300=0.00 total=5000000\n"
	  "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" },
	{ "/proc/uptime", "1234.50 9999.00\n" },
	{ "/proc/loadavg", "0.50 0.25 0.125 2/900 4711\n" },
	{ "/sys/devices/system/cpu/vulnerabilities/meltdown",
	  "Not affected\n" },
	{ "/sys/devices/system/cpu/vulnerabilities/spectre_v2",
	  "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional\n" },
	{ "/sys/devices/system/cpu/vulnerabilities/reg_file_data_sampling",
	  "Mitigation: Clear Register File\n" },
	{ "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
	  "powersave\n" },
	{ "/sys/devices/system/cpu/cpu2/cpufreq/scaling_driver",
	  "intel_pstate\n" },
	{ "/sys/devices/system/cpu/cpu2/topology/thread_siblings_list",
	  "2-3\n" },
	{ "/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n" },
	{ "/sys/devices/system/cpu/smt/active", "1\n" },
	{ "/sys/devices/system/cpu/smt/control", "on\n" },
	{ "/sys/devices/system/cpu/online", "0-15\n" },
	{ "/sys/devices/system/cpu/offline", "\n" },
	{ "/sys/devices/system/node/online", "0\n" },
	{ "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	  "tsc\n" },
	{ "/sys/kernel/mm/transparent_hugepage/enabled",
	  "[always] madvise never\n" },
	{ "/sys/kernel/security/lockdown",
	  "none [integrity] confidentiality\n" },
	{ "/sys/kernel/debug/x86/tlb_single_page_flush_ceiling", "33\n" },
	{ "/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n" },
	{ "/sys/fs/cgroup/user.slice/memory.max", "max\n" },
	{ "/sys/fs/cgroup/user.slice/cpu.stat",
	  "usage_usec 1\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n" },
	{ "/sys/fs/cgroup/user.slice/user-1000.slice/memory.max",
	  "8589934592\n" },
	{ 0 },
};

static const struct tree_leaf hybrid_leaves[] = {
	{ 0, { 0x20, INTEL } },
	{ 1, { 0x000906a3, 0, 0, 0 } },
	{ 7, { 0, 0, 0, 1u << 15 } },
	{ 0x1a, { 0x40000001, 0, 0, 0 } },
	{ 0x80000000, { 0x80000008, 0, 0, 0 } },
	{ 0x80000002,
	  { WORD('1', '2', 't', 'h'), WORD(' ', 'G', 'e', 'n'),
	    WORD(' ', 'C', 'o', 'r'), WORD('e', 0, 0, 0) } },
};

const struct tree_machine tree_hybrid = { "hybrid laptop", 2, hybrid_files,
					  hybrid_leaves, COUNT(hybrid_leaves) };

/* A server with INVLPGB and a patched kernel, in a podman container. ---- */

static const struct tree_file epyc_files[] = {
	{ "/proc/cpuinfo", "processor\t: 4\nmicrocode\t: 0xa0011d5\n"
			   "flags\t\t: fpu pcid invpcid\n\n" },
	{ "/proc/cmdline", "root=/dev/sda1 quiet\n" },
	{ "/proc/sys/kernel/osrelease", "6.15.2" },
	{ "/proc/sys/kernel/version", "#1 SMP" },
	{ "/proc/sys/kernel/numa_balancing", "1\n" },
	{ "/proc/sys/vm/tlb_flushall_factor", "-2\n" },
	{ "/proc/sys/vm/tlb_entries", "2048\n" },
	{ "/proc/sys/vm/tlb_flushall_pages", "33\n" },
	{ "/proc/self/status", "Cpus_allowed_list:\t4-7,132-135\n" },
	{ "/proc/self/sched", "se.nr_migrations : 0\n" },
	{ "/proc/self/cgroup", "0::/\n" },
	{ "/proc/self/ns/pid", "-> pid:[4026532500]" },
	{ "/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\ncpu4 0 0 0 0 0 0 0 0 0 0\n"
			"cpu132 0 0 0 0 0 0 0 0 0 0\nintr 0\n" },
	{ "/proc/interrupts",
	  "     CPU4   CPU132\nTLB:  0  0   TLB shootdowns\n" },
	{ "/proc/pressure/cpu",
	  "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" },
	{ "/proc/uptime", "1000000.00 1.00\n" },
	{ "/proc/loadavg", "12.00 11.00 10.00 1/1 1\n" },
	{ "/sys/devices/system/cpu/vulnerabilities/meltdown",
	  "Not affected\n" },
	{ "/sys/devices/system/cpu/cpu4/cpufreq/scaling_governor",
	  "performance\n" },
	{ "/sys/devices/system/cpu/cpu4/cpufreq/scaling_driver",
	  "acpi-cpufreq\n" },
	{ "/sys/devices/system/cpu/cpu4/topology/thread_siblings_list",
	  "4,132\n" },
	{ "/sys/devices/system/cpu/cpufreq/boost", "1\n" },
	{ "/sys/devices/system/cpu/smt/active", "1\n" },
	{ "/sys/devices/system/cpu/smt/control", "on\n" },
	{ "/sys/devices/system/cpu/online", "0-255\n" },
	{ "/sys/devices/system/cpu/offline", "256-511\n" },
	{ "/sys/devices/system/node/online", "0-1,4\n" },
	{ "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	  "tsc\n" },
	{ "/sys/kernel/mm/transparent_hugepage/enabled",
	  "always [madvise] never\n" },
	{ "/sys/kernel/security/lockdown",
	  "[none] integrity confidentiality\n" },
	{ "/sys/fs/cgroup/cpu.max", "150000 100000\n" },
	{ "/sys/fs/cgroup/memory.max", "4294967296\n" },
	{ "/sys/fs/cgroup/cpu.stat", "nr_periods 9\nnr_throttled 3\n" },
	{ "/run/.containerenv", "" },
	{ 0 },
};

static const struct tree_leaf epyc_leaves[] = {
	{ 0, { 0x10, AMD } },
	{ 1, { 0x00a00f11, 0, 0, 0 } },
	{ 0x80000000, { 0x80000023, AMD } },
	{ 0x80000002,
	  { WORD('A', 'M', 'D', ' '), WORD('E', 'P', 'Y', 'C'),
	    WORD(' ', '7', '7', '6'), WORD('3', 0, 0, 0) } },
	{ 0x80000008, { 0, 1u << 3, 0, 7 } },
};

const struct tree_machine tree_epyc = { "server with INVLPGB", 4, epyc_files,
					epyc_leaves, COUNT(epyc_leaves) };

/* A paravirtual guest of Xen with cgroup v1, in a docker container. ------ */

static const struct tree_file xen_files[] = {
	{ "/proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0x49\n"
			   "flags\t\t: fpu hypervisor\n\n" },
	{ "/proc/sys/kernel/osrelease", "6.1.0-31-amd64\n" },
	{ "/proc/self/cgroup",
	  "12:memory:/docker/f00d\n5:cpuset:/docker/f00d\n"
	  "4:cpu,cpuacct:/docker/f00d\n1:name=systemd:/docker/f00d\n0::/\n" },
	{ "/proc/self/ns/pid", "-> pid:[4026532600]" },
	{ "/sys/devices/system/cpu/vulnerabilities/meltdown",
	  "Unknown (XEN PV detected, hypervisor mitigation required)\n" },
	{ "/sys/hypervisor/type", "xen\n" },
	{ "/sys/hypervisor/guest_type", "PV\n" },
	{ "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n" },
	{ "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n" },
	{ "/sys/fs/cgroup/cpu,cpuacct/cpu.stat",
	  "nr_periods 5\nnr_throttled 2\nthrottled_time 1\n" },
	{ "/sys/fs/cgroup/memory/memory.limit_in_bytes",
	  "9223372036854771712\n" },
	{ "/.dockerenv", "" },
	{ 0 },
};

static const struct tree_leaf xen_leaves[] = {
	{ 0, { 0x0d, INTEL } },
	{ 1, { 0x000306f2, 0, 0, 0 } },
};

const struct tree_machine tree_xen = { "guest of Xen", 0, xen_files, xen_leaves,
				       COUNT(xen_leaves) };

/* A guest of KVM with PTI and few files. -------------------------------- */

static const struct tree_file kvm_files[] = {
	{ "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu pcid pti\n" },
	{ "/proc/stat", "cpu  1 1 1 1 1 1 1 1\ncpu0 1 1 1 1 1 1 1 1\nx\n" },
	{ "/sys/devices/system/cpu/cpufreq/boost", "2\n" },
	{ 0 },
};

static const struct tree_leaf kvm_leaves[] = {
	{ 0, { 0x16, INTEL } },
	{ 1, { 0x00050654, 0, 1u << 31, 0 } },
	{ 0x40000000,
	  { 0x40000001, WORD('K', 'V', 'M', 'K'), WORD('V', 'M', 'K', 'V'),
	    WORD('M', 0, 0, 0) } },
	{ 0x40000001, { 1u << 9 | 1u << 5, 0, 0, 0 } },
};

const struct tree_machine tree_kvm = { "guest of KVM", 0, kvm_files, kvm_leaves,
				       COUNT(kvm_leaves) };

/* A container that shows no /sys. ---------------------------------------- */

static const struct tree_file container_files[] = {
	{ "/proc/cpuinfo", "processor\t: 1\nflags\t\t: fpu invpcid\n\n" },
	{ "/proc/sys/kernel/osrelease", "5.15.0\n" },
	{ "/proc/self/status", "Cpus_allowed_list:\t1\n" },
	{ "/proc/self/ns/pid", "-> pid:[1]" },
	{ "/run/systemd/container", "lxc\n" },
	{ 0 },
};

static const struct tree_leaf container_leaves[] = {
	{ 0, { 0x0d, AMD } },
	{ 1, { 0x00870f10, 0, 0, 0 } },
};

const struct tree_machine tree_container = { "container", 1, container_files,
					     container_leaves,
					     COUNT(container_leaves) };
