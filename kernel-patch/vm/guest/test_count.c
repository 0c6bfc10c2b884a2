/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count [FACTOR...]: flushes between two markers that the emulator's plugin
 * sees.
 *
 * The plugin counts the INVLPG instructions that each CPU executes between the
 * markers, and knows nothing of the kernel. What it must have counted is
 * printed, in the order of the markers, with what the kernel's counters say:
 *
 *	data: count NUMBER invlpg WANT... one N all N partial N full N
 *
 * with one WANT for each CPU.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "area.h"
#include "flush.h"
#include "guest.h"
#include "knob.h"
#include "spinner.h"
#include "tap.h"

/* Instructions that do nothing; plugin/count.c knows their displacements. */
#define MARK_BEGIN() __asm__ volatile(".byte 0x0f,0x1f,0x80; .long 0x746c6201")
#define MARK_END() __asm__ volatile(".byte 0x0f,0x1f,0x80; .long 0x746c6202")

/*
 * One flush between the markers. Returns whether the other CPU was told: it is
 * not where its thread has been preempted by one of the kernel's.
 */
static bool window(struct area *area, enum area_op op, size_t n,
		   unsigned long ceiling, bool beside)
{
	static int number;
	struct flush_counts before, after;
	const size_t want = n <= ceiling ? n : 0;
	bool told;

	area_prepare(area, n);
	before = flush_count();
	MARK_BEGIN();
	area_operate(area, op, n);
	MARK_END();
	after = flush_count();
	area_restore(area, op, n);
	told = beside && after.received > before.received;
	printf("data: count %d %s-%zu-of-%lu invlpg %zu %zu one %ld partial "
	       "%ld full %ld\n",
	       number++, area_op_names[op], n, ceiling, want, told ? want : 0,
	       after.one - before.one,
	       after.partial < 0 ? -1 : after.partial - before.partial,
	       after.full < 0 ? -1 : after.full - before.full);
	return told;
}

int test_count(int argc, char **argv)
{
	static const size_t pages[] = { 1,  2,	8,  16,	 31,  32,  33,
					34, 64, 65, 128, 129, 512, 513 };
	const bool beside = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	struct spinner spinner;
	struct area area;
	size_t flushes = 0, told = 0;

	spinner_pin(0);
	area_open(&area, 520, false);
	if (beside)
		spinner_start(&spinner, 1);
	for (int i = 0; i < (argc > 1 ? argc - 1 : 1); i++) {
		unsigned long ceiling = STOCK_CEILING;

		if (argc > 1) {
			const long factor = atol(argv[i + 1]);

			is_int(knob_set(factor, 512), 0, "factor %ld", factor);
			ceiling = knob_ceiling_halving(factor, 512);
		}
		for (size_t k = 0; k < sizeof(pages) / sizeof(*pages); k++)
			for (int op = 0; op < AREA_OPS; op++, flushes++)
				told += window(&area, op, pages[k], ceiling,
					       beside);
	}
	if (beside) {
		spinner_stop(&spinner);
		ok(told >= flushes * 3 / 4,
		   "the other CPU was told of %zu of %zu flushes", told,
		   flushes);
	}
	area_close(&area);
	if (argc > 1)
		is_int(knob_write(KNOB_FACTOR, -2), 0, "the default is back");
	ok(true, "counted");
	return done();
}
