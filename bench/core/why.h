/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why: the sentence that says why something failed, on its way from where that
 * is known to the program, which prints it.
 */
#ifndef TLBTUNE_WHY_H
#define TLBTUNE_WHY_H

/*
 * Set *why to a malloc'ed sentence, NULL where there is no memory for it, and
 * errno to error, unless that is 0: then errno stays as it is. Always -1.
 */
int why_set(char **why, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The sentence for people, whatever it became. */
const char *why_text(const char *why);

#endif
