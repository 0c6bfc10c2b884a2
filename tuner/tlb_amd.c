/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMD's TLB leaves: AMD APM vol. 3, appendix E, Fn8000_0005, _0006, _0019 and
 * _0021. Hygon's are the same; Centaur's and Zhaoxin's first level is.
 *
 * In the first-level leaf a byte is the associativity itself. In the others it
 * is a code of four bits, and the sizes of Zen 5 are in units of 32.
 */
#include <config.h>

#include <string.h>

#include "tlb_vendor.h"

#define FULL 0xff

/* Fn8000_0006, _0019: associativity codes; -1: reserved, or for caches only. */
static int ways_of_code(unsigned int code, unsigned int entries)
{
	static const int ways[] = { -1, 1,  2,	3,  4,	6,  8,	 -1,
				    16, -1, 32, 48, 64, 96, 128, -1 };

	return code == 0xf ? (int)entries : ways[code];
}

/* One array of the second level or of 1 GiB pages, as the leaf has it. */
struct field {
	unsigned int entries;
	unsigned int code; /* of its associativity */
};

static struct field low_field(uint32_t reg)
{
	return (struct field){ reg & 0xfff, reg >> 12 & 0xf };
}

static struct field high_field(uint32_t reg)
{
	return low_field(reg >> 16);
}

static void add_field(struct tlb_reader *reader, struct field field,
		      struct tlb tlb)
{
	/* Code 0: switched off. */
	if (field.entries == 0 || field.code == 0)
		return;
	tlb.entries = field.entries;
	tlb.ways = ways_of_code(field.code, field.entries);
	tlb_list_add(reader, tlb);
}

/* The array has half as many entries for 4 MiB pages: each takes two. */
static void add_half(struct tlb_reader *reader, struct field field,
		     struct tlb tlb)
{
	field.entries /= 2;
	tlb.pages = TLB_4M;
	add_field(reader, field, tlb);
}

/* Fn8000_0005: instructions in the low half of the register, data above. */
static void add_first(struct tlb_reader *reader, uint32_t reg,
		      unsigned int pages)
{
	static const enum tlb_kind kinds[] = { TLB_INSTRUCTION, TLB_DATA };
	unsigned int i;

	for (i = 0; i < 2; i++, reg >>= 16) {
		unsigned int entries = reg & 0xff, ways = reg >> 8 & 0xff;
		struct tlb tlb = {
			.kind = kinds[i],
			.level = 1,
			.pages = pages,
			.entries = entries,
			.confidence = TLB_DECODED,
			.leaf = 0x80000005,
		};

		if (entries == 0)
			continue;
		tlb.ways = ways == FULL ? (int)entries : (int)ways;
		tlb_list_add(reader, tlb);
		if (pages != TLB_2M || entries < 2)
			continue;
		tlb.pages = TLB_4M;
		tlb.entries /= 2;
		if (ways == FULL)
			tlb.ways = (int)tlb.entries;
		tlb_list_add(reader, tlb);
	}
}

/*
 * Fn8000_0021 EAX[14], L2TlbSizeX32. KVM does not pass it on, so that a guest
 * of a Zen 5 reads 128 where there are 4096, and some records lack the leaf. No
 * Zen since the first has had fewer than 1024 entries, so fewer on this family
 * means that the bit is hidden.
 */
static unsigned int unit_of_sizes(const struct tlb_reader *reader,
				  uint32_t second_4k,
				  enum tlb_confidence *confidence)
{
	uint32_t reg[4] = { 0 };
	enum tlb_leaf state;

	*confidence = TLB_DECODED;
	if (strcmp(reader->id->vendor, "AuthenticAMD") != 0)
		return 1;
	state = tlb_read(reader, 0x80000021, 0, reg);
	if (state == LEAF_PRESENT && reg[EAX] & 1 << 14)
		return 32;
	if (reader->id->family == 0x1a &&
	    (reader->id->guest == 1 || state == LEAF_MISSING) &&
	    high_field(second_4k).entries < 1024) {
		*confidence = TLB_INFERRED;
		return 32;
	}
	return 1;
}

/* A register of the second level, which is unified where only half is used. */
static void add_second(struct tlb_reader *reader, uint32_t reg,
		       struct tlb template, unsigned int unit)
{
	bool unified = !(reg >> 16);
	struct field field[2] = { low_field(reg), high_field(reg) };
	enum tlb_kind kind[2] = { unified ? TLB_UNIFIED : TLB_INSTRUCTION,
				  TLB_DATA };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		template.kind = kind[i];
		field[i].entries *= unit;
		add_field(reader, field[i], template);
		if (template.pages == TLB_2M)
			add_half(reader, field[i], template);
	}
}

/* Erratum 658: Bulldozer's 1024 8-way entries for instructions read as 0. */
static uint32_t correct_658(const struct identity *id, uint32_t eax)
{
	if (id->family == 0x15 && id->model >= 0 && id->model <= 0x1f &&
	    eax >> 16 && !(eax & 0xffff))
		eax |= 6 << 12 | 1024;
	return eax;
}

static enum tlb_leaf read_second(struct tlb_reader *reader,
				 enum tlb_confidence *confidence,
				 unsigned int *unit)
{
	struct tlb tlb = { .level = 2, .leaf = 0x80000006 };
	uint32_t reg[4];
	enum tlb_leaf state = tlb_read(reader, 0x80000006, 0, reg);

	if (state != LEAF_PRESENT)
		return state;
	*unit = unit_of_sizes(reader, reg[EBX], confidence);
	tlb.confidence = *confidence;
	tlb.pages = TLB_4K;
	add_second(reader, reg[EBX], tlb, *unit);
	tlb.pages = TLB_2M;
	add_second(reader, correct_658(reader->id, reg[EAX]), tlb, *unit);
	return state;
}

/* Fn8000_0019: EAX the first level's arrays for 1 GiB pages, EBX the second. */
static void read_huge(struct tlb_reader *reader, unsigned int unit,
		      enum tlb_confidence confidence)
{
	struct tlb tlb = { .pages = TLB_1G, .leaf = 0x80000019 };
	uint32_t reg[4];

	if (tlb_read(reader, 0x80000019, 0, reg) != LEAF_PRESENT)
		return;
	tlb.level = 1;
	tlb.confidence = TLB_DECODED;
	add_second(reader, reg[EAX], tlb, 1);
	tlb.level = 2;
	tlb.confidence = confidence;
	add_second(reader, reg[EBX], tlb, unit);
}

enum tlb_leaf tlb_read_amd(struct tlb_reader *reader)
{
	enum tlb_confidence confidence = TLB_DECODED;
	unsigned int unit = 1;
	uint32_t reg[4];
	enum tlb_leaf state = tlb_read(reader, 0x80000005, 0, reg), second;

	/* Some hypervisors pass on the second level alone. */
	if (state == LEAF_PRESENT) {
		add_first(reader, reg[EBX], TLB_4K);
		add_first(reader, reg[EAX], TLB_2M);
	}
	second = read_second(reader, &confidence, &unit);
	read_huge(reader, unit, confidence);
	if (second == LEAF_MISSING && state != LEAF_MISSING)
		return LEAF_INCOMPLETE;
	return reader->info->n > 0 ? LEAF_PRESENT : state;
}
