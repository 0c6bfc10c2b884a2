/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine: what results are keyed on. The same CPU with another kernel, other
 * mitigations or another hypervisor is another machine.
 */
#ifndef TLBTUNE_MACHINE_H
#define TLBTUNE_MACHINE_H

#include <jansson.h>

#include "identity.h"

/*
 * The first part of the object `environment`, read below root, for the CPU
 * number cpu whose identity is id. Unknown is null:
 *
 *  cpu			vendor, brand, family, model, stepping, core_type
 *			(performance or efficiency; null unless hybrid),
 *			microcode (text), number (which CPU was measured)
 *  kernel		release, version, mitigations_parameter (what follows
 *			mitigations= on the command line, "" if it has none)
 *  pti, pcid, invpcid	in use by the kernel
 *  invlpgb		the CPU has it; invlpgb_max_pages
 *  hypervisor		present, signature, guest_type (of Xen), pv_tlb_flush
 *  mitigations		per vulnerability, what the kernel says
 *
 * NULL on ENOMEM.
 */
json_t *machine_json(const char *root, unsigned int cpu,
		     const struct identity *id);

#endif
