/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live: the kernel and the CPUs of this machine, as a subject.
 *
 * Why no legal access is counted: a step that waits for another (struct step's
 * after) spins in user space, or sleeps, until it has loaded a flag that the
 * other one's actor stores after its system call has returned. An LFENCE
 * follows that load, so that none of the accesses behind it, nor its page walk,
 * begins before the flag was seen, not even speculatively. A translation used
 * then is one that the CPU still had, or loaded anew, after the call returned:
 * if it is the old one, the call broke its promise. An access that is not
 * ordered in this way is concurrent for the model, which allows for both
 * outcomes.
 *
 * Why a stale entry is not lost before it is tested: between a step that loads
 * translations and the one that tests them an actor does not enter the kernel
 * (unless the program says sleep), and touches nothing but its own flags.
 *
 * All mappings of a program are fresh: addresses are not used twice in a
 * process, since what one failure leaves in a TLB would look like another.
 */
#ifndef TLBTUNE_LIVE_H
#define TLBTUNE_LIVE_H

#include "placement.h"
#include "subject.h"

struct live;

/*
 * Start the actors but 0, which is the caller, each bound to a CPU of its own
 * as far as there are enough. To be called once in a process, which
 * touch_catch()es. NULL with *why a malloc'ed sentence.
 */
struct live *live_open(const struct placement *placement, unsigned int actors,
		       char **why);

struct subject live_subject(struct live *live);

void live_close(struct live *live);

#endif
