/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kept FACTOR E PAGES CEILING: a file that tune wrote before this boot, brought
 * into force as a boot does it, gives these values (KNOB_UNKNOWN: there is no
 * such knob, and the file breaks nothing).
 *
 * By systemd itself, if it was put into the initramfs. Then as others do it:
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
#include <unistd.h>

#include "guest.h"
#include "knob.h"
#include "tap.h"
#include "tuner.h"

#define LOG "/tmp/kept.log"
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

static void check_values(const struct tuner_values *want, const char *how)
{
	struct tuner_values now;

	tuner_values(&now);
	is_int(now.factor, want->factor, "%s: factor %ld", how, want->factor);
	is_int(now.entries, want->entries, "%s: E %ld", how, want->entries);
	is_int(now.pages, want->pages, "%s: %ld pages", how, want->pages);
	is_int(now.ceiling, want->ceiling, "%s: ceiling %ld", how,
	       want->ceiling);
}

/* As it was when the guest had booted. */
static void reset(const struct tuner_values *booted)
{
	if (tuner_has_factor()) {
		is_int(knob_set(booted->factor, booted->entries), 0,
		       "factor and E of the boot again");
	} else {
		is_int(knob_write(KNOB_CEILING, booted->ceiling), 0,
		       "ceiling of the boot again");
	}
}

/* By systemd's own program, where the initramfs has it. */
static void let_systemd_write(const struct tuner_values *want)
{
	static const char *const sysctl[] = { "systemd-sysctl", NULL };
	static const char *const tmpfiles[] = { "systemd-tmpfiles", "--create",
						"--boot", NULL };
	const bool is_sysctl = access(TUNER_SYSCTL_FILE, F_OK) == 0;
	const char *const *argv = is_sysctl ? sysctl : tmpfiles;
	char path[64];

	snprintf(path, sizeof(path), "/bin/%s", argv[0]);
	if (access(path, X_OK) < 0) {
		skip(5, "no %s where this was built", argv[0]);
		return;
	}
	is_int(tuner_run(LOG, argv), 0, "%s ends well", argv[0]);
	check_values(want, argv[0]);
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
	let_systemd_write(&want);
	reset(&booted);
	ok(write_lines(&once), "each name once: nothing fails");
	check_values(&want, "each name once");
	reset(&booted);
	ok(write_lines(&all), "line by line: nothing fails");
	check_values(&want, "line by line");
	return done();
}
