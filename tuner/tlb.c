/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tlb_vendor.h"

const char *const tlb_kind_name[] = {
	[TLB_DATA] = "data",	   [TLB_LOAD] = "load",
	[TLB_STORE] = "store",	   [TLB_INSTRUCTION] = "instruction",
	[TLB_UNIFIED] = "unified",
};

const char *const tlb_confidence_name[] = {
	[TLB_UNKNOWN] = "unknown",
	[TLB_DECODED] = "decoded",
	[TLB_INFERRED] = "inferred",
};

enum tlb_leaf tlb_read(const struct tlb_reader *reader, uint32_t leaf,
		       uint32_t subleaf, uint32_t reg[4])
{
	const struct identity_source *source = reader->source;
	uint32_t base = leaf & 0x80000000, range[4];

	/* Beyond the highest leaf Intel answers with another leaf's data. */
	if (source->read(source->context, base, 0, range) < 0)
		return LEAF_MISSING;
	if (range[EAX] < leaf || range[EAX] >= base + 0x10000)
		return LEAF_ABSENT;
	if (source->read(source->context, leaf, subleaf, reg) < 0)
		return LEAF_MISSING;
	if (!(reg[EAX] | reg[EBX] | reg[ECX] | reg[EDX]))
		return LEAF_EMPTY;
	return LEAF_PRESENT;
}

void tlb_list_add(struct tlb_reader *reader, struct tlb tlb)
{
	struct tlb_info *info = reader->info;
	struct tlb *larger;

	/* No TLB of any CPU so far has a tenth of this. */
	if (tlb.entries > TLB_MAX_ENTRIES) {
		info->odd = "a TLB of more than 65536 entries is left out";
		return;
	}
	if (tlb.entries == 0 || tlb.pages == 0) {
		info->odd = "a TLB without entries or page sizes is left out";
		return;
	}
	/*
	 * Zen servers say 6-way of 2048 entries: the array is a skewed one.
	 * So is what a guest is told after its hypervisor has edited it.
	 */
	if (tlb.ways < 1 || tlb.entries % (unsigned int)tlb.ways != 0)
		tlb.ways = -1;
	larger = reallocarray(info->tlb, info->n + 1, sizeof(*larger));
	if (!larger) {
		reader->failed = true;
		return;
	}
	info->tlb = larger;
	info->tlb[info->n++] = tlb;
}

static bool serves_loads(const struct tlb *tlb, enum tlb_pages page)
{
	return tlb->pages & page &&
	       (tlb->kind == TLB_DATA || tlb->kind == TLB_LOAD ||
		tlb->kind == TLB_UNIFIED);
}

int tlb_entries(const struct tlb_info *info, unsigned int level,
		enum tlb_pages page)
{
	unsigned int sum = 0;
	size_t i;

	for (i = 0; i < info->n; i++)
		if (info->tlb[i].level == level &&
		    serves_loads(&info->tlb[i], page))
			sum += info->tlb[i].entries;
	return sum > 0 && sum <= TLB_MAX_ENTRIES ? (int)sum : -1;
}

int tlb_last_level(const struct tlb_info *info, enum tlb_pages page)
{
	int last = -1;
	size_t i;

	for (i = 0; i < info->n; i++)
		if (serves_loads(&info->tlb[i], page) &&
		    (int)info->tlb[i].level > last)
			last = (int)info->tlb[i].level;
	return last;
}

/* Find E in the list, unless it is settled that it cannot be known. */
static void find_entries(struct tlb_info *info, bool guest)
{
	int level = tlb_last_level(info, TLB_4K);
	size_t i;

	if (info->why)
		return;
	if (level >= 0)
		info->entries = tlb_entries(info, (unsigned int)level, TLB_4K);
	if (info->entries < 0) {
		info->why = info->n > 0 ?
				    "CPUID describes no data TLB for 4 KiB "
				    "pages" :
				    "CPUID describes no TLB";
		return;
	}
	info->confidence = TLB_DECODED;
	for (i = 0; i < info->n; i++) {
		const struct tlb *tlb = &info->tlb[i];

		if ((int)tlb->level != level || !serves_loads(tlb, TLB_4K))
			continue;
		if (tlb->confidence == TLB_INFERRED)
			info->confidence = TLB_INFERRED;
		switch (tlb->leaf) {
		case 0x2:
			info->why = "CPUID leaf 2";
			break;
		case 0x18:
			info->why = "CPUID leaf 0x18";
			break;
		case 0x80000005:
			info->why = "CPUID leaf 0x80000005; no second level is "
				    "described";
			break;
		default:
			info->why = "CPUID leaf 0x80000006";
			break;
		}
	}
	if (info->confidence == TLB_INFERRED)
		info->why = guest ? "CPUID leaf 0x80000006 counts in units of "
				    "32 on this family; the hypervisor hides "
				    "the bit that says so" :
				    "CPUID leaf 0x80000006 counts in units of "
				    "32 on this family; the record lacks the "
				    "leaf that says so";
}

/* What leaf 2 and leaf 0x18 together leave to be said. */
static const char *why_not_leaf_18(enum tlb_leaf leaf_18, bool guest)
{
	switch (leaf_18) {
	case LEAF_ABSENT:
		return "CPUID leaf 2 refers to leaf 0x18, which is beyond the "
		       "highest leaf";
	case LEAF_MISSING:
		return "CPUID leaf 2 refers to leaf 0x18, which the record "
		       "lacks";
	case LEAF_EMPTY:
		return guest ? "CPUID leaf 2 refers to leaf 0x18, which the "
			       "hypervisor has zeroed" :
			       "CPUID leaf 2 refers to leaf 0x18, which is "
			       "empty";
	case LEAF_NONSENSE:
		return "CPUID leaf 2 refers to leaf 0x18, which makes no sense";
	case LEAF_INCOMPLETE:
	case LEAF_PRESENT:
		break;
	}
	return NULL;
}

static const char *why_not_leaf_2(enum tlb_leaf leaf_2, bool guest)
{
	switch (leaf_2) {
	case LEAF_ABSENT:
		return "CPUID has no leaf 2";
	case LEAF_MISSING:
		return "the record lacks CPUID leaf 2";
	case LEAF_EMPTY:
		return guest ? "CPUID leaf 2 has been zeroed by the hypervisor" :
			       "CPUID leaf 2 is empty";
	case LEAF_NONSENSE:
		return "CPUID leaf 2 does not have the one form that is "
		       "defined";
	case LEAF_INCOMPLETE:
	case LEAF_PRESENT:
		break;
	}
	return NULL;
}

/* Leaf 0x18 where it says anything, else leaf 2. */
static void decode_intel(struct tlb_reader *reader)
{
	enum tlb_leaf leaf_18 = tlb_read_leaf_18(reader);
	bool guest = reader->id->guest == 1, elsewhere;
	enum tlb_leaf leaf_2;

	if (leaf_18 == LEAF_PRESENT)
		return;
	if (leaf_18 == LEAF_INCOMPLETE) {
		reader->info->why =
			"the record lacks sub-leaves of CPUID leaf 0x18";
		return;
	}
	leaf_2 = tlb_read_leaf_2(reader, &elsewhere);
	reader->info->why = elsewhere ? why_not_leaf_18(leaf_18, guest) :
					why_not_leaf_2(leaf_2, guest);
}

static void decode_amd_leaves(struct tlb_reader *reader)
{
	bool guest = reader->id->guest == 1;

	switch (tlb_read_amd(reader)) {
	case LEAF_ABSENT:
		reader->info->why = "CPUID has no leaf 0x80000005";
		break;
	case LEAF_MISSING:
		reader->info->why = "the record lacks CPUID leaf 0x80000005";
		break;
	case LEAF_INCOMPLETE:
		reader->info->why = "the record lacks CPUID leaf 0x80000006";
		break;
	case LEAF_EMPTY:
		reader->info->why =
			guest ? "CPUID leaf 0x80000005 has been zeroed by the "
				"hypervisor" :
				"CPUID leaf 0x80000005 is empty";
		break;
	default:
		break;
	}
}

/*
 * All of AMD's CPUs since the K7 have a second level, so that a guest which is
 * shown none does not know the last one.
 */
static void decode_amd(struct tlb_reader *reader)
{
	struct tlb_info *info = reader->info;

	decode_amd_leaves(reader);
	if (!info->why && reader->id->guest == 1 &&
	    tlb_entries(info, 1, TLB_4K) > 0 &&
	    tlb_entries(info, 2, TLB_4K) < 0)
		info->why = "the second level of CPUID leaf 0x80000006 has "
			    "been zeroed by the hypervisor";
}

/*
 * Centaur (VIA) and Zhaoxin have AMD's first-level leaf, and later ones leaf
 * 0x18 as well. Their leaf 2 lists TLBs that are not there.
 */
static void decode_zhaoxin(struct tlb_reader *reader)
{
	switch (tlb_read_leaf_18(reader)) {
	case LEAF_PRESENT:
		break;
	case LEAF_INCOMPLETE:
		reader->info->why =
			"the record lacks sub-leaves of CPUID leaf 0x18";
		break;
	default:
		decode_amd_leaves(reader);
		break;
	}
}

/* By level, then kind; the registers have them in no order. */
static int compare(const void *left, const void *right)
{
	const struct tlb *a = left, *b = right;

	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->pages != b->pages)
		return a->pages < b->pages ? -1 : 1;
	if (a->leaf != b->leaf)
		return a->leaf < b->leaf ? -1 : 1;
	return a->selector < b->selector ? -1 : a->selector > b->selector;
}

int tlb_decode(const struct identity_source *source, const struct identity *id,
	       struct tlb_info *out)
{
	static const struct {
		const char *vendor;
		void (*decode)(struct tlb_reader *reader);
	} vendors[] = {
		{ "GenuineIntel", decode_intel },
		{ "AuthenticAMD", decode_amd },
		{ "HygonGenuine", decode_amd },
		{ "CentaurHauls", decode_zhaoxin },
		{ "  Shanghai  ", decode_zhaoxin },
	};
	struct tlb_reader reader = { .source = source, .id = id };
	bool known = false;
	size_t i;

	*out = (struct tlb_info){ .entries = -1, .confidence = TLB_UNKNOWN };
	reader.info = out;
	for (i = 0; i < sizeof(vendors) / sizeof(*vendors); i++) {
		if (strcmp(id->vendor, vendors[i].vendor) != 0)
			continue;
		known = true;
		vendors[i].decode(&reader);
	}
	if (reader.failed) {
		tlb_free(out);
		return -1;
	}
	if (!known)
		out->why = id->vendor[0] ?
				   "nothing is known of this vendor's TLB "
				   "leaves" :
				   "the vendor of the CPU is unknown";
	if (out->n > 1)
		qsort(out->tlb, out->n, sizeof(*out->tlb), compare);
	find_entries(out, id->guest == 1);
	return 0;
}

void tlb_free(struct tlb_info *info)
{
	free(info->tlb);
	*info = (struct tlb_info){ .entries = -1 };
}
