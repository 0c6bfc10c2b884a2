/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * warnings: what in the record of the environment makes numbers doubtful, or
 * not comparable with those of other machines. Pure.
 */
#ifndef TLBTUNE_WARNINGS_H
#define TLBTUNE_WARNINGS_H

#include <jansson.h>

#include "noise.h"

/*
 * The warnings as an array of sentences, each with its number and why it
 * matters. record is the object of machine.h with frequency; noise NULL and
 * drift_ppm NAN where they are not known. NULL on ENOMEM.
 */
json_t *warnings_json(const json_t *record, const struct noise *noise,
		      unsigned int cpu, double drift_ppm);

/* The name people know a hypervisor's CPUID signature by, or the signature. */
const char *warnings_hypervisor(const char *signature);

#endif
