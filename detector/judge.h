/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judge: run a program on a subject and compare each thing seen with the model.
 */
#ifndef TLBTUNE_JUDGE_H
#define TLBTUNE_JUDGE_H

#include "subject.h"

enum finding_kind {
	FINDING_NO_FAULT, /* an access that had to fault did not */
	FINDING_READ,	  /* a thread read what the page cannot contain */
	FINDING_VIEW,	  /* the second view shows what it cannot contain */
	FINDING_SNAPSHOT, /* a forked child sees what was written later */
	FINDING_FAULT,	  /* an access faulted that had to succeed */
};

extern const char *const finding_text[];

/* The first thing in a run that the model does not allow. */
struct finding {
	enum finding_kind kind;
	size_t step;	/* that saw it, or (views) wrote last there */
	long operation; /* the step that changed the page last, or -1 */
	unsigned int page;
	unsigned int actor; /* whose slot it is, or that accessed */
	unsigned int cpu, initiator_cpu;
	uint64_t got, wanted; /* contents of the slot; 0: an empty page */
};

enum verdict {
	VERDICT_CLEAN,
	VERDICT_STALE,	 /* *finding says where */
	VERDICT_NOTHING, /* an operation took no page: nothing was tested */
	VERDICT_CANNOT,	 /* *why says what failed, malloc'ed or NULL */
};

/* Run once. The program must be without program_fault(). */
enum verdict judge(const struct subject *subject, const struct program *program,
		   uint32_t nonce, struct finding *finding, char **why);

#endif
