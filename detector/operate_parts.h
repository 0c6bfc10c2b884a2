/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operate_parts: what operations share. All return 0, or -1 with errno.
 */
#ifndef TLBTUNE_OPERATE_PARTS_H
#define TLBTUNE_OPERATE_PARTS_H

#include <sys/mman.h>

#include "live_parts.h"

#define HUGE_PAGE ((size_t)2 << 20)

/* What a step operates on. */
struct range {
	struct live *live;
	const struct step *step;
	size_t index; /* of the step */
	char *start;
	size_t len;
	struct outcome *outcome;
};

static inline int range_advise(const struct range *range, int advice)
{
	return madvise(range->start, range->len, advice);
}

/*
 * operate_own.c: operations that the kernel performs in its own time, or not at
 * all: outcome->flag says for which pages it did.
 */
int operate_free(const struct range *range);
int operate_merge(const struct range *range);
int operate_migrate(const struct range *range);
int operate_collapse(const struct range *range);

#endif
