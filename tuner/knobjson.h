/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knobjson: knobs and their values in JSON. Pure.
 */
#ifndef TLBTUNE_KNOBJSON_H
#define TLBTUNE_KNOBJSON_H

#include <jansson.h>

#include "knob.h"

/*
 * {"kind", "factor", "entries", "pages"}; null where unknown or not of that
 * kind. E = 0 is a value here: the kernel knows no E. NULL on ENOMEM.
 */
json_t *knobjson_value(const struct knob_value *value);

/*
 * Fill *value from that. 0, or -1 with *why a malloc'ed sentence that names the
 * member and what was expected.
 */
int knobjson_read(const json_t *json, struct knob_value *value, char **why);

/* The members of knobjson_value, and "writable", "why", "lift". */
json_t *knobjson_knob(const struct knob *knob);

#endif
