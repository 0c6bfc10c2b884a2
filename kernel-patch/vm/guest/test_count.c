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
 * with one WANT for each CPU. On the second one runs a thread of the process.
 * Where one of the kernel's has taken its place meanwhile, that CPU need not be
 * told: WANT is "-", and it is done again.
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

#define TIMES 1000 /* that a flush is tried, at most */

/* Instructions that do nothing; plugin/count.c knows their displacements. */
#define MARK_BEGIN() __asm__ volatile(".byte 0x0f,0x1f,0x80; .long 0x746c6201")
#define MARK_END() __asm__ volatile(".byte 0x0f,0x1f,0x80; .long 0x746c6202")

/* One flush between the markers; false if the thread beside was disturbed. */
static bool window(struct area *area, enum area_op op, size_t n,
		   unsigned long ceiling, struct spinner *beside)
{
	static int number;
	struct flush_counts before, after;
	const size_t want = n <= ceiling ? n : 0;
	char want_beside[32] = "0";
	bool undisturbed = true;
	long switches = 0;

	area_prepare(area, n);
	before = flush_count();
	if (beside)
		switches = spinner_switches(beside);
	MARK_BEGIN();
	area_operate(area, op, n);
	MARK_END();
	if (beside) {
		undisturbed = spinner_switches(beside) == switches;
		snprintf(want_beside, sizeof(want_beside), "%zu", want);
	}
	after = flush_count();
	area_restore(area, op, n);
	printf("data: count %d %s-%zu-of-%lu invlpg %zu %s one %ld partial "
	       "%ld full %ld\n",
	       number++, area_op_names[op], n, ceiling, want,
	       undisturbed ? want_beside : "-", after.one - before.one,
	       after.partial < 0 ? -1 : after.partial - before.partial,
	       after.full < 0 ? -1 : after.full - before.full);
	return undisturbed;
}

/* Until the thread beside was there all the while; false if it never is. */
static bool count(struct area *area, enum area_op op, size_t n,
		  unsigned long ceiling, struct spinner *beside)
{
	for (int i = 0; i < TIMES; i++)
		if (window(area, op, n, ceiling, beside))
			return true;
	return false;
}

int test_count(int argc, char **argv)
{
	static const size_t pages[] = { 1,  2,	8,  16,	 31,  32,  33,
					34, 64, 65, 128, 129, 512, 513 };
	const bool beside = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	struct spinner spinner;
	struct area area;
	size_t flushes = 0, counted = 0;

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
				counted += count(&area, op, pages[k], ceiling,
						 beside ? &spinner : NULL);
	}
	if (beside)
		spinner_stop(&spinner);
	area_close(&area);
	if (argc > 1)
		is_int(knob_write(KNOB_FACTOR, -2), 0, "the default is back");
	is_int(counted, flushes, "all flushes counted");
	return done();
}
