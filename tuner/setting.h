/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setting: what a report recommends for a knob, and whether it may be written.
 * Pure.
 */
#ifndef TLBTUNE_SETTING_H
#define TLBTUNE_SETTING_H

#include <jansson.h>

#include "knob.h"

enum setting_verdict {
	SETTING_WRITE, /* value is to be written */
	SETTING_LEAVE, /* what is in force is as good; value is the other */
	SETTING_REFUSE,
};

struct setting {
	enum setting_verdict verdict;
	struct knob_value value; /* kind KNOB_NONE with SETTING_REFUSE */
	/* why it is refused or left; malloc'ed, NULL with SETTING_WRITE */
	char *why;
};

/*
 * The factor for the sysctls, with the E it is for; the best plain ceiling for
 * debugfs. force: what was only extrapolated, interrupted, or is better left
 * alone is written all the same. 0, or -1 with ENOMEM.
 */
int setting_choose(const json_t *report, const struct knob *knob, bool force,
		   struct setting *out);

/*
 * NULL if two objects `environment` are of the same CPU, kernel, microcode and
 * condition, all of them known; else which is not, malloc'ed.
 */
char *setting_mismatch(const json_t *then, const json_t *now);

/*
 * The text of the file that has value set at boot: of sysctl.d for the sysctls,
 * of tmpfiles.d for debugfs. It begins with SETTING_MARK and fails softly on a
 * kernel without the knob. malloc'ed; NULL on ENOMEM.
 */
char *setting_text(const struct knob_value *value);

#define SETTING_MARK "# Written by tlb-tune"

/* Where that file belongs, below the root. */
const char *setting_path(enum knob_kind kind);

#endif
