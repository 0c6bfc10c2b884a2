/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUID leaf 2: up to 15 one-byte descriptors, each a cache, a TLB or two.
 *
 * Sources: [SDM] Intel SDM vol. 2A, CPUID, "Encoding of CPUID Leaf 2
 * Descriptors"; [AN] Intel application note 485, table 2-7, for the
 * associativity of what the former leaves open; [OPT] Intel optimization
 * reference manual. Linux (cpuid_0x2_table.c) does not know 0x64, 0xA0, 0xC3
 * and 0xC4, which is why its boot log has no second level from Broadwell on.
 */
#include <config.h>

#include "tlb_vendor.h"

#define LARGE (TLB_2M | TLB_4M)

struct descriptor {
	uint8_t code;
	uint8_t kind;
	uint8_t level;
	uint8_t pages;
	uint16_t entries;
	int16_t ways; /* 0: fully associative; -1: not told */
};

/*
 * Levels: what Intel calls TLB0 or uTLB is 0, "shared 2nd-level" is 2, all else
 * 1. 0x5A is called TLB0, but is the first level's array for large pages on all
 * that have it (Nehalem to Ivy Bridge [OPT]).
 */
static const struct descriptor descriptors[] = {
	{ 0x01, TLB_INSTRUCTION, 1, TLB_4K, 32, 4 },
	{ 0x02, TLB_INSTRUCTION, 1, TLB_4M, 2, 0 },
	{ 0x03, TLB_DATA, 1, TLB_4K, 64, 4 },
	{ 0x04, TLB_DATA, 1, TLB_4M, 8, 4 },
	{ 0x05, TLB_DATA, 1, TLB_4M, 32, 4 },
	{ 0x0b, TLB_INSTRUCTION, 1, TLB_4M, 4, 4 },
	{ 0x4f, TLB_INSTRUCTION, 1, TLB_4K, 32, -1 },
	/* 0x50 to 0x52 and 0x5B to 0x5D: fully associative [AN] */
	{ 0x50, TLB_INSTRUCTION, 1, TLB_4K | LARGE, 64, 0 },
	{ 0x51, TLB_INSTRUCTION, 1, TLB_4K | LARGE, 128, 0 },
	{ 0x52, TLB_INSTRUCTION, 1, TLB_4K | LARGE, 256, 0 },
	{ 0x55, TLB_INSTRUCTION, 1, LARGE, 7, 0 },
	{ 0x56, TLB_DATA, 0, TLB_4M, 16, 4 },
	{ 0x57, TLB_DATA, 0, TLB_4K, 16, 4 },
	{ 0x59, TLB_DATA, 0, TLB_4K, 16, 0 },
	{ 0x5a, TLB_DATA, 1, LARGE, 32, 4 },
	{ 0x5b, TLB_DATA, 1, TLB_4K | TLB_4M, 64, 0 },
	{ 0x5c, TLB_DATA, 1, TLB_4K | TLB_4M, 128, 0 },
	{ 0x5d, TLB_DATA, 1, TLB_4K | TLB_4M, 256, 0 },
	{ 0x61, TLB_INSTRUCTION, 1, TLB_4K, 48, 0 },
	{ 0x63, TLB_DATA, 1, LARGE, 32, 4 },
	{ 0x63, TLB_DATA, 1, TLB_1G, 4, 4 },
	{ 0x64, TLB_DATA, 1, TLB_4K, 512, 4 },
	{ 0x6a, TLB_DATA, 0, TLB_4K, 64, 8 },
	{ 0x6b, TLB_DATA, 1, TLB_4K, 256, 8 },
	{ 0x6c, TLB_DATA, 1, LARGE, 128, 8 },
	{ 0x6d, TLB_DATA, 1, TLB_1G, 16, 0 },
	{ 0x76, TLB_INSTRUCTION, 1, LARGE, 8, 0 },
	{ 0xa0, TLB_DATA, 1, TLB_4K, 32, 0 },
	{ 0xb0, TLB_INSTRUCTION, 1, TLB_4K, 128, 4 },
	{ 0xb1, TLB_INSTRUCTION, 1, TLB_2M, 8, 4 },
	{ 0xb1, TLB_INSTRUCTION, 1, TLB_4M, 4, 4 },
	{ 0xb2, TLB_INSTRUCTION, 1, TLB_4K, 64, 4 },
	{ 0xb3, TLB_DATA, 1, TLB_4K, 128, 4 },
	{ 0xb4, TLB_DATA, 1, TLB_4K, 256, 4 },
	{ 0xb5, TLB_INSTRUCTION, 1, TLB_4K, 64, 8 },
	{ 0xb6, TLB_INSTRUCTION, 1, TLB_4K, 128, 8 },
	{ 0xba, TLB_DATA, 1, TLB_4K, 64, 4 },
	/*
	 * 4K and 4M, and 4K and 2M [SDM]; but both come beside a larger array
	 * for 4K (0xBA in Bonnell, 0xB3 in Silvermont) and are the ones for
	 * large pages.
	 */
	{ 0xc0, TLB_DATA, 1, TLB_4M, 8, 4 },
	{ 0xc2, TLB_DATA, 1, TLB_2M, 16, 4 },
	{ 0xc1, TLB_UNIFIED, 2, TLB_4K | TLB_2M, 1024, 8 },
	{ 0xc3, TLB_UNIFIED, 2, TLB_4K | TLB_2M, 1536, 6 },
	{ 0xc3, TLB_UNIFIED, 2, TLB_1G, 16, 4 },
	{ 0xc4, TLB_DATA, 1, LARGE, 32, 4 },
	{ 0xca, TLB_UNIFIED, 2, TLB_4K, 512, 4 },
};

#define IN_LEAF_18 0xfe

/*
 * Silvermont to Goldmont list 32 entries (0xA0) and 128 or 512 (0xB3, 0xB4,
 * 0x64) side by side. They are levels: Goldmont Plus has the same sizes in leaf
 * 0x18, as levels 1 and 2.
 */
static bool is_behind_a0(uint8_t code)
{
	return code == 0xb3 || code == 0xb4 || code == 0x64;
}

/* The four registers' bytes; false where bit 31 says that there are none. */
static bool byte_of(const uint32_t reg[4], unsigned int i, uint8_t *byte)
{
	*byte = (uint8_t)(reg[i / 4] >> 8 * (i % 4));
	return !(reg[i / 4] & 1u << 31);
}

static bool has(const uint32_t reg[4], uint8_t code)
{
	uint8_t byte;
	unsigned int i;

	for (i = 1; i < 16; i++)
		if (byte_of(reg, i, &byte) && byte == code)
			return true;
	return false;
}

/* 0xC3 is the same size with other ways since Skylake [OPT]. */
static int ways_of(const struct descriptor *d, const struct identity *id)
{
	bool broadwell = id->model == 0x3d || id->model == 0x47 ||
			 id->model == 0x4f || id->model == 0x56;

	if (d->code == 0xc3 && d->pages & TLB_4K && !broadwell)
		return 12;
	return d->ways ? d->ways : d->entries;
}

static void add(struct tlb_reader *reader, const uint32_t reg[4], uint8_t code)
{
	size_t i;

	for (i = 0; i < sizeof(descriptors) / sizeof(*descriptors); i++) {
		const struct descriptor *d = &descriptors[i];

		if (d->code != code)
			continue;
		tlb_list_add(reader,
			     (struct tlb){
				     .kind = (enum tlb_kind)d->kind,
				     .level = is_behind_a0(code) &&
							      has(reg, 0xa0) ?
						      2 :
						      d->level,
				     .pages = d->pages,
				     .entries = d->entries,
				     .ways = ways_of(d, reader->id),
				     .confidence = TLB_DECODED,
				     .leaf = 2,
				     .selector = code,
			     });
	}
}

enum tlb_leaf tlb_read_leaf_2(struct tlb_reader *reader, bool *elsewhere)
{
	uint32_t reg[4];
	enum tlb_leaf state = tlb_read(reader, 2, 0, reg);
	uint8_t code;
	unsigned int i;

	*elsewhere = false;
	if (state != LEAF_PRESENT)
		return state;
	/*
	 * AL: how often to execute CPUID for all descriptors. All CPUs say 1,
	 * and later manuals define nothing else.
	 */
	if ((reg[EAX] & 0xff) != 1) {
		reader->info->odd = "AL of CPUID leaf 2 is not 1";
		return LEAF_NONSENSE;
	}
	*elsewhere = has(reg, IN_LEAF_18);
	for (i = 1; i < 16; i++)
		if (byte_of(reg, i, &code) && code)
			add(reader, reg, code);
	return LEAF_PRESENT;
}
