/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tune_options: the command line of tune.
 */
#ifndef TLBTUNE_TUNE_OPTIONS_H
#define TLBTUNE_TUNE_OPTIONS_H

#include <stdbool.h>

#include "apply.h"
#include "choice.h"
#include "options.h"
#include "workload.h"

/* What is done beside or instead of measuring. */
enum tune_action {
	ACTION_MEASURE,
	ACTION_KNOB,  /* --knob */
	ACTION_UNDO,  /* --undo */
	ACTION_APPLY, /* --apply */
};

struct tune_options {
	struct options_common common;
	enum tune_action action;
	double max_time;  /* seconds */
	const char *from; /* --from, or NULL */
	bool verify;
	enum objective objective;
	bool write_sysctl;
	struct apply_options apply; /* --dry-run, --force */
	unsigned int entries;	    /* --tlb-entries; 0: what is measured */
	const char *report, *plot;  /* --report, --plot, or NULL */
	bool watches;		    /* --workload */
	struct workload_options workload;
	const char *also; /* --also, or NULL */
	const char *root; /* --root, "" for the machine itself */
};

/* Exits with a message and STATUS_USAGE for what makes no sense. */
void tune_options_parse(int argc, char **argv, struct tune_options *options);

#endif
