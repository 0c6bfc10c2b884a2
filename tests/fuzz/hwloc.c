/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of hwloc-gather-cpuid, and what follows from the registers. */
#include <config.h>

#include "fuzz.h"

const char *const fuzz_seeds[] = {
	"# mask e[abcd]x => e[abcd]x\n"
	"1 0 0 0 0 => 10 68747541 444d4163 69746e65\n"
	"1 1 0 0 0 => b00f21 20800 fffa3203 178bfbff\n"
	"1 80000000 0 0 0 => 80000021 68747541 444d4163 69746e65\n"
	"1 80000005 0 0 0 => ff60ff40 ff60ff40 300c0140 20080140\n"
	"1 80000006 0 0 0 => 40802040 60804040 4008140 8009140\n"
	"1 80000019 0 0 0 => f060f040 40200000 0 0\n"
	"1 80000021 0 0 0 => 204 0 0 0\n",

	"1 0 0 0 0 => 24 756e6547 6c65746e 49656e69\n"
	"1 1 0 0 0 => a0671 20800 fffa3203 1f8bfbff\n"
	"1 2 0 0 0 => feff01 f0 0 0\n"
	"5 18 0 0 0 => 2 0 0 0\n"
	"5 18 0 1 0 => 0 40003 200 43\n"
	"5 18 0 2 0 => 0 400001 1 122\n",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_record(data, size);
	return 0;
}
