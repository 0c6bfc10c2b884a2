/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bound: whether a thread is still bound to the CPU that it was given.
 *
 * When a CPU goes offline the kernel moves its threads to others, lets those
 * that were bound to it run anywhere from then on, and tells nobody; and who
 * has the right can change the affinity of a thread from outside. What is
 * measured after that is not what a report would say.
 */
#ifndef TLBTUNE_BOUND_H
#define TLBTUNE_BOUND_H

#include <stdbool.h>

/* The calling thread may run on that CPU and on no other that is online. */
bool bound_to(unsigned int cpu);

/*
 * Say why a thread is no longer bound to the CPU, as far as the list of online
 * CPUs below root tells. Always -1, with errno ECANCELED and *why a malloc'ed
 * sentence.
 */
int bound_lost(const char *root, unsigned int cpu, char **why);

/* bound_to for those who end with an error: 0, or as bound_lost. */
int bound_check(const char *root, unsigned int cpu, char **why);

#endif
