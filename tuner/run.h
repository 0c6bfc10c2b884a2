/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run: everything that tune measures on this machine, in the order in which one
 * part needs the other, and the report of how it was measured.
 */
#ifndef TLBTUNE_RUN_H
#define TLBTUNE_RUN_H

#include "record.h"
#include "session.h"
#include "tune_options.h"

/*
 * Measure into record, an empty one. Returns the report without what is
 * derived. Exits with a message where something fails; the knob is put back
 * then. SIGINT, SIGTERM and SIGHUP end it early (interrupt.h).
 */
json_t *run_measure(const struct tune_options *options, struct session *session,
		    struct record *record);

/*
 * The object `environment` of this machine as it is now, for what was measured
 * earlier. Exits on ENOMEM.
 */
json_t *run_environment(void);

#endif
