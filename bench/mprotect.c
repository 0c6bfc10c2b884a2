/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mprotect: the program; what it measures is in op_mprotect.c.
 */
#include <config.h>

#include "operations.h"

int main(int argc, char **argv)
{
	return bench_main(argc, argv, &operation_mprotect, &operation_mprotect);
}
