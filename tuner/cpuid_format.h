/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuid_format: the formats of recorded CPUID registers. All are text with a
 * leaf a line, so that a format is a function that parses one line.
 */
#ifndef TLBTUNE_CPUID_FORMAT_H
#define TLBTUNE_CPUID_FORMAT_H

#include <stdbool.h>

#include "cpuid.h"

enum cpuid_line_kind {
	CPUID_LINE_OTHER,
	CPUID_LINE_CPU, /* what follows is of another CPU */
	CPUID_LINE_LEAF,
	CPUID_LINE_BAD, /* begins as a leaf does, and is none */
};

struct cpuid_line {
	int number;	  /* of the CPU; -1: the line does not tell */
	bool has_subleaf; /* else lines of one leaf count up from 0 */
	struct cpuid_leaf leaf;
};

struct cpuid_format {
	const char *name;
	const char *wanted; /* what a leaf's line looks like, for messages */
	/* The last number has no fixed length, so that it may be cut short. */
	bool open_ended;
	enum cpuid_line_kind (*parse)(const char *line, struct cpuid_line *out);
};

extern const struct cpuid_format cpuid_format_aida;
extern const struct cpuid_format cpuid_format_hwloc;
extern const struct cpuid_format cpuid_format_libcpuid;
extern const struct cpuid_format cpuid_format_raw;

/* All of them, up to NULL. */
extern const struct cpuid_format *const cpuid_formats[];

/*
 * For the parsers. Each moves *at behind what it has found, and leaves it where
 * it was if that is not there.
 */
bool cpuid_skip(const char **at, const char *word); /* in any case */
void cpuid_skip_blanks(const char **at);
bool cpuid_hex8(const char **at, uint32_t *value); /* exactly 8 digits */
bool cpuid_hex(const char **at, uint32_t *value);  /* 1 to 8 digits */
bool cpuid_decimal(const char **at, int *value);   /* up to 9 digits */

#endif
