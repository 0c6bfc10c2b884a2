/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What hwloc-gather-cpuid writes, one file a CPU, named pu0, pu1, ...:
 *
 *	# mask e[abcd]x => e[abcd]x
 *	5 18 0 1 0 => 0 80001 20 4022
 *
 * All numbers are hexadecimal. The mask says which of EAX, EBX, ECX and EDX
 * matter on input; sub-leaves are those where ECX (4) does.
 */
#include <config.h>

#include <string.h>

#include "cpuid_format.h"

#define MATTERS_ECX 4

static bool parse_four(const char **at, uint32_t reg[4])
{
	int i;

	for (i = 0; i < 4; i++) {
		cpuid_skip_blanks(at);
		if (!cpuid_hex(at, &reg[i]))
			return false;
	}
	return true;
}

static enum cpuid_line_kind parse(const char *line, struct cpuid_line *out)
{
	const char *at = line;
	uint32_t mask, in[4];

	cpuid_skip_blanks(&at);
	if (!cpuid_hex(&at, &mask) || (*at != ' ' && *at != '\t'))
		return CPUID_LINE_OTHER;
	/* A mask has four bits; noise that begins with two numbers has more. */
	if (mask > 0xf || !parse_four(&at, in))
		return CPUID_LINE_OTHER;
	cpuid_skip_blanks(&at);
	if (!cpuid_skip(&at, "=>"))
		return *at ? CPUID_LINE_OTHER : CPUID_LINE_BAD;
	if (!parse_four(&at, out->leaf.reg))
		return CPUID_LINE_BAD;
	cpuid_skip_blanks(&at);
	if (*at)
		return CPUID_LINE_BAD;
	out->leaf.leaf = in[0];
	out->leaf.subleaf = mask & MATTERS_ECX ? in[2] : 0;
	out->has_subleaf = true;
	return CPUID_LINE_LEAF;
}

const struct cpuid_format cpuid_format_hwloc = {
	.name = "hwloc-gather-cpuid",
	.wanted = "mask EAX EBX ECX EDX => EAX EBX ECX EDX",
	.open_ended = true,
	.parse = parse,
};
