/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * under: ./access --under OPERATION, what the threads of a process lose while
 * another of its threads flushes. See core/victims.h.
 */
#ifndef TLBTUNE_UNDER_H
#define TLBTUNE_UNDER_H

#include "core/bench.h"
#include "core/options.h"

struct under {
	const struct bench *bench; /* NULL: --under was not given */
	double rate;		   /* flushes per second; NAN: not given */
	struct options_work work;  /* of the threads that lose */
};

extern const struct argp under_argp; /* input: under */

/* Before the options are parsed. Exits with a message if that is impossible. */
void under_init(struct under *under);
void under_free(struct under *under);

/*
 * After that: whether --under was given. Exits with a message if options don't
 * fit that.
 */
bool under_check(struct under *under);

/* Measure and report; returns the exit status. */
int under_run(const struct under *under, const struct options_common *common);

#endif
