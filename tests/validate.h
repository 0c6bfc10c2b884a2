/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * validate: the part of JSON Schema (draft 7) that data/schema.json uses.
 *
 * A keyword that is not known here is a fault of the schema, so that none is
 * believed to be enforced that is not.
 */
#ifndef TLBTUNE_TEST_VALIDATE_H
#define TLBTUNE_TEST_VALIDATE_H

#include <jansson.h>
#include <stdbool.h>

/*
 * 0 if instance is what schema's definition of that name says. -1 with *why,
 * malloc'ed: the place in the instance, and what was expected there. strict:
 * an object has no members but those its schema names, unless that has
 * additionalProperties itself.
 */
int validate(const json_t *schema, const char *definition,
	     const json_t *instance, bool strict, char **why);

#endif
