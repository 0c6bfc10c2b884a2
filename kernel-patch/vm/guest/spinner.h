/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spinner: a thread that keeps the address space in use on another CPU.
 */
#ifndef TLBTUNE_GUEST_SPINNER_H
#define TLBTUNE_GUEST_SPINNER_H

#include <pthread.h>
#include <stdbool.h>

struct spinner {
	pthread_t thread;
	int cpu;
	bool running, stop;
};

/* Run this thread on one CPU only. */
void spinner_pin(int cpu);

/* Run it on any. */
void spinner_unpin(void);

/* Returns once the thread runs there. */
void spinner_start(struct spinner *spinner, int cpu);
void spinner_stop(struct spinner *spinner);

#endif
