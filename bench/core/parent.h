/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parent: a forked process that does not outlive the one that forked it. */
#ifndef TLBTUNE_PARENT_H
#define TLBTUNE_PARENT_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * In the child, first of all: be killed when the parent dies. False if that has
 * happened already, before the kernel knew: the child is to leave then, as
 * nothing else will end it.
 */
bool parent_die_with(pid_t parent);

#endif
