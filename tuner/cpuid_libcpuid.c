/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcpuid's raw dump (cpuid_serialize_raw_data):
 *
 *	_________________ Logical CPU #0 _________________
 *	basic_cpuid[2]=61b3a001 0000ffc2 00000000 00000000
 *
 * It has sub-leaves of a few leaves, 0x18 not among them, and no leaf beyond
 * 0x8000001F: enough for older CPUs only.
 */
#include <config.h>

#include "cpuid_format.h"

static const struct array {
	const char *name;
	uint32_t leaf;
	bool of_subleaves; /* else of leaves */
} arrays[] = {
	{ "basic_cpuid[", 0, false },
	{ "ext_cpuid[", 0x80000000, false },
	{ "intel_fn4[", 0x4, true },
	{ "intel_fn11[", 0xb, true },
	{ "intel_fn12h[", 0x12, true },
	{ "intel_fn14h[", 0x14, true },
	{ "amd_fn8000001dh[", 0x8000001d, true },
	{ "amd_fn80000026h[", 0x80000026, true },
};

static enum cpuid_line_kind parse_heading(const char *at,
					  struct cpuid_line *out)
{
	while (cpuid_skip(&at, "_"))
		;
	cpuid_skip_blanks(&at);
	if (cpuid_skip(&at, "Logical CPU #") &&
	    cpuid_decimal(&at, &out->number))
		return CPUID_LINE_CPU;
	return CPUID_LINE_OTHER;
}

static enum cpuid_line_kind parse(const char *line, struct cpuid_line *out)
{
	const struct array *array = arrays;
	const struct array *end = arrays + sizeof(arrays) / sizeof(*arrays);
	const char *at = line;
	int index, i;

	while (array < end && !cpuid_skip(&at, array->name))
		array++;
	if (array == end)
		return parse_heading(line, out);
	if (!cpuid_decimal(&at, &index) || !cpuid_skip(&at, "]="))
		return CPUID_LINE_BAD;
	for (i = 0; i < 4; i++) {
		cpuid_skip_blanks(&at);
		if (!cpuid_hex8(&at, &out->leaf.reg[i]))
			return CPUID_LINE_BAD;
	}
	cpuid_skip_blanks(&at);
	if (*at)
		return CPUID_LINE_BAD;
	out->leaf.leaf = array->leaf;
	*(array->of_subleaves ? &out->leaf.subleaf : &out->leaf.leaf) +=
		(uint32_t)index;
	out->has_subleaf = true;
	return CPUID_LINE_LEAF;
}

const struct cpuid_format cpuid_format_libcpuid = {
	.name = "libcpuid",
	.wanted = "basic_cpuid[0]=4 registers of 8 hexadecimal digits",
	.parse = parse,
};
