/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cpuid_format.h"
#include "why.h"

const struct cpuid_format *const cpuid_formats[] = {
	&cpuid_format_aida,
	&cpuid_format_raw,
	&cpuid_format_libcpuid,
	&cpuid_format_hwloc,
	NULL,
};

bool cpuid_skip(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncasecmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

void cpuid_skip_blanks(const char **at)
{
	*at += strspn(*at, " \t");
}

bool cpuid_hex(const char **at, uint32_t *value)
{
	static const char digits[] = "0123456789abcdef";
	const char *c = *at;
	uint32_t sum = 0;

	for (; isxdigit((unsigned char)*c); c++) {
		if (c - *at == 8)
			return false;
		sum = sum << 4 |
		      (uint32_t)(strchr(digits, tolower((unsigned char)*c)) -
				 digits);
	}
	if (c == *at)
		return false;
	*value = sum;
	*at = c;
	return true;
}

bool cpuid_hex8(const char **at, uint32_t *value)
{
	const char *start = *at;

	if (!cpuid_hex(at, value))
		return false;
	if (*at - start == 8)
		return true;
	*at = start;
	return false;
}

bool cpuid_decimal(const char **at, int *value)
{
	const char *c = *at;
	int sum = 0;

	for (; isdigit((unsigned char)*c); c++) {
		if (c - *at == 9)
			return false;
		sum = 10 * sum + (*c - '0');
	}
	if (c == *at)
		return false;
	*value = sum;
	*at = c;
	return true;
}

/*
 * Take the next line off *rest, without its end; NULL at the end. *whole: it
 * had an end.
 */
static char *next_line(char **rest, bool *whole)
{
	char *line = *rest;
	size_t len;

	if (!*line)
		return NULL;
	len = strcspn(line, "\n");
	*whole = line[len] == '\n';
	*rest = line + len + *whole;
	line[len] = '\0';
	if (len > 0 && line[len - 1] == '\r')
		line[len - 1] = '\0';
	return line;
}

/* Where the parser is in a record. */
struct cursor {
	const struct cpuid_format *format; /* NULL until a line tells */
	struct cpuid_machine *machine;
	size_t line;
	bool whole;   /* the line has an end */
	int number;   /* of the last heading; -1: it had none */
	bool heading; /* there was one since the last leaf */
};

static enum cpuid_line_kind try_format(const struct cpuid_format *format,
				       const char *line, struct cpuid_line *out)
{
	*out = (struct cpuid_line){ .number = -1 };
	return format->parse(line, out);
}

/*
 * Parse a line. While the format is not known, that is the first to find
 * registers in a line, whole or cut short; headings are much alike.
 */
static enum cpuid_line_kind parse_line(struct cursor *cursor, const char *line,
				       struct cpuid_line *out)
{
	const struct cpuid_format *const *format;
	enum cpuid_line_kind kind, best = CPUID_LINE_OTHER;
	struct cpuid_line parsed;

	if (cursor->format)
		return try_format(cursor->format, line, out);
	for (format = cpuid_formats; *format; format++) {
		kind = try_format(*format, line, &parsed);
		if (kind == CPUID_LINE_OTHER || best == CPUID_LINE_LEAF ||
		    (best != CPUID_LINE_OTHER && kind == CPUID_LINE_CPU))
			continue;
		best = kind;
		*out = parsed;
		if (kind != CPUID_LINE_CPU)
			cursor->format = *format;
	}
	return best;
}

/*
 * Does the leaf begin another CPU? Where there is no heading leaf 0 tells. Nor
 * is every heading another CPU's: registers of other kinds have them as well.
 */
static bool is_next_cpu(const struct cursor *cursor,
			const struct cpuid_leaf *leaf)
{
	const struct cpuid_machine *machine = cursor->machine;

	if (machine->n == 0)
		return true;
	if (leaf->leaf == 0 && leaf->subleaf == 0)
		return true;
	return cursor->heading &&
	       cursor->number != (int)machine->cpu[machine->n - 1].number;
}

/* The heading's number, unless it has been used; else the next one. */
static unsigned int next_number(const struct cursor *cursor)
{
	const struct cpuid_machine *machine = cursor->machine;
	unsigned int next;

	next = machine->n ? machine->cpu[machine->n - 1].number + 1 : 0;
	if (cursor->heading && cursor->number >= 0 &&
	    (unsigned int)cursor->number >= next)
		return (unsigned int)cursor->number;
	return next;
}

static int add_leaf(struct cursor *cursor, struct cpuid_line *line)
{
	struct cpuid_machine *machine = cursor->machine;
	struct cpuid_leaf *leaf = &line->leaf, *last;
	struct cpuid_cpu *cpu;

	if (is_next_cpu(cursor, leaf) &&
	    cpuid_add_cpu(machine, next_number(cursor)) < 0)
		return -1;
	cursor->heading = false;
	cpu = &machine->cpu[machine->n - 1];
	last = cpu->n ? &cpu->leaf[cpu->n - 1] : NULL;
	if (!line->has_subleaf && last && last->leaf == leaf->leaf)
		leaf->subleaf = last->subleaf + 1;
	return cpuid_add_leaf(cpu, leaf);
}

/* The start of a line for a message: no more than fits, and printable. */
static const char *quote(char *line)
{
	size_t i;

	for (i = 0; i < 60 && line[i]; i++)
		if (!isprint((unsigned char)line[i]))
			line[i] = line[i] == '\t' ? ' ' : '?';
	line[i] = '\0';
	return line;
}

static int take_line(struct cursor *cursor, char *line, char **why)
{
	struct cpuid_line parsed;

	cursor->line++;
	switch (parse_line(cursor, line, &parsed)) {
	case CPUID_LINE_CPU:
		cursor->heading = true;
		cursor->number = parsed.number;
		return 0;
	case CPUID_LINE_LEAF:
		if (cursor->format->open_ended && !cursor->whole)
			return why_set(why, EINVAL,
				       "line %zu: the file ends within it",
				       cursor->line);
		if (!add_leaf(cursor, &parsed))
			return 0;
		if (errno == E2BIG)
			return why_set(why, EINVAL,
				       "line %zu: more than %d CPUs",
				       cursor->line, CPUID_MAX_CPUS);
		return -1;
	case CPUID_LINE_BAD:
		return why_set(why, EINVAL, "line %zu: expected '%s', got '%s'",
			       cursor->line, cursor->format->wanted,
			       quote(line));
	case CPUID_LINE_OTHER:
		break;
	}
	return 0;
}

int cpuid_parse(char *text, struct cpuid_machine *out, char **why)
{
	struct cursor cursor = { .machine = out, .number = -1 };
	int status = 0, error;
	char *line;

	*out = (struct cpuid_machine){ 0 };
	*why = NULL;
	while (!status && (line = next_line(&text, &cursor.whole)))
		status = take_line(&cursor, line, why);
	if (!status && !cursor.format)
		status = why_set(why, EINVAL,
				 "no CPUID registers in it (AIDA64, cpuid -r, "
				 "libcpuid or hwloc-gather-cpuid)");
	if (!status) {
		out->format = cursor.format->name;
		return 0;
	}
	error = errno;
	cpuid_free(out);
	errno = error;
	return -1;
}
