/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>

#include "affinity.h"
#include "bound.h"
#include "sysfile.h"
#include "why.h"

bool bound_to(unsigned int cpu)
{
	struct affinity affinity;
	bool bound;

	if (affinity_get(&affinity) < 0)
		return false;
	bound = CPU_COUNT_S(affinity.size, affinity.set) == 1 &&
		CPU_ISSET_S(cpu, affinity.size, affinity.set);
	CPU_FREE(affinity.set);
	return bound;
}

/* False where that is not known. */
static bool is_offline(const char *root, unsigned int cpu)
{
	char *text = sysfile_read(root, "/sys/devices/system/cpu/online");
	hwloc_bitmap_t online = hwloc_bitmap_alloc();
	bool offline = text && online &&
		       hwloc_bitmap_list_sscanf(online, text) == 0 &&
		       !hwloc_bitmap_iszero(online) &&
		       !hwloc_bitmap_isset(online, cpu);

	hwloc_bitmap_free(online);
	free(text);
	return offline;
}

int bound_lost(const char *root, unsigned int cpu, char **why)
{
	if (is_offline(root, cpu))
		return why_set(why, ECANCELED,
			       "CPU %u went offline while it was measured",
			       cpu);
	return why_set(why, ECANCELED,
		       "the thread bound to CPU %u was let run on others "
		       "meanwhile: its affinity was changed, or the CPU was "
		       "offline for a while",
		       cpu);
}

int bound_check(const char *root, unsigned int cpu, char **why)
{
	return bound_to(cpu) ? 0 : bound_lost(root, cpu, why);
}
