/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * touch: accesses that may fault.
 *
 * They are in assembly, so that the handler knows by the address of the
 * instruction that a fault is expected, and goes on behind it; it needs no
 * variable, and the compiler neither repeats an access nor leaves one out.
 */
#ifndef TLBTUNE_TOUCH_H
#define TLBTUNE_TOUCH_H

#include <stddef.h>
#include <stdint.h>

/* Handle SIGSEGV and SIGBUS of this process from now on. */
void touch_catch(void);

/* Copy n values from a page. 0, or -1: it faulted. */
int touch_load(const uint64_t *page, uint64_t *to, size_t n);

/* Store one value. 0, or -1: it faulted. */
int touch_store(uint64_t *to, uint64_t value);

#endif
