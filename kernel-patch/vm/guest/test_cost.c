/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cost [FACTOR [E]]: guest instructions of an mprotect, for QEMU's -icount,
 * where each instruction takes the same time: 16 ns, as boot has it. Prints
 *
 *	data: cost PAGES ROUND INSTRUCTIONS
 *
 * the least of a round's calls: a timer interrupt in the others costs
 * thousands. Two readings of the clock are in it, the same on every kernel. The
 * slabs and the tree that the VMAs are allocated from take some instructions
 * more or less from round to round, up to 1 %, so that only the median over
 *many rounds tells two kernels apart.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "area.h"
#include "guest.h"
#include "knob.h"
#include "tap.h"

#define NS 16 /* an instruction */
#define ROUNDS 40
#define CALLS 20

static long nanoseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static long least(struct area *area, size_t n)
{
	long minimum = 0;

	for (int i = 0; i < CALLS; i++) {
		long begin, cost;

		begin = nanoseconds();
		area_operate(area, AREA_MPROTECT, n);
		cost = nanoseconds() - begin;
		area_restore(area, AREA_MPROTECT, n);
		if (!i || cost < minimum)
			minimum = cost;
	}
	return minimum;
}

int test_cost(int argc, char **argv)
{
	static const size_t pages[] = { 1, 8, 16, 33 };
	struct area area;

	if (argc > 1)
		is_int(knob_set(atol(argv[1]), argc > 2 ? atol(argv[2]) : 512),
		       0, "factor %s", argv[1]);
	area_open(&area, 64, false);
	area_prepare(&area, 64);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
			printf("data: cost %zu %d %ld\n", pages[i], round,
			       least(&area, pages[i]) / NS);
	}
	area_close(&area);
	ok(true, "measured");
	return done();
}
