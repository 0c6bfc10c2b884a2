/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources: Intel SDM vol. 2A, CPUID (display family and model, leaves 1, 7 and
 * 0x1A); AMD APM vol. 3, appendix E (Fn0000_0001_EAX, Fn8000_0008); Linux
 * Documentation/virt/kvm/x86/cpuid.rst; Hyper-V TLFS, feature discovery.
 */
#include <config.h>

#include <cpuid.h>
#include <libcpuid/libcpuid.h>
#include <stdbool.h>
#include <string.h>

#include "identity.h"

#define BIT(n) (1u << (n))

#define EXTENDED 0x80000000u
#define HYPERVISOR 0x40000000u
#define HYPERVISOR_END 0x40010000u
#define HYPERVISOR_STEP 0x100u

enum { A, B, C, D };

static int read_live(void *context, uint32_t leaf, uint32_t subleaf,
		     uint32_t reg[4])
{
	(void)context;
	__cpuid_count(leaf, subleaf, reg[A], reg[B], reg[C], reg[D]);
	return 0;
}

const struct identity_source identity_live = { .read = read_live };

/* Read a leaf, all zero where the source has none. */
static bool leaf(const struct identity_source *source, uint32_t number,
		 uint32_t reg[4])
{
	if (!source->read(source->context, number, 0, reg))
		return true;
	memset(reg, 0, 4 * sizeof(*reg));
	return false;
}

/*
 * Read a leaf of the basic or extended range if that range reaches so far: an
 * Intel CPU answers what lies beyond with the data of another leaf.
 */
static bool ranged_leaf(const struct identity_source *source, uint32_t number,
			uint32_t reg[4])
{
	uint32_t base = number & EXTENDED, range[4];

	leaf(source, base, range);
	if (range[A] >= number && range[A] < base + 0x10000)
		return leaf(source, number, reg);
	memset(reg, 0, 4 * sizeof(*reg));
	return false;
}

/* The leaves that vendor and brand are in. */
struct names {
	uint32_t basic[2][4];	 /* 0 and 1 */
	uint32_t extended[5][4]; /* 0x80000000 to 0x80000004 */
};

/*
 * Vendor and brand as libcpuid reads them; false if it knows no such vendor.
 * It gets no other leaves: it takes what is zero for absent.
 */
static bool name_by_libcpuid(const struct names *names, struct identity *out)
{
	struct cpu_raw_data_t raw = { 0 };
	struct cpu_id_t id = { 0 };
	libcpuid_warn_fn_t before;
	int error;

	memcpy(raw.basic_cpuid, names->basic, sizeof(names->basic));
	memcpy(raw.ext_cpuid, names->extended, sizeof(names->extended));
	before = cpuid_set_warn_function(NULL);
	error = cpu_identify(&raw, &id);
	cpuid_set_warn_function(before);
	if (error || !id.vendor_str[0])
		return false;
	memcpy(out->vendor, id.vendor_str, sizeof(out->vendor) - 1);
	memcpy(out->brand, id.brand_str, sizeof(out->brand) - 1);
	return true;
}

/* The same from the registers: EBX, EDX, ECX and leaves 0x80000002..4. */
static void name_by_registers(const struct names *names, struct identity *out)
{
	memcpy(out->vendor, &names->basic[0][B], 4);
	memcpy(out->vendor + 4, &names->basic[0][D], 4);
	memcpy(out->vendor + 8, &names->basic[0][C], 4);
	memcpy(out->brand, &names->extended[2], sizeof(out->brand) - 1);
}

/* Brands come padded with blanks, on either side. */
static void trim(char *text)
{
	size_t lead = strspn(text, " ");
	size_t len = strlen(text + lead);

	memmove(text, text + lead, len + 1);
	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
}

static void read_names(const struct identity_source *source,
		       struct identity *out)
{
	struct names names = { 0 };
	uint32_t i;

	leaf(source, 0, names.basic[0]);
	ranged_leaf(source, 1, names.basic[1]);
	leaf(source, EXTENDED, names.extended[0]);
	/* All of the brand, or none. */
	if (ranged_leaf(source, EXTENDED + 4, names.extended[4]))
		for (i = 1; i < 4; i++)
			leaf(source, EXTENDED + i, names.extended[i]);
	if (!name_by_libcpuid(&names, out))
		name_by_registers(&names, out);
	trim(out->brand);
}

static bool is_amd(const struct identity *id)
{
	return !strcmp(id->vendor, "AuthenticAMD") ||
	       !strcmp(id->vendor, "HygonGenuine");
}

/*
 * Display family and model. All vendors add the extended family to family 0xF
 * only. The extended model counts for families 6 and 0xF on Intel, for 0xF on
 * AMD; others are taken as Linux takes them, from family 6 on.
 */
static void read_signature(uint32_t eax, struct identity *out)
{
	unsigned int family = eax >> 8 & 0xf;
	unsigned int model = eax >> 4 & 0xf;
	bool extended;

	if (!strcmp(out->vendor, "GenuineIntel"))
		extended = family == 6 || family == 0xf;
	else if (is_amd(out))
		extended = family == 0xf;
	else
		extended = family >= 6;
	if (extended)
		model |= eax >> 12 & 0xf0;
	if (family == 0xf)
		family += eax >> 20 & 0xff;
	out->family = (int)family;
	out->model = (int)model;
	out->stepping = (int)(eax & 0xf);
}

/*
 * Leaf 7 EDX[15]: hybrid; leaf 0x1A EAX[31:24]: the kind of this core. The
 * names are those of Linux (topology_common.c).
 */
static const char *read_core_type(const struct identity_source *source)
{
	uint32_t reg[4];

	if (!ranged_leaf(source, 7, reg) || !(reg[D] & BIT(15)))
		return NULL;
	if (!ranged_leaf(source, 0x1a, reg))
		return NULL;
	switch (reg[A] >> 24) {
	case 0x20:
		return "efficiency";
	case 0x40:
		return "performance";
	default:
		return NULL;
	}
}

/*
 * Fn8000_0008: EBX[3] INVLPGB, EDX[15:0] the pages of one INVLPGB beyond the
 * first. Other vendors use these bits otherwise, or not at all.
 */
static void read_invlpgb(const struct identity_source *source,
			 struct identity *out)
{
	uint32_t reg[4];

	ranged_leaf(source, EXTENDED + 8, reg);
	out->invlpgb = is_amd(out) && reg[B] & BIT(3);
	if (out->invlpgb)
		out->invlpgb_max_pages = (int)(reg[D] & 0xffff) + 1;
}

/* The signature at base: EBX, ECX, EDX in this order. */
static void read_hypervisor_name(const struct identity_source *source,
				 uint32_t base, char name[13])
{
	uint32_t reg[4];

	leaf(source, base, reg);
	memcpy(name, &reg[B], 12);
	name[12] = '\0';
}

/*
 * Where KVM keeps its leaves: not first when it plays Hyper-V as well. Searched
 * as Linux does (for_each_possible_hypervisor_cpuid_base). 0: nowhere.
 */
static uint32_t find_kvm(const struct identity_source *source)
{
	uint32_t base;
	char name[13];

	for (base = HYPERVISOR; base < HYPERVISOR_END;
	     base += HYPERVISOR_STEP) {
		read_hypervisor_name(source, base, name);
		if (!strcmp(name, "KVMKVMKVM"))
			return base;
	}
	return 0;
}

/*
 * Linux (pv_tlb_flush_supported) takes up KVM_FEATURE_PV_TLB_FLUSH, EAX[9],
 * along with KVM_FEATURE_STEAL_TIME, EAX[5], unless virtual CPUs are said never
 * to be preempted (KVM_HINTS_REALTIME, EDX[0]) or may MWAIT (leaf 1 ECX[3]).
 */
static bool kvm_flushes(const struct identity_source *source, uint32_t base)
{
	uint32_t kvm[4], basic[4];

	leaf(source, base + 1, kvm);
	ranged_leaf(source, 1, basic);
	return kvm[A] & BIT(9) && kvm[A] & BIT(5) && !(kvm[D] & BIT(0)) &&
	       !(basic[C] & BIT(3));
}

/* TLFS, 0x40000004 EAX[2]: use hypercalls for remote TLB flushes. */
static bool hyperv_flushes(const struct identity_source *source)
{
	uint32_t reg[4];

	leaf(source, HYPERVISOR, reg);
	if (reg[A] < HYPERVISOR + 4)
		return false;
	leaf(source, HYPERVISOR + 4, reg);
	return reg[A] & BIT(2);
}

static void read_hypervisor(const struct identity_source *source,
			    struct identity *out)
{
	uint32_t kvm;

	read_hypervisor_name(source, HYPERVISOR, out->hypervisor);
	kvm = find_kvm(source);
	if (kvm) {
		read_hypervisor_name(source, kvm, out->hypervisor);
		out->pv_tlb_flush = kvm_flushes(source, kvm);
	} else if (!strcmp(out->hypervisor, "Microsoft Hv")) {
		out->pv_tlb_flush = hyperv_flushes(source);
	} else if (out->hypervisor[0] &&
		   strcmp(out->hypervisor, "XenVMMXenVMM") != 0) {
		out->pv_tlb_flush = 0;
	}
}

void identity_read(const struct identity_source *source, struct identity *out)
{
	uint32_t reg[4];

	*out = (struct identity){
		.family = -1,
		.model = -1,
		.stepping = -1,
		.invlpgb = -1,
		.invlpgb_max_pages = -1,
		.guest = -1,
		.pv_tlb_flush = -1,
	};
	if (!ranged_leaf(source, 1, reg))
		return;
	read_names(source, out);
	read_signature(reg[A], out);
	out->core_type = read_core_type(source);
	read_invlpgb(source, out);
	out->guest = !!(reg[C] & BIT(31));
	if (out->guest)
		read_hypervisor(source, out);
	else
		out->pv_tlb_flush = 0;
}
