/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libcpuid's raw dump, and what follows from the registers. */
#include <config.h>

#include "fuzz.h"

const char *const fuzz_seeds[] = {
	"version=0.6.2\n"
	"_________________ Logical CPU #0 _________________\n"
	"basic_cpuid[0]=0000000b 756e6547 6c65746e 49656e69\n"
	"basic_cpuid[1]=00030673 00100800 41d8e3bf bfebfbff\n"
	"basic_cpuid[2]=61b3a001 0000ffc2 00000000 00000000\n"
	"ext_cpuid[0]=80000008 00000000 00000000 00000000\n"
	"intel_fn4[0]=1c000121 0140003f 0000003f 00000001\n"
	"intel_fn4[1]=1c000122 01c0003f 0000003f 00000001\n"
	"_________________ Logical CPU #1 _________________\n"
	"basic_cpuid[0]=0000000d 68747541 444d4163 69746e65\n"
	"basic_cpuid[1]=00b00f21 00100800 ffd8e3bf bfebfbff\n"
	"ext_cpuid[0]=80000021 00000000 00000000 00000000\n"
	"ext_cpuid[5]=ff60ff40 ff60ff40 300c0140 20080140\n"
	"ext_cpuid[6]=40802040 60804040 04008140 08009140\n"
	"amd_fn8000001dh[0]=00004121 02c0003f 0000003f 00000000\n",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_record(data, size);
	return 0;
}
