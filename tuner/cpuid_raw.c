/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of `cpuid -r`:
 *
 *	CPU 0:
 *	   0x00000018 0x01: eax=0x00000000 ebx=0x00080001 ecx=0x00000020 ...
 *
 * The sub-leaf is hexadecimal; versions before 2011 leave it out.
 */
#include <config.h>

#include "cpuid_format.h"

static enum cpuid_line_kind parse_heading(const char *at,
					  struct cpuid_line *out)
{
	if (!cpuid_skip(&at, "CPU"))
		return CPUID_LINE_OTHER;
	cpuid_skip_blanks(&at);
	cpuid_decimal(&at, &out->number);
	return cpuid_skip(&at, ":") && !*at ? CPUID_LINE_CPU : CPUID_LINE_OTHER;
}

static enum cpuid_line_kind parse(const char *line, struct cpuid_line *out)
{
	static const char *const names[] = { "eax=0x", "ebx=0x", "ecx=0x",
					     "edx=0x" };
	const char *at = line;
	int i;

	cpuid_skip_blanks(&at);
	if (!cpuid_skip(&at, "0x") || !cpuid_hex(&at, &out->leaf.leaf))
		return parse_heading(line, out);
	cpuid_skip_blanks(&at);
	if (cpuid_skip(&at, "0x")) {
		if (!cpuid_hex(&at, &out->leaf.subleaf))
			return CPUID_LINE_BAD;
		out->has_subleaf = true;
	}
	if (!cpuid_skip(&at, ":"))
		return CPUID_LINE_OTHER;
	for (i = 0; i < 4; i++) {
		cpuid_skip_blanks(&at);
		if (!cpuid_skip(&at, names[i]) ||
		    !cpuid_hex8(&at, &out->leaf.reg[i]))
			return CPUID_LINE_BAD;
	}
	cpuid_skip_blanks(&at);
	return *at ? CPUID_LINE_BAD : CPUID_LINE_LEAF;
}

const struct cpuid_format cpuid_format_raw = {
	.name = "cpuid -r",
	.wanted = "0x00000000 0x00: eax=0x... ebx=0x... ecx=0x... edx=0x...",
	.parse = parse,
};
