/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot: pictures of a report of tune, drawn by gnuplot as SVG that has the
 * colours of the page around it.
 */
#ifndef TLBTUNE_PLOT_H
#define TLBTUNE_PLOT_H

#include <jansson.h>

enum plot_kind {
	PLOT_COST,   /* cost against pages flushed, both ways */
	PLOT_REFILL, /* refill against working set */
	PLOT_REGRET, /* regret against factor */
	PLOT_KINDS
};

/* What each shows, a sentence for people. */
extern const char *const plot_caption[];

/*
 * The picture as the text of an element <svg>, malloc'ed. NULL with *why: there
 * is no gnuplot, or nothing in the report to be drawn.
 */
char *plot_svg(const json_t *report, enum plot_kind kind, char **why);

/*
 * Write one picture as a file of its own, atomically. 0, or -1 with *why, NULL
 * where it has been said on stderr.
 */
int plot_write(const json_t *report, enum plot_kind kind, const char *path,
	       char **why);

#endif
