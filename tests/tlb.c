/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tlb: CPUs of all vendors by their registers, what makes registers unusable,
 * and properties that hold whatever the registers are.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cpuid.h"
#include "tap.h"
#include "tlb.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define INTEL "GenuineIntel"
#define AMD "AuthenticAMD"
#define HYGON "HygonGenuine"
#define CENTAUR "CentaurHauls"
#define ZHAOXIN "  Shanghai  "

#define NONE (-1) /* no such TLB, or not known */

/* A sub-leaf of leaf 0x18 but for EAX; the list ends with one all zero. */
struct subleaf {
	uint32_t ebx, ecx, edx;
};

/* Registers of one CPU. A leaf that is all zero is not put into it. */
struct cpu {
	const char *vendor;
	uint32_t signature; /* leaf 1 EAX */
	uint32_t leaf1_ecx;
	uint32_t leaf2[4];
	const struct subleaf *leaf18; /* sub-leaves 1 and on */
	uint32_t x80000005[4], x80000006[4], x80000019[4];
	uint32_t x80000021_eax;
	uint32_t highest, highest_extended; /* 0: 0x20 and 0x80000021 */
};

#define GUEST (1u << 31) /* leaf 1 ECX */

/* making registers ------------------------------------------------------- */

static void put(struct cpuid_cpu *cpu, uint32_t leaf, uint32_t subleaf,
		const uint32_t reg[4])
{
	struct cpuid_leaf one = { leaf, subleaf, { 0 } };

	memcpy(one.reg, reg, sizeof(one.reg));
	if (cpuid_add_leaf(cpu, &one) < 0)
		error(1, errno, "registers");
}

static void put_names(struct cpuid_cpu *to, const struct cpu *cpu)
{
	uint32_t basic[4] = { cpu->highest ? cpu->highest : 0x20 };
	uint32_t extended[4] = { cpu->highest_extended ? cpu->highest_extended :
							 0x80000021 };

	memcpy(&basic[1], cpu->vendor, 4);
	memcpy(&basic[3], cpu->vendor + 4, 4);
	memcpy(&basic[2], cpu->vendor + 8, 4);
	put(to, 0, 0, basic);
	put(to, 1, 0, (uint32_t[]){ cpu->signature, 0, cpu->leaf1_ecx, 0 });
	put(to, 0x80000000, 0, extended);
}

static void put_leaf18(struct cpuid_cpu *to, const struct subleaf *subleaf)
{
	static const struct subleaf end = { 0 };
	uint32_t n = 0;

	while (subleaf && memcmp(&subleaf[n], &end, sizeof(end)) != 0)
		n++;
	put(to, 0x18, 0, (uint32_t[]){ n, 0, 0, 0 });
	for (uint32_t i = 0; i < n; i++)
		put(to, 0x18, i + 1,
		    (uint32_t[]){ 0, subleaf[i].ebx, subleaf[i].ecx,
				  subleaf[i].edx });
}

static struct cpuid_cpu registers(const struct cpu *cpu)
{
	struct cpuid_cpu to = { 0 };

	put_names(&to, cpu);
	put(&to, 2, 0, cpu->leaf2);
	put_leaf18(&to, cpu->leaf18);
	put(&to, 0x80000005, 0, cpu->x80000005);
	put(&to, 0x80000006, 0, cpu->x80000006);
	put(&to, 0x80000019, 0, cpu->x80000019);
	put(&to, 0x80000021, 0, (uint32_t[]){ cpu->x80000021_eax, 0, 0, 0 });
	return to;
}

static struct tlb_info decode_registers(const struct cpuid_cpu *cpu)
{
	const struct identity_source source = cpuid_source(cpu);
	struct tlb_info info;
	struct identity id;

	identity_read(&source, &id);
	if (tlb_decode(&source, &id, &info) < 0)
		error(1, errno, "tlb_decode");
	return info;
}

static struct tlb_info decode(const struct cpu *cpu)
{
	struct cpuid_cpu to = registers(cpu);
	struct tlb_info info = decode_registers(&to);

	free(to.leaf);
	return info;
}

/* real CPUs -------------------------------------------------------------- */

/* Big cores: the sizes of two arrays of the first level vary. */
#define BIG_CORE(name, code_sets, load_ways)                                   \
	static const struct subleaf name[] = {                                 \
		{ 0x00080001, code_sets, 0x00004022 },                         \
		{ 0x00080006, (code_sets) / 8, 0x00004022 },                   \
		{ 0x0010000f, 0x00000001, 0x00004125 },                        \
		{ 0x00000001 | (load_ways) << 16, 0x00000010, 0x00004024 },    \
		{ 0x00040006, 0x00000008, 0x00004024 },                        \
		{ 0x00080008, 0x00000001, 0x00004124 },                        \
		{ 0x00080007, 0x00000080, 0x00004043 },                        \
		{ 0x00080009, 0x00000080, 0x00004043 },                        \
		{ 0, 0, 0 },                                                   \
	}

BIG_CORE(tiger_lake, 0x10, 4u);
BIG_CORE(golden_cove, 0x20, 4u);
BIG_CORE(redwood_cove, 0x20, 6u);
BIG_CORE(lion_cove, 0x20, 8u);

static const struct subleaf cougar_cove[] = {
	{ 0x00080001, 0x00000020, 0x00004022 },
	{ 0x00080006, 0x00000004, 0x00004022 },
	{ 0x0010000f, 0x00000001, 0x00004125 },
	{ 0x00080001, 0x00000010, 0x00004024 },
	{ 0x00040006, 0x00000008, 0x00004024 },
	{ 0x00080008, 0x00000001, 0x00004124 },
	{ 0x00080007, 0x00000100, 0x00004043 },
	{ 0x00040009, 0x00000100, 0x00004043 },
	{ 0, 0, 0 },
};

static const struct subleaf goldmont_plus[] = {
	{ 0x00200001, 0x00000001, 0x00000121 },
	{ 0x00040001, 0x00000080, 0x00000043 },
	{ 0x00040006, 0x00000008, 0x00000043 },
	{ 0x00300001, 0x00000001, 0x00000122 },
	{ 0, 0, 0 },
};

static const struct subleaf gracemont[] = {
	{ 0x00300001, 0x00000001, 0x00000121 },
	{ 0x00040003, 0x00000200, 0x00000043 },
	{ 0x00400001, 0x00000001, 0x00000122 },
	{ 0x00080008, 0x00000001, 0x00000143 },
	{ 0, 0, 0 },
};

static const struct subleaf crestmont[] = {
	{ 0x00300001, 0x00000001, 0x00000121 },
	{ 0x00060003, 0x00000200, 0x00000043 },
	{ 0x00400001, 0x00000001, 0x00000122 },
	{ 0x00080008, 0x00000001, 0x00000143 },
	{ 0, 0, 0 },
};

static const struct subleaf skymont[] = {
	{ 0x00300003, 0x00000001, 0x00000121 },
	{ 0x00040003, 0x00000400, 0x00000043 },
	{ 0x00800001, 0x00000001, 0x00000122 },
	{ 0x00080008, 0x00000001, 0x00000143 },
	{ 0, 0, 0 },
};

#define IN_LEAF_18                                                             \
	{                                                                      \
		0x00feff01, 0x000000f0, 0, 0                                   \
	}

/*
 * Register values as CPUs have been seen to have them, with the entries of the
 * first level for 4K and of the second for 4K and 2M, and E.
 */
static const struct {
	const char *name;
	struct cpu cpu;
	int first_4k, second_4k, second_2m, entries;
} real[] = {
	{ "Conroe",
	  { INTEL, 0x6f6, .leaf2 = { 0x05b0b101, 0x005657f0, 0, 0x2cb43049 } },
	  256,
	  NONE,
	  NONE,
	  256 },
	{ "Prescott",
	  { INTEL, 0xf43, .leaf2 = { 0x605b5001, 0, 0, 0x007d7040 } },
	  64,
	  NONE,
	  NONE,
	  64 },
	{ "Bonnell",
	  { INTEL, 0x106c2, .leaf2 = { 0x4fba5901, 0x0e3080c0, 0, 0 } },
	  64,
	  NONE,
	  NONE,
	  64 },
	{ "Nehalem",
	  { INTEL, 0x106a2,
	    .leaf2 = { 0x55035a01, 0x00f0b2e4, 0, 0x09ca212c } },
	  64,
	  512,
	  NONE,
	  512 },
	{ "Sandy Bridge-EP",
	  { INTEL, 0x206d5,
	    .leaf2 = { 0x76035a01, 0x00f0b2ff, 0, 0x00ca0000 } },
	  64,
	  512,
	  NONE,
	  512 },
	{ "Haswell",
	  { INTEL, 0x306c3,
	    .leaf2 = { 0x76036301, 0x00f0b5ff, 0, 0x00c10000 } },
	  64,
	  1024,
	  1024,
	  1024 },
	{ "Broadwell-E",
	  { INTEL, 0x406f1,
	    .leaf2 = { 0x76036301, 0x00f0b5ff, 0, 0x00c30000 } },
	  64,
	  1536,
	  1536,
	  1536 },
	{ "Skylake-SP",
	  { INTEL, 0x50654,
	    .leaf2 = { 0x76036301, 0x00f0b5ff, 0, 0x00c30000 } },
	  64,
	  1536,
	  1536,
	  1536 },
	{ "Tiger Lake",
	  { INTEL, 0x806c1, .leaf2 = IN_LEAF_18, .leaf18 = tiger_lake },
	  64,
	  2048,
	  1024,
	  2048 },
	{ "Sapphire Rapids",
	  { INTEL, 0x806f8, .leaf2 = IN_LEAF_18, .leaf18 = golden_cove },
	  64,
	  2048,
	  1024,
	  2048 },
	{ "Granite Rapids",
	  { INTEL, 0xa06d1, .leaf2 = IN_LEAF_18, .leaf18 = redwood_cove },
	  96,
	  2048,
	  1024,
	  2048 },
	{ "Alder Lake P",
	  { INTEL, 0x90672, .leaf2 = IN_LEAF_18, .leaf18 = golden_cove },
	  64,
	  2048,
	  1024,
	  2048 },
	{ "Alder Lake E",
	  { INTEL, 0x90672, .leaf2 = { 0x00feff01, 0, 0, 0 },
	    .leaf18 = gracemont },
	  48,
	  2048,
	  2048,
	  2048 },
	{ "Meteor Lake E",
	  { INTEL, 0xa06a4, .leaf2 = IN_LEAF_18, .leaf18 = crestmont },
	  48,
	  3072,
	  3072,
	  3072 },
	{ "Lunar Lake P",
	  { INTEL, 0xb06d1, .leaf2 = IN_LEAF_18, .leaf18 = lion_cove },
	  128,
	  2048,
	  1024,
	  2048 },
	{ "Lunar Lake E",
	  { INTEL, 0xb06d1, .leaf2 = IN_LEAF_18, .leaf18 = skymont },
	  48,
	  4096,
	  4096,
	  4096 },
	{ "Arrow Lake P",
	  { INTEL, 0xc0662, .leaf2 = IN_LEAF_18, .leaf18 = lion_cove },
	  128,
	  2048,
	  1024,
	  2048 },
	{ "Arrow Lake E",
	  { INTEL, 0xc0662, .leaf2 = IN_LEAF_18, .leaf18 = skymont },
	  48,
	  4096,
	  4096,
	  4096 },
	{ "Panther Lake P",
	  { INTEL, 0xc06c3, .leaf2 = IN_LEAF_18, .leaf18 = cougar_cove },
	  128,
	  3072,
	  2048,
	  3072 },
	{ "Silvermont",
	  { INTEL, 0x30673, .leaf2 = { 0x61b3a001, 0x0000ffc2, 0, 0 } },
	  32,
	  128,
	  NONE,
	  128 },
	{ "Goldmont",
	  { INTEL, 0x506c9, .leaf2 = { 0x6164a001, 0x0000ffc4, 0, 0 } },
	  32,
	  512,
	  NONE,
	  512 },
	{ "Goldmont Plus",
	  { INTEL, 0x706a8, .leaf2 = { 0x00feff01, 0, 0, 0 },
	    .leaf18 = goldmont_plus },
	  32,
	  512,
	  32,
	  512 },
	{ "Knights Landing",
	  { INTEL, 0x50671, .leaf2 = { 0x6c6b6a01, 0x00ff616d, 0, 0 } },
	  256,
	  NONE,
	  NONE,
	  256 },
	{ "K6",
	  { AMD, 0x570, .highest_extended = 0x80000005,
	    .x80000005 = { 0, 0x02800140, 0x20020220, 0x20020220 } },
	  128,
	  NONE,
	  NONE,
	  128 },
	{ "K8",
	  { AMD, 0x20fb1,
	    .x80000005 = { 0xff08ff08, 0xff20ff20, 0x40020140, 0x40020140 },
	    .x80000006 = { 0, 0x42004200, 0x02008140, 0 } },
	  32,
	  512,
	  NONE,
	  512 },
	{ "K10 Shanghai",
	  { AMD, 0x100f42,
	    .x80000005 = { 0xff30ff10, 0xff30ff20, 0x40020140, 0x40020140 },
	    .x80000006 = { 0x20800000, 0x42004200, 0x02008140, 0x0030b140 },
	    .x80000019 = { 0xf0300000, 0x60100000, 0, 0 } },
	  48,
	  512,
	  128,
	  512 },
	{ "Bulldozer",
	  { AMD, 0x600f12,
	    .x80000005 = { 0xff20ff18, 0xff20ff30, 0x10040140, 0x40020140 },
	    .x80000006 = { 0x64000000, 0x64004200, 0x08008140, 0x0060e140 },
	    .x80000019 = { 0xf020f018, 0x64000000, 0, 0 } },
	  32,
	  1024,
	  1024,
	  1024 },
	{ "Zen",
	  { AMD, 0x800f11,
	    .x80000005 = { 0xff40ff40, 0xff40ff40, 0x20080140, 0x40040140 },
	    .x80000006 = { 0x26006400, 0x66006400, 0x02006140, 0x00808140 },
	    .x80000019 = { 0xf040f040, 0, 0, 0 } },
	  64,
	  1536,
	  1536,
	  1536 },
	{ "Zen 2 Rome",
	  { AMD, 0x830f10,
	    .x80000005 = { 0xff40ff40, 0xff40ff40, 0x20080140, 0x20080140 },
	    .x80000006 = { 0x48006400, 0x68006400, 0x02006140, 0x08009140 },
	    .x80000019 = { 0xf040f040, 0, 0, 0 } },
	  64,
	  2048,
	  2048,
	  2048 },
	{ "Zen 3 Milan",
	  { AMD, 0xa00f11,
	    .x80000005 = { 0xff40ff40, 0xff40ff40, 0x20080140, 0x20080140 },
	    .x80000006 = { 0x48002200, 0x68004200, 0x02006140, 0x08009140 },
	    .x80000019 = { 0xf040f040, 0xf0400000, 0, 0 },
	    .x80000021_eax = 0x0000204d },
	  64,
	  2048,
	  2048,
	  2048 },
	{ "Zen 4 Genoa",
	  { AMD, 0xa10f11,
	    .x80000005 = { 0xff48ff40, 0xff48ff40, 0x20080140, 0x20080140 },
	    .x80000006 = { 0x5c002200, 0x6c004200, 0x04006140, 0x0c009140 },
	    .x80000019 = { 0xf048f040, 0xf0400000, 0, 0 },
	    .x80000021_eax = 0x00062fcf },
	  72,
	  3072,
	  3072,
	  3072 },
	{ "Zen 5 Turin",
	  { AMD, 0xb00f21,
	    .x80000005 = { 0xff60ff40, 0xff60ff40, 0x300c0140, 0x20080140 },
	    .x80000006 = { 0x40802040, 0x60804040, 0x04008140, 0x08009140 },
	    .x80000019 = { 0xf060f040, 0x40200000, 0, 0 },
	    .x80000021_eax = 0xd93fffcf },
	  96,
	  4096,
	  4096,
	  4096 },
	{ "Zen 5 Granite Ridge",
	  { AMD, 0xb40f40,
	    .x80000005 = { 0xff60ff40, 0xff60ff40, 0x300c0140, 0x20080140 },
	    .x80000006 = { 0x40802040, 0x60804040, 0x04008140, 0x02009140 },
	    .x80000019 = { 0xf060f040, 0x40200000, 0, 0 },
	    .x80000021_eax = 0x593fffcf },
	  96,
	  4096,
	  4096,
	  4096 },
	{ "Hygon C86-3G",
	  { HYGON, 0x910f00,
	    .x80000005 = { 0xff40ff40, 0xff40ff40, 0x20080140, 0x20080140 },
	    .x80000006 = { 0x48006400, 0x68006400, 0x02006140, 0x00808140 },
	    .x80000019 = { 0xf040f040, 0, 0, 0 } },
	  64,
	  2048,
	  2048,
	  2048 },
	{ "VIA Nano (CNR)",
	  { CENTAUR, 0x6fe, .leaf2 = { 1, 0, 0, 0 },
	    .x80000005 = { 0x04200420, 0x06600660, 0x20080140, 0x20080140 },
	    .x80000006 = { 0, 0, 0x08008140, 0 } },
	  96,
	  NONE,
	  NONE,
	  96 },
	/* Its leaf 2 lists arrays for large pages that it does not have. */
	{ "Zhaoxin KX-7000",
	  { ZHAOXIN, 0x607b1, .leaf2 = { 0x635af001, 0, 0, 0xff },
	    .x80000005 = { 0x04200408, 0x06600610, 0x20080140, 0x40100140 },
	    .x80000006 = { 0, 0, 0x02006140, 0 } },
	  96,
	  NONE,
	  NONE,
	  96 },
};

static void test_real(void)
{
	for (size_t i = 0; i < COUNT(real); i++) {
		struct tlb_info info = decode(&real[i].cpu);
		const char *name = real[i].name;

		is_int(tlb_entries(&info, 1, TLB_4K), real[i].first_4k,
		       "%s: first level, 4K", name);
		is_int(tlb_entries(&info, 2, TLB_4K), real[i].second_4k,
		       "%s: second level, 4K", name);
		is_int(tlb_entries(&info, 2, TLB_2M), real[i].second_2m,
		       "%s: second level, 2M", name);
		is_int(info.entries, real[i].entries, "%s: E", name);
		is_int(info.confidence, TLB_DECODED, "%s: decoded", name);
		is_string(info.odd, NULL, "%s: nothing is odd", name);
		tlb_free(&info);
	}
}

/* details ---------------------------------------------------------------- */

static const struct cpu *find_real(const char *name)
{
	for (size_t i = 0; i < COUNT(real); i++)
		if (!strcmp(real[i].name, name))
			return &real[i].cpu;
	error(1, 0, "no CPU '%s'", name);
	return NULL;
}

/* The array of that kind and level that serves exactly these pages; or NULL. */
static const struct tlb *find(const struct tlb_info *info, enum tlb_kind kind,
			      unsigned int level, unsigned int pages)
{
	for (size_t i = 0; i < info->n; i++)
		if (info->tlb[i].kind == kind && info->tlb[i].level == level &&
		    info->tlb[i].pages == pages)
			return &info->tlb[i];
	return NULL;
}

#define ALL (TLB_4K | TLB_2M | TLB_4M | TLB_1G)
#define LARGE (TLB_2M | TLB_4M)

static void test_arrays(void)
{
	static const struct {
		const char *name;
		enum tlb_kind kind;
		unsigned int level, pages;
		int entries, ways;
	} arrays[] = {
		{ "Haswell", TLB_DATA, 1, TLB_1G, 4, 4 },
		{ "Haswell", TLB_DATA, 1, LARGE, 32, 4 },
		{ "Haswell", TLB_INSTRUCTION, 1, TLB_4K, 64, 8 },
		{ "Broadwell-E", TLB_UNIFIED, 2, TLB_4K | TLB_2M, 1536, 6 },
		{ "Skylake-SP", TLB_UNIFIED, 2, TLB_4K | TLB_2M, 1536, 12 },
		{ "Skylake-SP", TLB_UNIFIED, 2, TLB_1G, 16, 4 },
		{ "Conroe", TLB_DATA, 0, TLB_4K, 16, 4 },
		{ "Conroe", TLB_INSTRUCTION, 1, TLB_2M, 8, 4 },
		{ "Conroe", TLB_INSTRUCTION, 1, TLB_4M, 4, 4 },
		{ "Bonnell", TLB_INSTRUCTION, 1, TLB_4K, 32, -1 },
		{ "Prescott", TLB_DATA, 1, TLB_4K | TLB_4M, 64, 64 },
		{ "Knights Landing", TLB_DATA, 0, TLB_4K, 64, 8 },
		{ "Knights Landing", TLB_DATA, 1, TLB_1G, 16, 16 },
		{ "Sapphire Rapids", TLB_STORE, 1, ALL, 16, 16 },
		{ "Sapphire Rapids", TLB_LOAD, 1, LARGE, 32, 4 },
		{ "Sapphire Rapids", TLB_UNIFIED, 2, TLB_4K | TLB_1G, 1024, 8 },
		{ "K8", TLB_DATA, 1, TLB_2M, 8, 8 },
		{ "K8", TLB_DATA, 1, TLB_4M, 4, 4 },
		{ "K8", TLB_DATA, 2, TLB_2M, NONE, NONE },
		{ "K10 Shanghai", TLB_DATA, 2, TLB_4M, 64, 2 },
		{ "K10 Shanghai", TLB_DATA, 1, TLB_1G, 48, 48 },
		{ "K10 Shanghai", TLB_INSTRUCTION, 2, TLB_2M, NONE, NONE },
		{ "Bulldozer", TLB_INSTRUCTION, 2, TLB_2M, 1024, 8 },
		{ "Bulldozer", TLB_INSTRUCTION, 2, TLB_4M, 512, 8 },
		{ "Zen", TLB_DATA, 2, TLB_2M, 1536, 2 },
		{ "Zen 3 Milan", TLB_DATA, 2, TLB_1G, 64, 64 },
		{ "Zen 3 Milan", TLB_INSTRUCTION, 2, TLB_4K, 512, 4 },
		{ "Zen 5 Turin", TLB_DATA, 2, TLB_1G, 1024, 4 },
		{ "Zen 5 Turin", TLB_DATA, 1, TLB_1G, 96, 96 },
		{ "Zen 5 Turin", TLB_DATA, 2, TLB_4M, 2048, 4 },
		{ "Zen 5 Turin", TLB_INSTRUCTION, 2, TLB_4K, 2048, 4 },
		{ "Zhaoxin KX-7000", TLB_DATA, 1, TLB_2M, 32, 4 },
		{ "Zhaoxin KX-7000", TLB_DATA, 1, TLB_1G, NONE, NONE },
	};

	for (size_t i = 0; i < COUNT(arrays); i++) {
		struct tlb_info info = decode(find_real(arrays[i].name));
		const struct tlb *tlb = find(&info, arrays[i].kind,
					     arrays[i].level, arrays[i].pages);

		is_int(tlb ? (int)tlb->entries : NONE, arrays[i].entries,
		       "%s: %s level %u pages %#x", arrays[i].name,
		       tlb_kind_name[arrays[i].kind], arrays[i].level,
		       arrays[i].pages);
		is_int(tlb ? tlb->ways : NONE, arrays[i].ways, "... ways");
		tlb_free(&info);
	}
}

/* AMD's associativity codes. 1536 entries are whole sets in all of them. */
static void test_amd_ways(void)
{
	static const int ways[16] = { NONE, 1,	  2,  3,  4,  6,  8,   NONE,
				      16,   NONE, 32, 48, 64, 96, 128, 1536 };
	struct cpu cpu = *find_real("Zen 2 Rome");
	struct tlb_info info;

	for (uint32_t code = 0; code < 16; code++) {
		const struct tlb *tlb;

		cpu.x80000006[1] = code << 28 | 1536 << 16 | 0x6400;
		info = decode(&cpu);
		tlb = find(&info, TLB_DATA, 2, TLB_4K);
		if (code == 0)
			ok(!tlb, "AMD code 0: switched off");
		else
			is_int(tlb ? tlb->ways : 0, ways[code],
			       "AMD code %x: ways", code);
		tlb_free(&info);
	}
	/* Rome servers say 6 ways of 2048. */
	cpu.x80000006[1] = 5u << 28 | 2048 << 16 | 0x6400;
	info = decode(&cpu);
	is_int(find(&info, TLB_DATA, 2, TLB_4K)->ways, NONE,
	       "ways that leave a set broken are unknown");
	is_int(info.entries, 2048, "... and the entries are not");
	tlb_free(&info);
}

static void test_unified(void)
{
	struct cpu cpu = *find_real("K8");
	struct tlb_info info;

	cpu.x80000006[1] = 0x4200;
	info = decode(&cpu);
	ok(find(&info, TLB_UNIFIED, 2, TLB_4K),
	   "AMD: no upper half is a unified second level");
	is_int(info.entries, 512, "... which is the last");
	tlb_free(&info);
}

/* guests ----------------------------------------------------------------- */

static void is_known(const struct cpu *cpu, int entries,
		     enum tlb_confidence confidence, const char *why,
		     const char *name)
{
	struct tlb_info info = decode(cpu);

	is_int(info.entries, entries, "%s: E", name);
	is_string(tlb_confidence_name[info.confidence],
		  tlb_confidence_name[confidence], "%s: confidence", name);
	if (!ok(info.why && strstr(info.why, why), "%s: says why", name))
		diag("'%s' lacks '%s'", info.why, why);
	tlb_free(&info);
}

static void test_zen5_guest(void)
{
	struct cpu cpu = *find_real("Zen 5 Turin");
	struct tlb_info info;

	cpu.leaf1_ecx = GUEST;
	is_known(&cpu, 4096, TLB_DECODED, "0x80000006",
		 "Zen 5 guest that shows the unit");
	cpu.x80000021_eax = 0x204;
	is_known(&cpu, 4096, TLB_INFERRED, "units of 32",
		 "Zen 5 guest that hides it");
	info = decode(&cpu);
	is_int(tlb_entries(&info, 2, TLB_2M), 4096, "... 2M as well");
	is_int(tlb_entries(&info, 2, TLB_1G), 1024, "... 1G as well");
	is_int(tlb_entries(&info, 1, TLB_4K), 96, "... the first level not");
	is_int(find(&info, TLB_DATA, 2, TLB_4K)->confidence, TLB_INFERRED,
	       "... each inferred");
	is_int(find(&info, TLB_DATA, 1, TLB_4K)->confidence, TLB_DECODED,
	       "... or not");
	tlb_free(&info);
	cpu.highest_extended = 0x8000001f;
	is_known(&cpu, 4096, TLB_INFERRED, "units of 32",
		 "Zen 5 guest without the leaf");
	cpu.leaf1_ecx = 0;
	is_known(&cpu, 128, TLB_DECODED, "0x80000006",
		 "no guest: what CPUID says");
	cpu.leaf1_ecx = GUEST;
	cpu.x80000006[1] = 0x64004040;
	is_known(&cpu, 1024, TLB_DECODED, "0x80000006",
		 "1024 is no size in units of 32");
	cpu.x80000006[1] = 0x63ff4040;
	is_known(&cpu, 1023 * 32, TLB_INFERRED, "units of 32",
		 "... and 1023 is");
	cpu = *find_real("Zen 4 Genoa");
	cpu.leaf1_ecx = GUEST;
	cpu.x80000006[1] = 0x60804040;
	is_known(&cpu, 128, TLB_DECODED, "0x80000006", "other families' guest");
	cpu.vendor = HYGON;
	cpu.signature = 0xb00f21;
	is_known(&cpu, 128, TLB_DECODED, "0x80000006", "other vendors' guest");
}

static void test_unknown(void)
{
	static const struct subleaf stores[] = {
		{ 0x0010000f, 1, 0x4125 },
		{ 0x00080001, 0x20, 0x4022 },
		{ 0, 0, 0 },
	};
	struct cpu cpu = { INTEL, 0xa0671, .leaf2 = IN_LEAF_18 };
	struct tlb_info info;

	is_known(&cpu, NONE, TLB_UNKNOWN, "leaf 0x18, which is empty",
		 "leaf 0x18 of zeroes");
	cpu.leaf1_ecx = GUEST;
	is_known(&cpu, NONE, TLB_UNKNOWN,
		 "CPUID leaf 2 refers to leaf 0x18, which the hypervisor has "
		 "zeroed",
		 "... in a guest");
	cpu.highest = 0x16;
	is_known(&cpu, NONE, TLB_UNKNOWN, "beyond the highest leaf",
		 "no leaf 0x18");
	cpu.leaf2[3] = 0x00ca0000;
	is_known(&cpu, NONE, TLB_UNKNOWN, "beyond the highest leaf",
		 "... whatever else is in leaf 2");
	cpu.highest = 0;
	cpu.leaf18 = stores;
	is_known(&cpu, NONE, TLB_UNKNOWN, "no data TLB for 4 KiB",
		 "stores and instructions only");
	cpu = (struct cpu){ INTEL, 0x663,
			    .leaf2 = { 0x00000001, 0, 0x4d, 0x2c307d },
			    .leaf1_ecx = GUEST };
	is_known(&cpu, NONE, TLB_UNKNOWN, "no TLB", "caches only (QEMU)");
	memset(cpu.leaf2, 0, sizeof(cpu.leaf2));
	is_known(&cpu, NONE, TLB_UNKNOWN, "leaf 2 has been zeroed",
		 "leaf 2 of zeroes");
	cpu.leaf1_ecx = 0;
	is_known(&cpu, NONE, TLB_UNKNOWN, "leaf 2 is empty", "... on no guest");
	cpu.highest = 1;
	is_known(&cpu, NONE, TLB_UNKNOWN, "no leaf 2", "no leaf 2");
	cpu = (struct cpu){ .vendor = AMD, .signature = 0xa00f11 };
	is_known(&cpu, NONE, TLB_UNKNOWN, "0x80000005 is empty",
		 "AMD of zeroes");
	cpu.highest_extended = 0x80000004;
	is_known(&cpu, NONE, TLB_UNKNOWN, "no leaf 0x80000005",
		 "AMD without the leaf");
	cpu = *find_real("Zen 3 Milan");
	cpu.leaf1_ecx = GUEST;
	cpu.x80000006[1] = 0;
	is_known(&cpu, NONE, TLB_UNKNOWN, "zeroed by the hypervisor",
		 "AMD guest without a second level");
	cpu = *find_real("VIA Nano (CNR)");
	cpu.leaf1_ecx = GUEST;
	is_known(&cpu, 96, TLB_DECODED, "no second level",
		 "VIA guest, which never had one");
	cpu = *find_real("Zen 3 Milan");
	cpu.vendor = "CyrixInstead";
	is_known(&cpu, NONE, TLB_UNKNOWN, "vendor", "a vendor of old");
	cpu.vendor = "\1\2\3\4\5\6\7\x80\x81\x82\x83\x84";
	is_known(&cpu, NONE, TLB_UNKNOWN, "vendor", "no vendor");
	info = decode(&cpu);
	is_int(info.n, 0, "... no TLBs");
	tlb_free(&info);
}

/* leaf 2 ----------------------------------------------------------------- */

static void test_leaf2(void)
{
	struct cpu cpu = *find_real("Haswell");
	struct tlb_info info;

	for (uint32_t al = 0; al < 256; al += al ? 127 : 2) {
		cpu.leaf2[0] = (cpu.leaf2[0] & ~0xffu) | al;
		is_known(&cpu, NONE, TLB_UNKNOWN, "form that is defined",
			 "AL is not 1");
	}
	cpu = *find_real("Haswell");
	for (int i = 0; i < 4; i++)
		cpu.leaf2[i] |= 1u << 31;
	is_known(&cpu, NONE, TLB_UNKNOWN, "no TLB",
		 "bit 31 of every register: nothing valid");
	cpu.leaf2[3] &= ~(1u << 31);
	is_known(&cpu, 1024, TLB_DECODED, "leaf 2", "but of EDX");
	/* 0xFF speaks of caches, and 0 of nothing. */
	cpu = *find_real("Haswell");
	cpu.leaf2[2] = 0x00ff00ff;
	is_known(&cpu, 1024, TLB_DECODED, "leaf 2", "0xFF");
	/* An unknown descriptor is somebody else's. */
	cpu.leaf2[2] = 0x07171b9a;
	is_known(&cpu, 1024, TLB_DECODED, "leaf 2", "unknown descriptors");
	/* AL is no descriptor. */
	cpu = (struct cpu){ INTEL, 0x306c3, .leaf2 = { 0x00000301, 0, 0, 0 } };
	info = decode(&cpu);
	is_int(info.n, 1, "AL is no descriptor");
	is_int(info.entries, 64, "... but AH is");
	tlb_free(&info);
}

/* Every descriptor that the manual gives to a TLB is one, and no other is. */
static void test_descriptors(void)
{
	static const uint8_t tlbs[] = {
		0x01, 0x02, 0x03, 0x04, 0x05, 0x0b, 0x4f, 0x50, 0x51,
		0x52, 0x55, 0x56, 0x57, 0x59, 0x5a, 0x5b, 0x5c, 0x5d,
		0x61, 0x63, 0x64, 0x6a, 0x6b, 0x6c, 0x6d, 0x76, 0xa0,
		0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xba, 0xc0,
		0xc1, 0xc2, 0xc3, 0xc4, 0xca,
	};
	bool right = true;

	for (uint32_t code = 1; code < 256; code++) {
		struct cpu cpu = { INTEL, 0x306c3,
				   .leaf2 = { code << 8 | 1, 0, 0, 0 } };
		struct tlb_info info = decode(&cpu);
		bool is_tlb = memchr(tlbs, (int)code, sizeof(tlbs));

		if (is_tlb != (info.n > 0)) {
			diag("descriptor %#x: %zu TLBs", code, info.n);
			right = false;
		}
		tlb_free(&info);
	}
	ok(right, "leaf 2: the descriptors that are TLBs");
}

/* leaf 0x18 -------------------------------------------------------------- */

static void test_leaf18(void)
{
	static const struct subleaf hole[] = {
		{ 0x00300001, 1, 0x121 },
		{ 0, 0, 0x100 },
		{ 0x00080001, 4, 0x400 },
		{ 0x00040003, 0x200, 0x43 },
		{ 0, 0, 0 },
	};
	static const struct subleaf odd[] = {
		{ 0x00040003, 0x200, 0x43 },
		{ 0x00040003, 0x200, 0x46 },
		{ 0x00040003, 0x200, 0x5f },
		{ 0x00040000, 0x200, 0x43 },
		{ 0x00000003, 0x200, 0x43 },
		{ 0x00040003, 0, 0x43 },
		{ 0xffff0001, 0xffffffff, 0x43 },
		{ 0xffff0001, 0x10001, 0x43 },
		{ 0xffff0001, 0xffffffff, 0x143 },
		/* 64 beyond 32 bits */
		{ 0x00400001, 0x04000001, 0x43 },
		{ 0, 0, 0 },
	};
	static const struct subleaf fourth[] = {
		{ 0x00040001, 0x100, 0x83 },
		{ 0x00040001, 0x200, 0x43 },
		{ 0, 0, 0 },
	};
	static const struct subleaf only_odd[] = {
		{ 0x00040003, 0x200, 0x46 },
		{ 0, 0, 0 },
	};
	struct cpu cpu = { INTEL, 0x90672, .leaf2 = IN_LEAF_18,
			   .leaf18 = hole };
	struct cpuid_cpu to;
	struct tlb_info info;

	is_known(&cpu, 2048, TLB_DECODED, "leaf 0x18",
		 "null sub-leaves in the middle");
	cpu.leaf18 = fourth;
	is_known(&cpu, 1024, TLB_DECODED, "leaf 0x18", "a fourth level");
	cpu.leaf18 = odd;
	is_known(&cpu, 2048, TLB_DECODED, "leaf 0x18",
		 "types, pages and sizes that make no sense");
	info = decode(&cpu);
	is_int(info.n, 1, "... are left out");
	ok(info.odd, "... and mentioned");
	tlb_free(&info);
	cpu.leaf18 = only_odd;
	is_known(&cpu, NONE, TLB_UNKNOWN, "makes no sense", "nothing else");

	/* The count of sub-leaves is what the CPU says, not what there is. */
	cpu.leaf18 = gracemont;
	for (int i = 0; i < 2; i++) {
		to = registers(&cpu);
		for (size_t k = 0; k < to.n; k++)
			if (to.leaf[k].leaf == 0x18 && to.leaf[k].subleaf == 0)
				to.leaf[k].reg[0] = i ? 5 : 0xffffffff;
		info = decode_registers(&to);
		is_int(info.entries, NONE, "sub-leaf count %s",
		       i ? "5 of 4" : "huge");
		ok(strstr(info.why, i ? "lacks sub-leaves" : "no sense"),
		   "... says why");
		tlb_free(&info);
		free(to.leaf);
	}
}

/* A source that knows 4 billion sub-leaves, none of them the same. */
static int read_endless(void *context, uint32_t leaf, uint32_t subleaf,
			uint32_t reg[4])
{
	unsigned int *reads = context;

	(*reads)++;
	reg[0] = leaf == 0 ? 0x20 : 0xffffffff;
	reg[1] = 0x00040003;
	reg[2] = 1 + subleaf % 7;
	reg[3] = 0x43;
	return 0;
}

static void test_endless(void)
{
	unsigned int reads = 0;
	struct identity_source source = { read_endless, &reads };
	struct identity id = { .vendor = INTEL, .family = 6, .model = 0x97 };
	struct tlb_info info;

	if (tlb_decode(&source, &id, &info) < 0)
		error(1, errno, "tlb_decode");
	ok(reads < 2000, "0xFFFFFFFF sub-leaves: %u reads", reads);
	tlb_free(&info);
}

/* records with leaves missing -------------------------------------------- */

static void test_missing(void)
{
	static const struct {
		const char *name;
		uint32_t leaf, subleaf;
		const char *why;
	} missing[] = {
		{ "Haswell", 0, 0, "vendor" },
		{ "Haswell", 2, 0, "lacks CPUID leaf 2" },
		{ "Sapphire Rapids", 0x18, 0, "leaf 0x18, which the record" },
		{ "Sapphire Rapids", 0x18, 8, "lacks sub-leaves" },
		{ "Sapphire Rapids", 0x18, 3, "lacks sub-leaves" },
		{ "Zen 3 Milan", 0x80000000, 0, "lacks CPUID leaf 0x80000005" },
		{ "Zen 3 Milan", 0x80000006, 0, "lacks CPUID leaf 0x80000006" },
	};
	struct cpuid_cpu zen5 = registers(find_real("Zen 5 Turin"));
	struct tlb_info without;

	/* The last leaf is the one with the unit. */
	zen5.n--;
	without = decode_registers(&zen5);
	is_int(without.entries, 4096, "Zen 5 without leaf 0x80000021");
	is_int(without.confidence, TLB_INFERRED, "... inferred");
	ok(strstr(without.why, "record lacks"), "... says why");
	tlb_free(&without);
	free(zen5.leaf);

	for (size_t i = 0; i < COUNT(missing); i++) {
		struct cpuid_cpu to = registers(find_real(missing[i].name));
		struct tlb_info info;

		for (size_t k = 0; k < to.n; k++)
			if (to.leaf[k].leaf == missing[i].leaf &&
			    to.leaf[k].subleaf == missing[i].subleaf)
				to.leaf[k].leaf = 0x12345678;
		info = decode_registers(&to);
		is_int(info.entries, NONE, "%s without leaf %#x.%u: E",
		       missing[i].name, missing[i].leaf, missing[i].subleaf);
		if (!ok(strstr(info.why, missing[i].why), "... says why"))
			diag("'%s'", info.why);
		tlb_free(&info);
		free(to.leaf);
	}
}

/* whatever the registers are --------------------------------------------- */

static bool is_sound(const struct tlb *tlb)
{
	return tlb->entries >= 1 && tlb->entries <= TLB_MAX_ENTRIES &&
	       tlb->pages != 0 && (tlb->pages & ~(unsigned int)ALL) == 0 &&
	       tlb->level <= 7 && tlb->confidence != TLB_UNKNOWN &&
	       (tlb->ways == -1 ||
		(tlb->ways >= 1 &&
		 tlb->entries % (unsigned int)tlb->ways == 0));
}

/* E is the sum of what is in the list, counted here once more. */
static bool adds_up(const struct tlb_info *info)
{
	unsigned long sum[8] = { 0 };
	int level;

	for (size_t i = 0; i < info->n; i++)
		if (info->tlb[i].pages & TLB_4K &&
		    info->tlb[i].kind != TLB_STORE &&
		    info->tlb[i].kind != TLB_INSTRUCTION)
			sum[info->tlb[i].level] += info->tlb[i].entries;
	for (level = 7; level > 0 && !sum[level]; level--)
		;
	return (unsigned long)info->entries == sum[level];
}

static bool all_sound(const struct tlb_info *info)
{
	for (size_t i = 0; i < info->n; i++)
		if (!is_sound(&info->tlb[i]))
			return false;
	for (size_t i = 1; i < info->n; i++)
		if (info->tlb[i - 1].level > info->tlb[i].level)
			return false;
	if (!info->why)
		return false;
	if (info->confidence == TLB_UNKNOWN)
		return info->entries == -1;
	return info->entries > 0 && adds_up(info);
}

static uint32_t random_word(unsigned short state[3])
{
	return (uint32_t)jrand48(state);
}

/* Change a register, or take a leaf away. */
static void mutate(struct cpuid_cpu *cpu, unsigned short state[3])
{
	struct cpuid_leaf *leaf = &cpu->leaf[random_word(state) % cpu->n];
	uint32_t *reg = &leaf->reg[random_word(state) % 4];

	switch (random_word(state) % 5) {
	case 0:
		*reg ^= 1u << random_word(state) % 32;
		break;
	case 1:
		*reg = random_word(state);
		break;
	case 2:
		*reg = random_word(state) % 2 ? 0 : 0xffffffff;
		break;
	case 3:
		((unsigned char *)reg)[random_word(state) % 4] =
			(unsigned char)random_word(state);
		break;
	default:
		leaf->leaf = 0x12345678;
		break;
	}
}

static void test_mutated(void)
{
	unsigned short state[3] = { 3, 1, 4 };
	unsigned long known = 0, unknown = 0;
	bool sound = true;

	for (int i = 0; i < 100000 && sound; i++) {
		const struct cpu *cpu = &real[(size_t)i % COUNT(real)].cpu;
		struct cpuid_cpu to = registers(cpu);
		uint32_t changes = 1 + random_word(state) % 6;
		struct tlb_info info;

		while (changes-- > 0)
			mutate(&to, state);
		info = decode_registers(&to);
		sound = all_sound(&info);
		if (!sound)
			diag("mutation %d of a %s", i,
			     real[(size_t)i % COUNT(real)].name);
		info.entries < 0 ? unknown++ : known++;
		tlb_free(&info);
		free(to.leaf);
	}
	ok(sound, "mutated registers: entries, ways and pages are sound");
	ok(known > 1000 && unknown > 1000,
	   "... both where E is known (%lu) and where not (%lu)", known,
	   unknown);
}

int main(void)
{
	test_real();
	test_arrays();
	test_amd_ways();
	test_unified();
	test_zen5_guest();
	test_unknown();
	test_leaf2();
	test_descriptors();
	test_leaf18();
	test_endless();
	test_missing();
	test_mutated();
	return done();
}
