/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identity: signatures by each vendor's rule, names, and what hypervisors say,
 * on CPUs that are made up of the leaves in question.
 */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "identity.h"
#include "sysfile.h"
#include "tap.h"
#include "text.h"

#define INTEL "GenuineIntel"
#define AMD "AuthenticAMD"

/* A CPU by its leaves; what lies beyond leaf 0's limit reads as all ones. */
struct fake {
	const char *vendor, *brand;
	uint32_t signature;
	uint32_t max_extended;
	uint32_t leaf1_ecx, leaf7_edx, leaf1a_eax;
	uint32_t x80000008_ebx, x80000008_edx;
	const char *hypervisor; /* at 0x40000000 */
	uint32_t hypervisor_max, x40000001[4], x40000004_eax;
	const char *second; /* signature at 0x40000100 */
	uint32_t x40000101[4];
};

static void put_signature(uint32_t reg[4], uint32_t max, const char *signature)
{
	reg[0] = max;
	memset(&reg[1], 0, 12);
	memcpy(&reg[1], signature, strnlen(signature, 12));
}

static int read_fake(void *context, uint32_t leaf, uint32_t subleaf,
		     uint32_t reg[4])
{
	const struct fake *fake = context;
	char brand[48] = { 0 };

	(void)subleaf;
	memset(reg, 0xff, 16);
	switch (leaf) {
	case 0:
		reg[0] = 0x1a;
		memcpy(&reg[1], fake->vendor, 4);
		memcpy(&reg[3], fake->vendor + 4, 4);
		memcpy(&reg[2], fake->vendor + 8, 4);
		break;
	case 1:
		memset(reg, 0, 16);
		reg[0] = fake->signature;
		reg[2] = fake->leaf1_ecx;
		break;
	case 7:
		memset(reg, 0, 16);
		reg[3] = fake->leaf7_edx;
		break;
	case 0x1a:
		memset(reg, 0, 16);
		reg[0] = fake->leaf1a_eax;
		break;
	case 0x80000000:
		memset(reg, 0, 16);
		reg[0] = fake->max_extended ? fake->max_extended : 0x80000008;
		break;
	case 0x80000002:
	case 0x80000003:
	case 0x80000004:
		memcpy(brand, fake->brand ? fake->brand : "",
		       fake->brand ? strnlen(fake->brand, 48) : 0);
		memcpy(reg, brand + 16 * (leaf - 0x80000002), 16);
		break;
	case 0x80000008:
		memset(reg, 0, 16);
		reg[1] = fake->x80000008_ebx;
		reg[3] = fake->x80000008_edx;
		break;
	case 0x40000000:
		put_signature(reg, fake->hypervisor_max,
			      fake->hypervisor ? fake->hypervisor : "");
		break;
	case 0x40000001:
		memcpy(reg, fake->x40000001, 16);
		break;
	case 0x40000004:
		reg[0] = fake->x40000004_eax;
		break;
	case 0x40000100:
		put_signature(reg, 0x40000101,
			      fake->second ? fake->second : "");
		break;
	case 0x40000101:
		memcpy(reg, fake->x40000101, 16);
		break;
	}
	return 0;
}

static struct identity identify(const struct fake *fake)
{
	const struct identity_source source = { read_fake, (void *)fake };
	struct identity id;

	identity_read(&source, &id);
	return id;
}

/* Signatures of real CPUs, as Linux and the vendors number them. */
static void test_signatures(void)
{
	static const struct {
		const char *vendor, *name;
		uint32_t signature;
		int family, model, stepping;
	} cpus[] = {
		{ INTEL, "Haswell", 0x000306c3, 6, 60, 3 },
		{ INTEL, "Skylake-SP", 0x00050654, 6, 85, 4 },
		{ INTEL, "Alder Lake", 0x00090672, 6, 151, 2 },
		{ INTEL, "Pentium 4 (Prescott)", 0x00000f43, 15, 4, 3 },
		{ INTEL, "family 19", 0x00400f10, 19, 1, 0 },
		{ INTEL, "family 15 with an extended model", 0x00010f62, 15, 22,
		  2 },
		{ INTEL, "family 5 ignores the extended model", 0x00010525, 5,
		  2, 5 },
		{ INTEL, "family 6 ignores the extended family", 0x00110661, 6,
		  22, 1 },
		{ AMD, "K6 ignores the extended model", 0x00030580, 5, 8, 0 },
		{ AMD, "K7 ignores the extended model", 0x00010681, 6, 8, 1 },
		{ AMD, "K8", 0x00060fb1, 15, 107, 1 },
		{ AMD, "K10", 0x00100f42, 16, 4, 2 },
		{ AMD, "Zen", 0x00800f11, 23, 1, 1 },
		{ AMD, "Zen 3", 0x00a00f11, 25, 1, 1 },
		{ AMD, "Zen 5", 0x00b00f21, 26, 2, 1 },
		{ AMD, "Zen 5 desktop", 0x00b40f40, 26, 68, 0 },
		{ "HygonGenuine", "Dhyana", 0x00900f02, 24, 0, 2 },
		{ "  Shanghai  ", "KX-7000", 0x000607b1, 7, 107, 1 },
		{ "CentaurHauls", "Nano", 0x000006f8, 6, 15, 8 },
		{ "CentaurHauls", "CNS", 0x00040671, 6, 71, 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
		const struct fake fake = { .vendor = cpus[i].vendor,
					   .signature = cpus[i].signature };
		struct identity id = identify(&fake);

		is_int(id.family, cpus[i].family, "%s: family", cpus[i].name);
		is_int(id.model, cpus[i].model, "%s: model", cpus[i].name);
		is_int(id.stepping, cpus[i].stepping, "%s: stepping",
		       cpus[i].name);
		is_string(id.vendor, cpus[i].vendor, "%s: vendor",
			  cpus[i].name);
	}
}

static void test_brands(void)
{
	const struct {
		const char *vendor, *brand, *want;
	} brands[] = {
		{ INTEL, "12th Gen Intel(R) Core(TM) i7-1260P",
		  "12th Gen Intel(R) Core(TM) i7-1260P" },
		{ INTEL, "      Intel(R) Core(TM) i7-2600 CPU @ 3.40GHz",
		  "Intel(R) Core(TM) i7-2600 CPU @ 3.40GHz" },
		{ AMD, "AMD EPYC 7763 64-Core Processor                 ",
		  "AMD EPYC 7763 64-Core Processor" },
		{ AMD, "forty-eight characters, every one of them in use",
		  "forty-eight characters, every one of them in use" },
		{ "  Shanghai  ", " ZHAOXIN KaiXian KX-7000/8 ",
		  "ZHAOXIN KaiXian KX-7000/8" },
		{ INTEL, "      ", "" },
	};
	struct fake without = { .vendor = INTEL,
				.brand = "not to be read",
				.max_extended = 0x80000003 };
	size_t i;

	for (i = 0; i < sizeof(brands) / sizeof(*brands); i++) {
		const struct fake fake = { .vendor = brands[i].vendor,
					   .brand = brands[i].brand };

		is_string(identify(&fake).brand, brands[i].want,
			  "the brand without padding: '%s'", brands[i].want);
	}
	is_string(identify(&without).brand, "",
		  "no brand where its leaves are not all there");
}

static void test_core_types(void)
{
	struct fake fake = { .vendor = INTEL,
			     .leaf7_edx = 1u << 15,
			     .leaf1a_eax = 0x40000001 };

	is_string(identify(&fake).core_type, "performance",
		  "leaf 0x1A says Core");
	fake.leaf1a_eax = 0x20000001;
	is_string(identify(&fake).core_type, "efficiency",
		  "leaf 0x1A says Atom");
	fake.leaf1a_eax = 0x30000001;
	is_string(identify(&fake).core_type, NULL,
		  "leaf 0x1A says something new");
	fake.leaf1a_eax = 0x40000001;
	fake.leaf7_edx = 0;
	is_string(identify(&fake).core_type, NULL,
		  "no core type on a CPU that is not hybrid");
}

static void test_invlpgb(void)
{
	struct fake fake = { .vendor = AMD,
			     .x80000008_ebx = 1u << 3,
			     .x80000008_edx = 0xabcd0007 };
	struct identity id = identify(&fake);

	is_int(id.invlpgb, 1, "AMD with INVLPGB");
	is_int(id.invlpgb_max_pages, 8, "... 7 pages beyond the first");
	fake.x80000008_ebx = ~(1u << 3);
	id = identify(&fake);
	is_int(id.invlpgb, 0, "AMD without INVLPGB");
	is_int(id.invlpgb_max_pages, -1, "... and so without a maximum");
	fake.x80000008_ebx = 1u << 3;
	fake.vendor = INTEL;
	is_int(identify(&fake).invlpgb, 0, "the bit means nothing on Intel");
	fake.vendor = AMD;
	fake.max_extended = 0x80000007;
	is_int(identify(&fake).invlpgb, 0, "nor without the leaf");
}

static void is_guest(const struct fake *fake, const char *signature, int flush,
		     const char *name)
{
	struct identity id = identify(fake);

	is_int(id.guest, signature != NULL, "%s: a guest", name);
	is_string(id.hypervisor, signature ? signature : "", "%s: signature",
		  name);
	is_int(id.pv_tlb_flush, flush, "%s: paravirtual flush", name);
}

static void test_hypervisors(void)
{
	const uint32_t guest = 1u << 31, mwait = 1u << 3;
	const uint32_t flush = 1u << 9, steal = 1u << 5;
	struct fake fake = { .vendor = INTEL, .hypervisor = "KVMKVMKVM" };

	is_guest(&fake, NULL, 0, "no hypervisor bit");

	fake.leaf1_ecx = guest;
	fake.hypervisor_max = 0x40000001;
	fake.x40000001[0] = flush | steal;
	is_guest(&fake, "KVMKVMKVM", 1, "KVM that flushes");
	fake.hypervisor_max = 0;
	is_guest(&fake, "KVMKVMKVM", 1, "old KVM, which says no maximum");
	fake.x40000001[0] = ~flush;
	is_guest(&fake, "KVMKVMKVM", 0, "KVM that does not flush");
	fake.x40000001[0] = ~steal;
	is_guest(&fake, "KVMKVMKVM", 0, "KVM without steal time");
	fake.x40000001[0] = flush | steal;
	fake.x40000001[3] = 1;
	is_guest(&fake, "KVMKVMKVM", 0, "KVM with dedicated CPUs");
	fake.x40000001[3] = ~1u;
	is_guest(&fake, "KVMKVMKVM", 1, "KVM with other hints");
	fake.leaf1_ecx = guest | mwait;
	is_guest(&fake, "KVMKVMKVM", 0, "KVM with MWAIT");

	fake = (struct fake){ .vendor = AMD,
			      .leaf1_ecx = guest,
			      .hypervisor = "Microsoft Hv",
			      .hypervisor_max = 0x40000006,
			      .x40000004_eax = 1u << 2 };
	is_guest(&fake, "Microsoft Hv", 1, "Hyper-V that flushes");
	fake.x40000004_eax = ~(1u << 2);
	is_guest(&fake, "Microsoft Hv", 0, "Hyper-V that does not");
	fake.x40000004_eax = 1u << 2;
	fake.hypervisor_max = 0x40000003;
	is_guest(&fake, "Microsoft Hv", 0, "Hyper-V without the leaf");
	fake.hypervisor_max = 0x40000006;
	fake.second = "KVMKVMKVM";
	is_guest(&fake, "KVMKVMKVM", 0, "KVM behind the face of Hyper-V");
	fake.x40000101[0] = flush | steal;
	is_guest(&fake, "KVMKVMKVM", 1, "... that flushes");

	fake = (struct fake){ .vendor = INTEL,
			      .leaf1_ecx = guest,
			      .hypervisor = "VMwareVMware" };
	is_guest(&fake, "VMwareVMware", 0, "VMware");
	fake.hypervisor = "XenVMMXenVMM";
	is_guest(&fake, "XenVMMXenVMM", -1, "Xen, of whichever kind");
	fake.hypervisor = "";
	is_guest(&fake, "", -1, "no signature");
}

static int read_nothing(void *context, uint32_t leaf, uint32_t subleaf,
			uint32_t reg[4])
{
	(void)context;
	(void)leaf;
	(void)subleaf;
	(void)reg;
	return -1;
}

static void test_unreadable(void)
{
	const struct identity_source source = { .read = read_nothing };
	struct identity id;

	identity_read(&source, &id);
	is_string(id.vendor, "", "no CPUID: no vendor");
	is_string(id.brand, "", "... no brand");
	ok(id.family == -1 && id.model == -1 && id.stepping == -1,
	   "... no signature");
	ok(!id.core_type && id.invlpgb == -1 && id.invlpgb_max_pages == -1,
	   "... no features");
	ok(id.guest == -1 && id.pv_tlb_flush == -1 && !id.hypervisor[0],
	   "... nothing known of a hypervisor");
}

static int read_random(void *context, uint32_t leaf, uint32_t subleaf,
		       uint32_t reg[4])
{
	unsigned short *state = context;
	int i;

	(void)subleaf;
	for (i = 0; i < 4; i++)
		reg[i] = (uint32_t)jrand48(state);
	/* Mostly say that there are leaves, or nothing else is looked at. */
	if ((leaf & 0x7fffffff) == 0 && jrand48(state) % 4)
		reg[0] = leaf + 0x1a;
	return 0;
}

/* Every register random: any answer will do, but it has to be one. */
static void test_garbage(void)
{
	unsigned short state[3] = { 1, 2, 3 };
	const struct identity_source source = { read_random, state };
	bool terminated = true, in_range = true;
	int i;

	for (i = 0; i < 2000; i++) {
		struct identity id;

		memset(&id, 0xff, sizeof(id));
		identity_read(&source, &id);
		terminated &= memchr(id.vendor, 0, sizeof(id.vendor)) &&
			      memchr(id.brand, 0, sizeof(id.brand)) &&
			      memchr(id.hypervisor, 0, sizeof(id.hypervisor));
		in_range &= id.family >= -1 && id.family < 15 + 256 &&
			    id.model >= -1 && id.model < 256 &&
			    id.stepping >= -1 && id.stepping < 16;
	}
	ok(terminated, "random registers: names end");
	ok(in_range, "random registers: numbers are in range");
}

/* The library prints what it does not know to stderr, unless told not to. */
static void test_silence(void)
{
	static const char *const vendors[] = { INTEL, AMD, "no such CPU " };
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	long written;
	size_t i;

	if (!file || saved < 0 || dup2(fileno(file), STDERR_FILENO) < 0) {
		skip(1, "stderr cannot be redirected");
		return;
	}
	for (i = 0; i < sizeof(vendors) / sizeof(*vendors); i++) {
		const struct fake fake = { .vendor = vendors[i],
					   .signature = 0x0fff0fff };

		identify(&fake);
	}
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	fseek(file, 0, SEEK_END);
	written = ftell(file);
	is_int(written, 0, "nothing on stderr about CPUs of the future");
	fclose(file);
}

static double cpuinfo_integer(const char *cpuinfo, const char *name)
{
	char *field = text_field(cpuinfo, name);
	double value = text_integer(field);

	free(field);
	return value;
}

/* The kernel decodes the same registers by itself. */
static void test_this_machine(void)
{
	char *cpuinfo = sysfile_read("", "/proc/cpuinfo");
	char *vendor = cpuinfo ? text_field(cpuinfo, "vendor_id") : NULL;
	char *flags = cpuinfo ? text_field(cpuinfo, "flags") : NULL;
	const char *preload = getenv("LD_PRELOAD");
	struct identity id;

	identity_read(&identity_live, &id);
	if (preload && strstr(preload, "vgpreload")) {
		skip(5, "valgrind has a CPUID of its own");
	} else if (vendor && flags) {
		is_string(id.vendor, vendor, "this CPU's vendor");
		is_double(id.family, cpuinfo_integer(cpuinfo, "cpu family"), 0,
			  "this CPU's family");
		is_double(id.model, cpuinfo_integer(cpuinfo, "model"), 0,
			  "this CPU's model");
		is_double(id.stepping, cpuinfo_integer(cpuinfo, "stepping"), 0,
			  "this CPU's stepping");
		is_int(id.guest, text_has_word(flags, "hypervisor"),
		       "whether this is a guest");
	} else {
		skip(5, "/proc/cpuinfo cannot be read");
	}
	free(flags);
	free(vendor);
	free(cpuinfo);
}

int main(void)
{
	test_signatures();
	test_brands();
	test_core_types();
	test_invlpgb();
	test_hypervisors();
	test_unreadable();
	test_garbage();
	test_silence();
	test_this_machine();
	return done();
}
