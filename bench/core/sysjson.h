/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysjson: what a file below a root prefix says, as a JSON value. What cannot
 * be read, or is not what was expected, is null; NULL is ENOMEM.
 */
#ifndef TLBTUNE_SYSJSON_H
#define TLBTUNE_SYSJSON_H

#include <jansson.h>
#include <stdbool.h>

bool sysjson_exists(const char *root, const char *path);

/* The first line of the file; an empty file says nothing. */
json_t *sysjson_text(const char *root, const char *path);

/* The same of /sys/devices/system/cpu/cpuN/name. */
json_t *sysjson_cpu(const char *root, unsigned int cpu, const char *name);

/* A list, where empty means none: "offline" when all CPUs are online. */
json_t *sysjson_list(const char *root, const char *path);

/* The choice in force of a file such as "always [madvise] never". */
json_t *sysjson_choice(const char *root, const char *path);

/* The value of the file's first line "name: value". */
json_t *sysjson_field(const char *root, const char *path, const char *name);

/* A file that is one integer. */
json_t *sysjson_integer(const char *root, const char *path);

/* 1 or 0 where the file says so, -1 for all else. */
int sysjson_truth(const char *root, const char *path);

#endif
