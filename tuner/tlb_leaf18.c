/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUID leaf 0x18, deterministic address translation parameters (Intel SDM vol.
 * 2A, CPUID): one array a sub-leaf. Goldmont Plus, Ice Lake and later, and
 * Zhaoxin's KH-40000 have it.
 *
 *  EAX	of sub-leaf 0: the highest sub-leaf
 *  EBX	[3:0] pages of 4K, 2M, 4M, 1G; [31:16] ways
 *  ECX	sets
 *  EDX	[4:0] type, [7:5] level, [8] fully associative
 */
#include <config.h>

#include "tlb_vendor.h"

/*
 * CPUs have up to 8. A count beyond this is not a count, and nothing is known
 * of what follows it.
 */
#define MAX_SUBLEAF 255

/* The type of a sub-leaf as a kind; -1: none that is defined. */
static int kind_of(uint32_t edx)
{
	static const enum tlb_kind kinds[] = {
		[1] = TLB_DATA, [2] = TLB_INSTRUCTION, [3] = TLB_UNIFIED,
		[4] = TLB_LOAD, [5] = TLB_STORE,
	};
	uint32_t type = edx & 0x1f;

	if (type == 0 || type >= sizeof(kinds) / sizeof(*kinds))
		return -1;
	return (int)kinds[type];
}

/* A null sub-leaf (type 0) says nothing, not even that it is the last. */
static bool is_null(const uint32_t reg[4])
{
	return (reg[EDX] & 0x1f) == 0;
}

static void add(struct tlb_reader *reader, unsigned int subleaf,
		const uint32_t reg[4])
{
	uint64_t ways = reg[EBX] >> 16;
	uint64_t entries = ways * reg[ECX];
	int kind = kind_of(reg[EDX]);

	if (kind < 0) {
		reader->info->odd = "a TLB of an unknown type is left out";
		return;
	}
	if (entries > TLB_MAX_ENTRIES)
		entries = TLB_MAX_ENTRIES + 1;
	tlb_list_add(reader, (struct tlb){
				     .kind = (enum tlb_kind)kind,
				     .level = reg[EDX] >> 5 & 7,
				     .pages = reg[EBX] & 0xf,
				     .entries = (unsigned int)entries,
				     .ways = reg[EDX] & 1 << 8 ? (int)entries :
								 (int)ways,
				     .confidence = TLB_DECODED,
				     .leaf = 0x18,
				     .selector = subleaf,
			     });
}

enum tlb_leaf tlb_read_leaf_18(struct tlb_reader *reader)
{
	size_t before = reader->info->n;
	uint32_t reg[4], last, i;
	enum tlb_leaf state = tlb_read(reader, 0x18, 0, reg);

	if (state != LEAF_PRESENT)
		return state;
	last = reg[EAX];
	if (last > MAX_SUBLEAF) {
		reader->info->odd =
			"CPUID leaf 0x18 claims more than 255 sub-leaves";
		return LEAF_NONSENSE;
	}
	state = LEAF_EMPTY;
	for (i = 0; i <= last; i++) {
		enum tlb_leaf one = tlb_read(reader, 0x18, i, reg);

		if (one == LEAF_MISSING) {
			state = LEAF_INCOMPLETE;
			continue;
		}
		if (one == LEAF_PRESENT && !is_null(reg))
			add(reader, i, reg);
	}
	if (state == LEAF_EMPTY && reader->info->n > before)
		state = LEAF_PRESENT;
	else if (state == LEAF_EMPTY && reader->info->odd)
		state = LEAF_NONSENSE;
	return state;
}
