/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame: which CPU was the last to answer an interrupt that a call sent to
 * several, and what held it. Pure: from a list of events.
 */
#ifndef TLBTUNE_BLAME_H
#define TLBTUNE_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BLAME_NAME 16 /* of a task or an interrupt, with its end */

enum blame_kind {
	BLAME_QUEUE,	  /* cpu asks CPU value to run a function */
	BLAME_CALL_ENTRY, /* such a function begins, on cpu */
	BLAME_CALL_EXIT,  /* and ends, which is the answer */
	BLAME_IRQ_ENTRY,  /* an interrupt, name, of any kind */
	BLAME_IRQ_EXIT,
	BLAME_SWITCH, /* cpu goes on with task value, name */
	BLAME_KINDS,
};

extern const char *const blame_kind_name[BLAME_KINDS];

struct blame_event {
	uint64_t ns;
	unsigned int cpu;
	pid_t thread; /* that the event interrupted; 0: the CPU was idle */
	enum blame_kind kind;
	int64_t value;
	uint64_t function; /* of QUEUE, CALL_ENTRY and CALL_EXIT */
	char name[BLAME_NAME];
};

struct blame_call {
	uint64_t from_ns, to_ns;
	unsigned int cpu; /* of the caller */
};

enum blame_cause {
	BLAME_UNKNOWN,	/* events are missing */
	BLAME_NOBODY,	/* no CPU was asked */
	BLAME_USUAL,	/* nothing: user code was interrupted, in usual time */
	BLAME_CALLER,	/* before it asked, or after the last answer */
	BLAME_IRQ,	/* another interrupt, name, came first */
	BLAME_FUNCTION, /* other functions in the same interrupt, or it ran long
			 */
	BLAME_SCHEDULER, /* a switch to task name */
	BLAME_IDLE,	 /* the CPU was idle: had to be woken */
	BLAME_IRQS_OFF,	 /* another task was in the kernel: interrupts off */
	BLAME_OUTSIDE,	 /* nothing the kernel knows: hypervisor, firmware */
	BLAME_CAUSES,
};

extern const char *const blame_cause_name[BLAME_CAUSES];

struct blame {
	enum blame_cause cause;
	unsigned int
		cpu;	/* answered last; of no use for the first two causes */
	double wait_ns; /* from the question to its answer; NAN: unknown */
	double held_ns; /* that the cause accounts for; NAN: unknown */
	char name[BLAME_NAME]; /* of the interrupt or task, or "" */
};

/*
 * Explain one call. events[n], oldest first, of all CPUs, begin well before it.
 * ours[n_ours] are the threads that never enter the kernel on their own;
 * usual_ns is what an answer usually takes (NAN: not known yet): twice that is
 * nothing to explain.
 */
void blame_explain(const struct blame_event *events, size_t n,
		   const struct blame_call *call, const pid_t *ours,
		   size_t n_ours, double usual_ns, struct blame *out);

#endif
