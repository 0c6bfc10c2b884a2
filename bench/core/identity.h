/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identity: which CPU this is, and which hypervisor it runs under, from CPUID.
 *
 * The registers come from a source, so that tests can be any CPU. Vendor and
 * brand are libcpuid's; its code name is not used, because it is wrong for CPUs
 * newer than the library.
 */
#ifndef TLBTUNE_IDENTITY_H
#define TLBTUNE_IDENTITY_H

#include <stdint.h>

struct identity_source {
	/* EAX, EBX, ECX, EDX of a leaf; 0, or -1 when it cannot be read. */
	int (*read)(void *context, uint32_t leaf, uint32_t subleaf,
		    uint32_t reg[4]);
	void *context;
};

/* The CPU that the calling thread runs on. */
extern const struct identity_source identity_live;

struct identity {
	char vendor[13];	     /* "GenuineIntel"; "": unknown */
	char brand[49];		     /* "" where the CPU has none */
	int family, model, stepping; /* as the vendor counts; -1: unknown */
	/* "performance", "efficiency"; NULL unless hybrid */
	const char *core_type;
	int invlpgb;	       /* 1, 0; -1: unknown */
	int invlpgb_max_pages; /* one INVLPGB covers; -1 without it */
	int guest;	       /* runs under a hypervisor: 1, 0; -1: unknown */
	/* "KVMKVMKVM": of several the one that Linux picks; "": unknown */
	char hypervisor[13];
	/*
	 * Linux asks the hypervisor to flush other CPUs: 1, 0; -1: unknown,
	 * or decided by something that CPUID does not tell (Xen).
	 */
	int pv_tlb_flush;
};

void identity_read(const struct identity_source *source, struct identity *out);

#endif
