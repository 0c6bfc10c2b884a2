/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings: how the machine is set up, and how much of it this process has.
 */
#ifndef TLBTUNE_SETTINGS_H
#define TLBTUNE_SETTINGS_H

#include <jansson.h>

/*
 * The second part of the object `environment`, read below root, for the CPU
 * number cpu. Unknown is null:
 *
 *  governor, scaling_driver	of that CPU
 *  turbo		allowed
 *  thp			always, madvise or never
 *  smt			active, control
 *  clocksource
 *  lockdown		none, integrity or confidentiality
 *  numa_nodes, numa_balancing
 *  tlb_single_page_flush_ceiling	pages; why it cannot be read
 *  sysctl		vm.tlb_flushall_factor, vm.tlb_entries,
 *			vm.tlb_flushall_pages: knobs of a patched kernel
 *  cgroup		version; cpu_max and memory_max, the tightest limits, as
 *			v2 writes them whichever version it is
 *  cpus_allowed, cpus_online, cpus_offline	lists
 *  uptime_s, loadavg	at the start
 *  container		pid_namespace (initial, other); hint, the runtime that
 *			left its mark
 *
 * NULL on ENOMEM.
 */
json_t *settings_json(const char *root, unsigned int cpu);

/*
 * What container runtimes leave behind, null for none: its absence proves
 * nothing.
 */
json_t *settings_container_hint(const char *root);

/*
 * "initial", or "other": the kernel knows our processes by numbers that are not
 * those we see. NULL: unknown.
 */
const char *settings_pid_namespace(const char *root);

#endif
