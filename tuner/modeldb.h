/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modeldb: one record for each CPU model measured and condition it was measured
 * under; which of two records is the better one; and which holds for a machine.
 * Pure.
 *
 * A database is the JSON object that data/schema.json describes as "cpus". All
 * functions keep members that they do not know, so that an older program does
 * not destroy what a newer one wrote.
 */
#ifndef TLBTUNE_MODELDB_H
#define TLBTUNE_MODELDB_H

#include <jansson.h>
#include <stdbool.h>

/* Changes when a reader of the database would break; data/schema.json. */
#define MODELDB_SCHEMA 1

/* Pages of the working set that r and break_even of a record are for. */
#define MODELDB_WORKING_SET 256

/* A database without records. NULL on ENOMEM. */
json_t *modeldb_new(void);

/*
 * 0 if json is a database whose records can be relied on to have every member
 * with its type, and IDs that say what they are of, each once. -1 with *why a
 * malloc'ed sentence that names the member and what was expected.
 */
int modeldb_check(const json_t *json, char **why);

/*
 * What a machine is filed under, from the object `environment` of a report:
 * {"id", "identity", "condition"}. Another kernel or microcode is the same
 * machine; another hypervisor or PTI is another. NULL with *why.
 */
json_t *modeldb_machine(const json_t *environment, char **why);

/*
 * The record of a report of tune with everything derived. NULL with *why: the
 * machine is unknown, or nothing was measured.
 */
json_t *modeldb_record(const json_t *report, char **why);

/*
 * How far a record may be wrong: the larger of the relative widths of the
 * intervals of c_i and of n*(MODELDB_WORKING_SET) of a chase, for each warning
 * about the run once more. What nears 0 is relative to 1 ns and 1 page.
 * INFINITY where either is unknown.
 */
double modeldb_doubt(const json_t *record);

/*
 * > 0 if record a is a better measurement than b, 0 if neither is: a whole run
 * is better than an interrupted one, then a full one than a --quick one, then
 * the one with less doubt. *why is the reason, a constant text.
 */
int modeldb_compare(const json_t *a, const json_t *b, const char **why);

enum modeldb_verdict {
	MODELDB_ADDED,
	MODELDB_REPLACED, /* what the database had was worse */
	MODELDB_KEPT,	  /* what the database has is as good or better */
	MODELDB_SAME,	  /* it is in the database already */
};

/*
 * File record in db, which keeps what is better. Members of a replaced record
 * that the new one has not are taken over. *why is a constant text. 0, or -1
 * with ENOMEM.
 */
int modeldb_merge(json_t *db, const json_t *record,
		  enum modeldb_verdict *verdict, const char **why);

/* The record with that ID, or NULL; a borrowed reference. */
json_t *modeldb_get(const json_t *db, const char *id);

enum modeldb_level {
	MODELDB_NONE,
	MODELDB_FAMILY, /* another model of the family */
	MODELDB_MODEL,	/* this model, maybe of another stepping */
};

extern const char *const modeldb_level_name[];

/*
 * The record in db that holds for a machine (of modeldb_machine): never one of
 * another condition, and none at all while it is unknown whether the machine is
 * a guest or uses PTI. Sets *record, a borrowed reference or NULL.
 */
enum modeldb_level modeldb_find(const json_t *db, const json_t *machine,
				const json_t **record);

/* "estimate" of an {estimate, ci95} at the dotted path; NAN. */
double modeldb_value(const json_t *record, const char *path);

/* What is at a dotted path below json, borrowed; NULL. */
const json_t *modeldb_at(const json_t *json, const char *path);

/*
 * True if two values of one quantity are called the same: within 12 % (floor:
 * what is compared is at least 1 ns or page), or their intervals overlap.
 */
bool modeldb_agree(const json_t *a, const json_t *b);

#endif
