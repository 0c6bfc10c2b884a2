/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysfile: small text files of /proc and /sys, below a root prefix.
 */
#ifndef TLBTUNE_SYSFILE_H
#define TLBTUNE_SYSFILE_H

#include <stddef.h>

/*
 * The whole text of the file root + path, without trailing white space,
 * malloc'ed. NULL with errno when it cannot be read, or is larger than 16 MiB
 * (EFBIG). Bytes after a NUL are dropped.
 */
char *sysfile_read(const char *root, const char *path);

/* The same with every byte of the file: *size of them, and a NUL behind. */
char *sysfile_load(const char *root, const char *path, size_t *size);

#endif
