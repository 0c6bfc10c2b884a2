/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz: what a fuzz target is. LLVMFuzzerTestOneInput is what libFuzzer calls
 * (clang -fsanitize=fuzzer); main.c calls it with mutations of the seeds, for
 * compilers without that.
 */
#ifndef TLBTUNE_FUZZ_H
#define TLBTUNE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs to begin with, up to NULL. */
extern const char *const fuzz_seeds[];

/* Read data as a record, decode it; abort if what comes of it is unsound. */
void fuzz_record(const uint8_t *data, size_t size);

#endif
