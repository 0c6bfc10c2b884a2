/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kept FACTOR E PAGES CEILING: a file that tune wrote before this boot, brought
 * into force as a boot does it, gives these values (KNOB_UNKNOWN: there is no
 * such knob, and the file breaks nothing).
 *
 * procps' sysctl writes the lines of sysctl.d in their order. systemd-sysctl
 * writes each name once: a line replaces the one for the same name before it,
 * and takes a place at the end unless the value is the same. A "-" before a
 * name: no matter if it fails.
 */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "knob.h"
#include "tap.h"
#include "tuner.h"

#define MAX_LINES 16

struct line {
	char path[128], value[32];
	bool may_fail;
};

struct lines {
	struct line line[MAX_LINES];
	size_t count;
};

/* "-vm.name = value" */
static bool parse_sysctl(const char *text, struct line *line)
{
	char name[64];

	line->may_fail = *text == '-';
	if (sscanf(text + line->may_fail, " %63[^ =] = %31s", name,
		   line->value) != 2)
		return false;
	for (char *c = name; *c; c++)
		if (*c == '.')
			*c = '/';
	snprintf(line->path, sizeof(line->path), "/proc/sys/%s", name);
	return true;
}

/* "w- path - - - - value" */
static bool parse_tmpfiles(const char *text, struct line *line)
{
	char type[8];

	if (sscanf(text, "%7s %127s %*s %*s %*s %*s %31s", type, line->path,
		   line->value) != 3)
		return false;
	line->may_fail = strchr(type, '-') != NULL;
	return type[0] == 'w';
}

/* The lines of the file there is; false if one is not understood. */
static bool read_lines(struct lines *lines)
{
	bool (*parse)(const char *, struct line *) = parse_sysctl;
	FILE *from = fopen(TUNER_SYSCTL_FILE, "r");
	char text[256];
	bool good = true;

	lines->count = 0;
	if (!from) {
		parse = parse_tmpfiles;
		from = fopen(TUNER_TMPFILES_FILE, "r");
	}
	while (from && fgets(text, sizeof(text), from)) {
		if (text[0] == '#')
			continue;
		good = good && lines->count < MAX_LINES &&
		       parse(text, &lines->line[lines->count]);
		lines->count += good;
	}
	if (from)
		fclose(from);
	return good && lines->count > 0;
}

/* All in that order; false if one failed that may not. */
static bool write_lines(const struct lines *lines)
{
	bool good = true;

	for (size_t i = 0; i < lines->count; i++) {
		const struct line *line = &lines->line[i];

		if (knob_write_text(line->path, line->value) && !line->may_fail)
			good = false;
	}
	return good;
}

static void add_once(struct lines *lines, const struct line *line)
{
	for (size_t i = 0; i < lines->count; i++) {
		struct line *other = &lines->line[i];

		if (strcmp(other->path, line->path) != 0)
			continue;
		if (!strcmp(other->value, line->value))
			return;
		lines->count--;
		memmove(other, other + 1, (lines->count - i) * sizeof(*other));
		break;
	}
	lines->line[lines->count++] = *line;
}

static void write_and_check(const struct lines *lines,
			    const struct tuner_values *want, const char *how)
{
	struct tuner_values now;

	ok(write_lines(lines), "%s: nothing fails", how);
	tuner_values(&now);
	is_int(now.factor, want->factor, "%s: factor %ld", how, want->factor);
	is_int(now.entries, want->entries, "%s: E %ld", how, want->entries);
	is_int(now.pages, want->pages, "%s: %ld pages", how, want->pages);
	is_int(now.ceiling, want->ceiling, "%s: ceiling %ld", how,
	       want->ceiling);
}

int test_kept(int argc, char **argv)
{
	struct lines all, once = { .count = 0 };
	struct tuner_values booted, want;

	if (argc != 5)
		return EXIT_FAILURE;
	want = (struct tuner_values){ atol(argv[1]), atol(argv[2]),
				      atol(argv[3]), atol(argv[4]) };
	tuner_values(&booted);
	ok(read_lines(&all), "a file of lines that a boot understands");
	for (size_t i = 0; i < all.count; i++)
		add_once(&once, &all.line[i]);
	write_and_check(&once, &want, "each name once");
	if (tuner_has_factor()) {
		is_int(knob_write(KNOB_FACTOR, -2), 0, "factor -2 again");
		is_int(knob_write(KNOB_ENTRIES, booted.entries), 0,
		       "E %ld again", booted.entries);
	}
	write_and_check(&all, &want, "line by line");
	return done();
}
