/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The size of the TLB as the kernel series reads it: the code that the patches
 * add, run on the registers of CPUs that no emulator has.
 */
#include <config.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tap.h"

/* What the text takes from the kernel. */

#define BIT(n) (1u << (n))
#define U16_MAX UINT16_MAX
#define ARRAY_SIZE(array) ((int)(sizeof(array) / sizeof(*(array))))
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define fallthrough __attribute__((__fallthrough__))
#define ENTRIES 0

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

struct cpuinfo_x86 {
	u32 extended_cpuid_level;
};

struct subleaf {
	u32 ebx, ecx, edx;
};

static u16 tlb_lld_4k[1], tlb_lld_2m[1], tlb_lld_4m[1], tlb_lld_1g[1];
static u16 tlb_lli_4k[1], tlb_lli_2m[1], tlb_lli_4m[1];

/* The registers: sub-leaves 1 to last, and EAX of what is not leaf 0x18. */
static const struct subleaf *subleaves;
static u32 last_subleaf, eax_of_leaf;

static u32 cpuid_eax(u32 leaf)
{
	return leaf == 0x18 ? last_subleaf : eax_of_leaf;
}

static void cpuid_count(u32 leaf, u32 n, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	struct subleaf null = { 0, 0, 0 };
	const struct subleaf *from = n ? &subleaves[n - 1] : &null;

	*eax = n ? 0 : cpuid_eax(leaf);
	*ebx = from->ebx;
	*ecx = from->ecx;
	*edx = from->edx;
}

/* The kernel leaves members out, and does not have its compiler warn. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "kernel-patch/tlb_leaf18.h"
#pragma GCC diagnostic pop

#include "kernel-patch/tlb_x32.h"

/* The rows that are added to the table of leaf 2, whose types are the kernel's.
 */
enum { STLB_4K_2M = 1, TLB_DATA_2M_4M, TLB_DATA_4K };

static const struct {
	unsigned char descriptor;
	int tlb_type;
	unsigned int entries;
	const char *info;
} leaf2[] = {
#include "kernel-patch/tlb_leaf2.h"
};

/* The only row of that descriptor is this one. */
static void is_row(unsigned char descriptor, int type, unsigned int entries,
		   const char *name)
{
	const int rows = ARRAY_SIZE(leaf2);
	int seen = 0, right = 0;

	for (int i = 0; i < rows; i++) {
		if (leaf2[i].descriptor != descriptor)
			continue;
		seen++;
		right += leaf2[i].tlb_type == type &&
			 leaf2[i].entries == entries && leaf2[i].info;
	}
	ok(seen == 1 && right == 1, "descriptor 0x%02x: %s", descriptor, name);
}

/* Sizes and kinds are those of the SDM, table 3-12 ("CPUID leaf 2"). */
static void test_leaf2(void)
{
	is_row(0x64, TLB_DATA_4K, 512, "data, 512 of 4 KiB");
	is_row(0xa0, TLB_DATA_4K, 32, "data, 32 of 4 KiB");
	is_row(0xc3, STLB_4K_2M, 1536, "shared, 1536 of 4 KiB and 2 MiB");
	is_row(0xc4, TLB_DATA_2M_4M, 32, "data, 32 of 2 and 4 MiB");
	is_int(ARRAY_SIZE(leaf2), 4, "no other descriptor is added");
}

/* What each page size is known to have. */
struct sizes {
	int data_4k, data_2m, data_1g, code_4k;
};

static void is_read(const struct subleaf *cpu, u32 n, struct sizes want,
		    const char *name)
{
	subleaves = cpu;
	last_subleaf = n;
	/* as leaf 2 left them */
	tlb_lld_4k[0] = tlb_lld_2m[0] = tlb_lld_4m[0] = tlb_lld_1g[0] = 7;
	tlb_lli_4k[0] = tlb_lli_2m[0] = tlb_lli_4m[0] = 7;
	intel_detect_tlb_leaf18();
	is_int(tlb_lld_4k[0], want.data_4k, "%s: data, 4 KiB", name);
	is_int(tlb_lld_2m[0], want.data_2m, "%s: data, 2 MiB", name);
	is_int(tlb_lld_1g[0], want.data_1g, "%s: data, 1 GiB", name);
	is_int(tlb_lli_4k[0], want.code_4k, "%s: code, 4 KiB", name);
}

#define READ(cpu, ...)                                                         \
	is_read(cpu, (u32)ARRAY_SIZE(cpu), (struct sizes){ __VA_ARGS__ }, #cpu)

static const struct subleaf sapphire_rapids[] = {
	{ 0x00080001, 0x20, 0x4022 }, { 0x00080006, 0x04, 0x4022 },
	{ 0x0010000f, 0x01, 0x4125 }, { 0x00040001, 0x10, 0x4024 },
	{ 0x00040006, 0x08, 0x4024 }, { 0x00080008, 0x01, 0x4124 },
	{ 0x00080007, 0x80, 0x4043 }, { 0x00080009, 0x80, 0x4043 },
};

static const struct subleaf gracemont[] = {
	{ 0x00300001, 0x001, 0x121 },
	{ 0x00040003, 0x200, 0x043 },
	{ 0x00400001, 0x001, 0x122 },
	{ 0x00080008, 0x001, 0x143 },
};

static const struct subleaf goldmont_plus[] = {
	{ 0x00200001, 0x01, 0x121 },
	{ 0x00040001, 0x80, 0x043 },
	{ 0x00040006, 0x08, 0x043 },
	{ 0x00300001, 0x01, 0x122 },
};

/* The second level comes first, with nulls and an unknown type in between. */
static const struct subleaf out_of_order[] = {
	{ 0x00080007, 0x80, 0x43 }, { 0xffffffff, 0xffffffff, 0 },
	{ 0x00040001, 0x10, 0x24 }, { 0x00080001, 0x80, 0x46 },
	{ 0x00080009, 0x80, 0x43 },
};

/* Stores only, and a level that is none. */
static const struct subleaf says_nothing[] = {
	{ 0x0010000f, 0x01, 0x125 },
	{ 0x0008000f, 0x80, 0x003 },
};

static const struct subleaf huge[] = {
	{ 0xffff000f, 0xffffffff, 0x43 },
};

static u16 zen5(u32 level, u32 eax, u16 reported)
{
	struct cpuinfo_x86 cpu = { .extended_cpuid_level = level };

	eax_of_leaf = eax;
	return l2_tlb_entries(&cpu, reported);
}

int main(void)
{
	test_leaf2();
	READ(sapphire_rapids, 2048, 1024, 1024, 2048);
	READ(gracemont, 2048, 2048, 8, 2048);
	READ(goldmont_plus, 512, 32, 7, 512);
	READ(out_of_order, 2048, 1024, 1024, 2048);
	READ(says_nothing, 7, 7, 7, 7);
	READ(huge, 65535, 65535, 65535, 65535);
	is_read(sapphire_rapids, 256, (struct sizes){ 7, 7, 7, 7 },
		"256 sub-leaves");
	is_read(NULL, 0, (struct sizes){ 7, 7, 7, 7 }, "a guest, all zero");

	is_int(zen5(0x80000021, 0x4204, 128), 4096, "Zen 5: 32 times 128");
	is_int(zen5(0x80000021, 0x0204, 128), 128, "a guest on Zen 5: 128");
	is_int(zen5(0x80000020, 0x4204, 128), 128, "no leaf 0x80000021");
	is_int(zen5(0x80000021, 0x4000, 0xfff), 65535, "more than fits: most");
	return done();
}
