/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tlb: the TLBs of a CPU, decoded from its CPUID registers. Pure.
 *
 * Each vendor has its own leaves and its own traps; on hybrid parts each core
 * has its own registers, so decode per core. Nothing is looked up by model:
 * what CPUID does not say is unknown.
 */
#ifndef TLBTUNE_TLB_H
#define TLBTUNE_TLB_H

#include <stddef.h>
#include <stdint.h>

#include "identity.h"

/* Two of Intel's are for the translations of one kind of access only. */
enum tlb_kind { TLB_DATA, TLB_LOAD, TLB_STORE, TLB_INSTRUCTION, TLB_UNIFIED };

enum tlb_pages {
	TLB_4K = 1 << 0,
	TLB_2M = 1 << 1,
	TLB_4M = 1 << 2,
	TLB_1G = 1 << 3,
};

enum tlb_confidence {
	TLB_UNKNOWN,
	TLB_DECODED,
	/* CPUID is known to say something else than what the hardware has */
	TLB_INFERRED,
};

/*
 * One array of the hardware. Where its number of entries depends on the page
 * size (AMD: half as many for 4 MiB as for 2 MiB) it is listed once for each.
 */
struct tlb {
	enum tlb_kind kind;
	/*
	 * 1 is the first, as the vendor numbers them; 0 is what Intel calls
	 * "TLB0" or "uTLB", in front of the first.
	 */
	unsigned int level;
	unsigned int pages;   /* page sizes it serves, of enum tlb_pages */
	unsigned int entries; /* 1 to TLB_MAX_ENTRIES */
	int ways;	      /* entries: fully associative; -1: unknown */
	enum tlb_confidence confidence;
	uint32_t leaf;	       /* CPUID leaf that says so, ... */
	unsigned int selector; /* sub-leaf of 0x18, descriptor of leaf 2 */
};

/* Anything larger is taken for a decoding error: see tlb_list_add. */
#define TLB_MAX_ENTRIES 65536u

struct tlb_info {
	struct tlb *tlb; /* [n], by level, then kind */
	size_t n;
	/*
	 * E, entries of the last-level data or unified TLB for 4 KiB pages; -1:
	 * unknown. Where several arrays of that level serve such pages, their
	 * sum.
	 */
	int entries;
	enum tlb_confidence confidence;
	/* How E is known, or why it is not: a string constant. */
	const char *why;
	/* Something in the registers that made no sense, likewise; or NULL. */
	const char *odd;
};

/*
 * Decode the registers of one CPU, identified by identity_read. A leaf that the
 * source cannot read is one that a record lacks. 0, or -1 on ENOMEM.
 */
int tlb_decode(const struct identity_source *source, const struct identity *id,
	       struct tlb_info *out);

void tlb_free(struct tlb_info *info);

/*
 * Entries for loads of one page size at one level, summed over the arrays that
 * serve them; -1: none known. Stores and instructions don't count.
 */
int tlb_entries(const struct tlb_info *info, unsigned int level,
		enum tlb_pages page);

/* The highest level with an array for loads of that page size; -1: none. */
int tlb_last_level(const struct tlb_info *info, enum tlb_pages page);

/* "data", "unified" ..., and "decoded" ...: in reports. */
extern const char *const tlb_kind_name[];
extern const char *const tlb_confidence_name[];

#endif
