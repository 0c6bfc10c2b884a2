/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * write ENTRIES [E]: tune --write-sysctl with --tlb-entries ENTRIES on a kernel
 * that has booted with that E: in force, kept in a file, undone. It chooses
 * from a record of a simulated kernel, for which there is a choice;
 * test_regret.c has it measure. The file goes to the script, for a second boot.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "knob.h"
#include "tap.h"
#include "tuner.h"

#define LOG "/tmp/tune.log"
#define RECORD "/tmp/record.json"

/* The file says what is in force, and for the script, line by line. */
static void check_file(const struct tuner_values *now)
{
	const char *name = tuner_file();
	char line[256], *value;
	long last = KNOB_UNKNOWN;
	FILE *from = fopen(name, "r");

	ok(from, "%s is there", name);
	while (from && fgets(line, sizeof(line), from)) {
		printf("data: line %s", line);
		value = strrchr(line, ' ');
		if (line[0] != '#' && value)
			last = atol(value + 1);
	}
	if (from)
		fclose(from);
	is_int(last, tuner_has_factor() ? now->factor : now->ceiling,
	       "its last line is the value in force");
	printf("data: file %s\ndata: values %ld %ld %ld %ld\n", name,
	       now->factor, now->entries, now->pages, now->ceiling);
}

/* What is in force after a --write-sysctl, where old was before. */
static void check_written(const struct tuner_values *old, const char *entries)
{
	struct tuner_values now;

	tuner_values(&now);
	if (tuner_has_factor()) {
		ok(now.factor > -2, "factor %ld is in force", now.factor);
		is_int(now.entries, atol(entries), "... with the E given");
		is_int(now.pages,
		       knob_ceiling_halving(now.factor,
					    (unsigned long)now.entries),
		       "... and its pages follow");
		is_int(now.ceiling, old->ceiling, "debugfs is left alone");
	} else {
		ok(now.ceiling != old->ceiling && now.ceiling >= 0,
		   "a ceiling of %ld pages is in force", now.ceiling);
	}
	check_file(&now);
}

static void undo(const struct tuner_values *old)
{
	static const char *const argv[] = { "tune", "--undo", NULL };
	struct tuner_values now;

	is_int(tuner_run(LOG, argv), 0, "tune --undo");
	tuner_values(&now);
	ok(tuner_same(&now, old), "the values are those of before");
	ok(access(tuner_file(), F_OK) < 0, "and the file is gone");
}

/* Another value, as a boot leaves it; then what was stored. */
static void apply_again(const struct tuner_values *old)
{
	static const char *const argv[] = { "tune", "--apply", NULL };
	struct tuner_values want, now;

	tuner_values(&want);
	if (tuner_has_factor()) {
		is_int(knob_write(KNOB_FACTOR, -2), 0, "factor -2");
		is_int(knob_write(KNOB_ENTRIES, old->entries), 0,
		       "E of before");
	} else {
		is_int(knob_write(KNOB_CEILING, old->ceiling), 0,
		       "ceiling of before");
	}
	is_int(tuner_run(LOG, argv), 0, "tune --apply");
	tuner_values(&now);
	ok(tuner_same(&now, &want), "the values are those written");
}

int test_write(int argc, char **argv)
{
	const char *entries = argc > 1 ? argv[1] : "512";
	const char *const simulate[] = { "simulate", "live=1", "knob=1", NULL };
	const char *const from[] = {
		"tune",		 "--from", RECORD, "--write-sysctl",
		"--tlb-entries", entries,  NULL
	};
	struct tuner_values old;

	if (argc > 2)
		is_int(knob_read(KNOB_ENTRIES), atol(argv[2]), "E %s at boot",
		       argv[2]);
	tuner_values(&old);
	is_int(tuner_run(RECORD, simulate), 0,
	       "a record of a simulated kernel");
	is_int(tuner_run(LOG, from), 0, "tune --from it --write-sysctl");
	check_written(&old, entries);
	apply_again(&old);
	undo(&old);
	return done();
}
