/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AIDA64's CPUID dump, which InstLatX64 collects, and its predecessors:
 *
 *	------[ CPUID Registers / Logical CPU #0 ]------
 *	CPUID 00000004: FC004121-01C0003F-0000003F-00000000 [SL 00] [L1D: 32 KB]
 *
 * Older ones differ in what separates the fields (blanks, a tab, a colon), in
 * the heading ("CPUID Registers (CPU #1):", "CPU#000 AffMask: ...") and don't
 * number sub-leaves. SL is hexadecimal.
 */
#include <config.h>

#include <string.h>

#include "cpuid_format.h"

static void skip_separators(const char **at)
{
	*at += strspn(*at, " \t:-");
}

/* "[SL 0B]", among other remarks in brackets. */
static bool find_subleaf(const char *at, uint32_t *subleaf)
{
	while ((at = strchr(at, '['))) {
		at++;
		if (cpuid_skip(&at, "SL ") && cpuid_hex(&at, subleaf) &&
		    *at == ']')
			return true;
	}
	return false;
}

static enum cpuid_line_kind parse_leaf(const char *at, struct cpuid_line *out)
{
	int i;

	for (i = 0; i < 4; i++) {
		skip_separators(&at);
		if (!cpuid_hex8(&at, &out->leaf.reg[i]))
			return CPUID_LINE_BAD;
	}
	if (*at && !strchr(" \t[", *at))
		return CPUID_LINE_BAD;
	out->has_subleaf = find_subleaf(at, &out->leaf.subleaf);
	return CPUID_LINE_LEAF;
}

/* "CPU #12" or "CPU#012" anywhere: a heading. */
static enum cpuid_line_kind parse_heading(const char *at,
					  struct cpuid_line *out)
{
	while ((at = strstr(at, "CPU"))) {
		at += 3;
		cpuid_skip_blanks(&at);
		if (cpuid_skip(&at, "#") && cpuid_decimal(&at, &out->number))
			return CPUID_LINE_CPU;
	}
	return CPUID_LINE_OTHER;
}

static enum cpuid_line_kind parse(const char *line, struct cpuid_line *out)
{
	const char *at = line;

	cpuid_skip_blanks(&at);
	if (cpuid_skip(&at, "CPUID ") && cpuid_hex8(&at, &out->leaf.leaf) &&
	    strchr(" \t:", *at))
		return parse_leaf(at, out);
	return parse_heading(line, out);
}

const struct cpuid_format cpuid_format_aida = {
	.name = "AIDA64",
	.wanted = "CPUID 00000000: 4 registers of 8 hexadecimal digits",
	.parse = parse,
};
