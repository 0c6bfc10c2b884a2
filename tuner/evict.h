/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evict: make another process lose its TLB entries, without any change to it.
 *
 * Clearing accessed bits by /proc/PID/clear_refs does not flush the TLB (Linux
 * 6.1 to 7.3: only "4" does, for soft-dirty bits), and a CPU that still has the
 * translation does not set the bit again: what is hottest would not show. The
 * kernel keeps the entries of the last 6 address spaces on each CPU apart
 * (TLB_NR_DYN_ASIDS, arch/x86/include/asm/tlbflush.h), gives the oldest of
 * these places to one that has none, and flushes what was in it. So 12 address
 * spaces that run in turn, of which at most 5 had a place beside the other
 * process, take its place for certain. Without PCID each switch flushes.
 *
 * This does not reach an address space with a global ASID (AMD's INVLPGB, used
 * for processes on many CPUs since Linux 6.15).
 */
#ifndef TLBTUNE_EVICT_H
#define TLBTUNE_EVICT_H

#include <sys/types.h>

struct evictor;

/* Start what is to run: idle processes. NULL with errno. */
struct evictor *evict_open(void);

/*
 * Do it on each CPU that a thread of the process (below root/proc) may use;
 * takes about 0.2 ms a CPU. 0, or -1 with errno.
 */
int evict(struct evictor *evictor, const char *root, pid_t process);

/* NULL is allowed. */
void evict_close(struct evictor *evictor);

#endif
