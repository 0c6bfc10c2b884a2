/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings: what a session found, as JSON and as text.
 */
#ifndef TLBTUNE_FINDINGS_H
#define TLBTUNE_FINDINGS_H

#include <jansson.h>
#include <stdio.h>

#include "session.h"

/* The threshold where the kernel does not tell it: that of stock kernels. */
#define THRESHOLD_STOCK 33
#define THRESHOLD_MOST 1024 /* tested, whatever the kernel says */

/*
 * Pages up to which the kernel flushes one by one, from a report's environment:
 * of the sysctl of a patched kernel, or else of debugfs. -1: unknown.
 */
int findings_threshold(const json_t *environment);

/*
 * What a machine like this cannot show, as sentences; empty for bare metal with
 * every feature in use. NULL on ENOMEM.
 */
json_t *findings_limits(const json_t *environment);

/*
 * Add to the report: threshold, results[] (one for each way and memory), stale
 * (null, or the first stale access with all that is needed to see it again),
 * and limits[]. 0, or -1 with ENOMEM.
 */
int findings_json(json_t *report, const struct session *session);

/* The report for people. */
void findings_text(const json_t *report, FILE *to);

#endif
