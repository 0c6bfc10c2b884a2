/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock: a lock on a file of its own, held as long as any process has it open,
 * children that were forked meanwhile included.
 */
#ifndef TLBTUNE_LOCK_H
#define TLBTUNE_LOCK_H

/*
 * Lock path, which is made where it is not there, and wait for whoever has it.
 * Whoever got a lock on a file that its owner has removed meanwhile has nothing
 * and tries again. *stop, unless stop is NULL, ends the waiting (EINTR). A
 * descriptor to be closed, or -1 with errno.
 */
int lock_wait(const char *path, const volatile int *stop);

/* The same without waiting: EWOULDBLOCK. */
int lock_try(const char *path);

#endif
