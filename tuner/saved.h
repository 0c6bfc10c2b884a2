/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saved: the reports of tune that were saved to a file, and what can be derived
 * from them again.
 */
#ifndef TLBTUNE_SAVED_H
#define TLBTUNE_SAVED_H

#include <jansson.h>

#include "options.h"
#include "record.h"

/*
 * Read a JSON file. Returns NULL with *why a malloc'ed sentence that names the
 * file, the line and what was expected ("a JSON report of tune").
 */
json_t *saved_read(const char *file, const char *expected, char **why);

/*
 * Fill *record from report, which came from what is called name. 0, or -1 with
 * *why: it is no report of tune, or of another schema, or its record is bad.
 */
int saved_record(const json_t *report, const char *name, struct record *record,
		 char **why);

/*
 * The seed to derive from report with: that of --seed, else the one that the
 * report was derived with, so that it comes out the same again.
 */
uint64_t saved_seed(const json_t *report, const struct options_common *options);

#endif
