/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spinner: a thread that keeps the address space in use on another CPU.
 */
#ifndef TLBTUNE_GUEST_SPINNER_H
#define TLBTUNE_GUEST_SPINNER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct spinner {
	pthread_t thread;
	int cpu;
	pid_t tid;
	unsigned long beats; /* of its loop; not 0 once it runs */
	bool stop;
};

/* Run this thread on one CPU only. */
void spinner_pin(int cpu);

/* Run it on any. */
void spinner_unpin(void);

/* Returns once the thread runs there. */
void spinner_start(struct spinner *spinner, int cpu);
void spinner_stop(struct spinner *spinner);

/*
 * Once the thread is seen to run: how often it has been off its CPU so far. It
 * has run from then on if that is still the same.
 */
long spinner_switches(struct spinner *spinner);

#endif
