/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy: the text of the policy that the patch adds to the kernel.
 */
#include <config.h>

#include <stdbool.h>

#include "guest.h"
#include "knob.h"

#define PAGE_SHIFT 12
#include "kernel-patch/tlb_policy.h"

unsigned long knob_ceiling_patch(long factor, unsigned long entries)
{
	return tlb_policy_ceiling((int)factor, (unsigned int)entries,
				  STOCK_CEILING);
}
