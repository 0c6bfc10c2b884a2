/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knobfile: look at the knobs of the machine below a root directory ("" for
 * the machine itself), and move them.
 */
#ifndef TLBTUNE_KNOBFILE_H
#define TLBTUNE_KNOBFILE_H

#include "knob.h"

/*
 * Look at everything that knob_decide wants to know. Opens files for writing
 * but writes nothing.
 */
void knobfile_look(const char *root, struct knob_facts *facts);
void knobfile_forget(struct knob_facts *facts);

/* All in one: look, decide, forget. */
void knobfile_find(const char *root, struct knob *knob);

/*
 * Write value in the order of knob_writes, read it back. 0, or -1 with *why a
 * malloc'ed sentence: the value is no valid one, a write was refused, or what
 * is read back is something else. Then some of the writes may have been done.
 */
int knobfile_write(const char *root, const struct knob_value *value,
		   char **why);

/* The same without reading back: for moving it many times a second. */
int knobfile_move(const char *root, const struct knob_value *value, char **why);

#endif
