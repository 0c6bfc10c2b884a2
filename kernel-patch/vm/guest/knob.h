/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knob: the sysctls and the debugfs file that decide how to flush.
 */
#ifndef TLBTUNE_GUEST_KNOB_H
#define TLBTUNE_GUEST_KNOB_H

#define KNOB_FACTOR "/proc/sys/vm/tlb_flushall_factor"
#define KNOB_ENTRIES "/proc/sys/vm/tlb_entries"
#define KNOB_PAGES "/proc/sys/vm/tlb_flushall_pages"
#define KNOB_CEILING "/sys/kernel/debug/x86/tlb_single_page_flush_ceiling"
#define KNOB_UNKNOWN (-1000L) /* the file cannot be read */

/* The integer in a file. */
long knob_read(const char *path);

/* Write text to a file: 0, or the errno that refused it. */
int knob_write_text(const char *path, const char *text);
int knob_write(const char *path, long value);

/* Factor -2, these entries, that factor; 0 or errno. */
int knob_set(long factor, long entries);

/* What a patch to the kernel promises, each one in words of its own: */

/* ... in the very text of the patch, */
unsigned long knob_ceiling_patch(long factor, unsigned long entries);
/* ... and once more, from the description: repeated halving. */
unsigned long knob_ceiling_halving(long factor, unsigned long entries);

#endif
