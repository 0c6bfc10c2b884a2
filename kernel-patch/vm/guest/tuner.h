/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tuner: programs of /bin that set the knobs, and what they have set.
 */
#ifndef TLBTUNE_GUEST_TUNER_H
#define TLBTUNE_GUEST_TUNER_H

#include <stdbool.h>
#include <sys/types.h>

#define TUNER_SYSCTL_FILE "/etc/sysctl.d/60-tlbtune.conf"
#define TUNER_TMPFILES_FILE "/etc/tmpfiles.d/60-tlbtune.conf"
#define TUNER_JOURNAL "/run/tlbtune/journal"

/* Factor, E, pages and the ceiling of debugfs; KNOB_UNKNOWN: no such file. */
struct tuner_values {
	long factor, entries, pages, ceiling;
};

void tuner_values(struct tuner_values *values);
bool tuner_same(const struct tuner_values *a, const struct tuner_values *b);

/* True if this kernel has the sysctls. */
bool tuner_has_factor(void);

/* The file that keeps the setting on this kernel. */
const char *tuner_file(void);

/* Start /bin/ARGV[0], its output to the file to; its process, -1 on failure. */
pid_t tuner_start(const char *to, const char *const *argv);

/*
 * Start it, and wait for it: its exit status, 128 and the signal, or -1. What a
 * failed one has said goes to stderr, in comments.
 */
int tuner_run(const char *to, const char *const *argv);

/* What it has said, in comments; whether a line of that has the text in it. */
void tuner_show(const char *name);
bool tuner_says(const char *name, const char *text);

#endif
