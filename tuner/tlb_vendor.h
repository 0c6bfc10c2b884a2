/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tlb_vendor: the parts of tlb_decode. Each reads the leaves of one scheme and
 * appends what they describe; what is there to be said of E, beyond the list,
 * goes into info->why.
 */
#ifndef TLBTUNE_TLB_VENDOR_H
#define TLBTUNE_TLB_VENDOR_H

#include <stdbool.h>

#include "tlb.h"

enum { EAX, EBX, ECX, EDX };

/* What is being decoded. */
struct tlb_reader {
	const struct identity_source *source;
	const struct identity *id;
	struct tlb_info *info;
	bool failed; /* ENOMEM */
};

/* What a leaf turned out to be. */
enum tlb_leaf {
	LEAF_ABSENT,	 /* beyond the highest leaf of its range */
	LEAF_MISSING,	 /* the CPU has it and the record does not */
	LEAF_EMPTY,	 /* all zero, or nothing but null entries */
	LEAF_NONSENSE,	 /* info->odd says why */
	LEAF_INCOMPLETE, /* the record has only a part */
	LEAF_PRESENT,
};

/* Read a leaf: LEAF_ABSENT, _MISSING, _EMPTY or _PRESENT. */
enum tlb_leaf tlb_read(const struct tlb_reader *reader, uint32_t leaf,
		       uint32_t subleaf, uint32_t reg[4]);

/* Append; what cannot be is left out, and noted as odd. */
void tlb_list_add(struct tlb_reader *reader, struct tlb tlb);

/* Intel leaf 0x18. */
enum tlb_leaf tlb_read_leaf_18(struct tlb_reader *reader);

/* Intel leaf 2; *elsewhere: it refers to leaf 0x18. */
enum tlb_leaf tlb_read_leaf_2(struct tlb_reader *reader, bool *elsewhere);

/* AMD's leaves 0x80000005, 6, 0x19 and 0x21, which others have as well. */
enum tlb_leaf tlb_read_amd(struct tlb_reader *reader);

#endif
