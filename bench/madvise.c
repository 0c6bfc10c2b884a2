/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * madvise: the program; what it measures is in op_madvise.c.
 */
#include <config.h>

#include "operations.h"

int main(int argc, char **argv)
{
	return bench_main(argc, argv, &operation_madvise, &operation_mprotect);
}
