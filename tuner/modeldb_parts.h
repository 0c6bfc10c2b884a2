/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modeldb_parts: what the files of modeldb share.
 */
#ifndef TLBTUNE_MODELDB_PARTS_H
#define TLBTUNE_MODELDB_PARTS_H

#include "modeldb.h"

/* The string at a path of keys, as modeldb_at; NULL if there is none. */
const char *modeldb_text(const json_t *json, const char *path);

/* NAN for what is no number. */
double modeldb_number(const json_t *value);

/* An end of the interval of an {estimate, ci95}; which is 0 or 1. */
double modeldb_end(const json_t *estimate, size_t which);

/* The ID of an identity under a condition, malloc'ed; NULL on ENOMEM. */
char *modeldb_id(const json_t *identity, const json_t *condition);

/*
 * 0 if identity and condition of a machine, or all members of a record, have
 * their types. -1 with *why a malloc'ed sentence, in which the record is called
 * name ("" or "records[3].").
 */
int modeldb_check_machine(const json_t *machine, char **why);
int modeldb_check_record(const json_t *record, const char *name, char **why);

#endif
