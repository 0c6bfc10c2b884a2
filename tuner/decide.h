/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decide: from costs with their time blocks to a choice, what it gains, and how
 * sure both are. The last part of derive. Pure.
 */
#ifndef TLBTUNE_DECIDE_H
#define TLBTUNE_DECIDE_H

#include "derive.h"

/* Fill findings->model, whose arrays are there, from the time blocks. */
void decide_model(struct findings *findings);

/* True if every cost of the model is known. */
bool decide_knows(const struct cost_model *model);

/* Choose, and compare with what is in force. 0, or -1 with ENOMEM. */
int decide(const struct record *record, const struct question *question,
	   struct findings *out);

#endif
