/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <string.h>

#include "operations.h"

const struct bench *operations_find(const char *name)
{
	static const struct bench *const operations[] = {
		&operation_madvise,
		&operation_mprotect,
		&operation_munmap,
	};
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(operations[i]->name, name))
			return operations[i];
	return NULL;
}
