/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cpuid_types.h"
#include "fuzz.h"

/* Not assert: this is what the fuzzer is for. */
static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_tlb(const struct tlb *tlb)
{
	require(tlb->entries >= 1 && tlb->entries <= TLB_MAX_ENTRIES);
	require(tlb->pages >= 1 && tlb->pages <= 15);
	require(tlb->ways == -1 ||
		(tlb->ways >= 1 &&
		 tlb->entries % (unsigned int)tlb->ways == 0));
}

static void check_types(const struct cpuid_types *types)
{
	for (size_t i = 0; i < types->n; i++) {
		const struct tlb_info *info = &types->type[i].tlb;

		require(info->why);
		require(info->entries > 0 || info->entries == -1);
		require((info->entries == -1) ==
			(info->confidence == TLB_UNKNOWN));
		for (size_t k = 0; k < info->n; k++)
			check_tlb(&info->tlb[k]);
	}
}

void fuzz_record(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1), *why = NULL;
	struct cpuid_machine machine;
	struct cpuid_types types;

	require(text);
	memcpy(text, data, size);
	if (cpuid_parse(text, &machine, &why) == 0) {
		require(machine.n >= 1 && !why);
		require(cpuid_types_find(&machine, &types) == 0);
		check_types(&types);
		cpuid_types_free(&types);
	} else {
		require(why && strlen(why) < 300);
	}
	cpuid_free(&machine);
	free(why);
	free(text);
}
