/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * munmap: the program; what it measures is in op_munmap.c.
 */
#include <config.h>

#include "operations.h"

int main(int argc, char **argv)
{
	return bench_main(argc, argv, &operation_munmap, &operation_mprotect);
}
