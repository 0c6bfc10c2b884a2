/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `cpuid -r`, and what follows from the registers. */
#include <config.h>

#include "fuzz.h"

const char *const fuzz_seeds[] = {
	"CPU 0:\n"
	"   0x00000000 0x00: eax=0x0000000d ebx=0x756e6547 ecx=0x6c65746e "
	"edx=0x49656e69\n"
	"   0x00000001 0x00: eax=0x000306c3 ebx=0x00100800 ecx=0x7ffafbff "
	"edx=0xbfebfbff\n"
	"   0x00000002 0x00: eax=0x76036301 ebx=0x00f0b5ff ecx=0x00000000 "
	"edx=0x00c10000\n"
	"   0x80000000 0x00: eax=0x80000008 ebx=0x00000000 ecx=0x00000000 "
	"edx=0x00000000\n"
	"CPU 1:\n"
	"   0x00000000: eax=0x0000000d ebx=0x756e6547 ecx=0x6c65746e "
	"edx=0x49656e69\n"
	"   0x00000002: eax=0x61b3a001 ebx=0x0000ffc2 ecx=0x00000000 "
	"edx=0x00000000\n",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_record(data, size);
	return 0;
}
