/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe: kernel ranges, and changes of the attributes of kernel pages, are
 * flushed by the stock rule whatever the factor.
 *
 * probe.patch adds a debugfs file: "kernel N" flushes N pages of kernel
 * addresses, "cpa N" makes N kernel pages read-only. The counters of the kernel
 * tell how.
 */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "flush.h"
#include "guest.h"
#include "knob.h"
#include "spinner.h"
#include "tap.h"

#define PROBE "/sys/kernel/debug/x86/tlb_probe"

/* Single-page flushes and full ones on this CPU. */
struct effect {
	long one, full;
};

static struct effect probe(const char *what, long pages)
{
	struct flush_counts before, after;
	char text[64];

	snprintf(text, sizeof(text), "%s %ld", what, pages);
	before = flush_count();
	if (knob_write_text(PROBE, text))
		return (struct effect){ -1, -1 };
	after = flush_count();
	return (struct effect){ after.one - before.one,
				after.received - before.received };
}

static bool flushes(const char *what, long pages, long one, long full)
{
	const struct effect seen = probe(what, pages);

	if (seen.one == one && seen.full == full)
		return true;
	diag("%s %ld: %ld single, %ld full; want %ld, %ld", what, pages,
	     seen.one, seen.full, one, full);
	return false;
}

/*
 * Both are flushed page by page up to the ceiling, or in full; attributes
 * twice, for taking a right and for giving it back.
 */
static void test_ceiling(const char *name, long ceiling)
{
	static const long pages[] = { 1,  2,  7,  8,  9,   16, 32,
				      33, 34, 64, 65, 100, 128 };
	const int count = sizeof(pages) / sizeof(*pages);
	int kernel = 0, attributes = 0;

	/* The first one also gives up mappings that others have freed. */
	probe("cpa", 1);
	for (int i = 0; i < count; i++) {
		const long one = pages[i] > ceiling ? 0 : pages[i];
		const long full = pages[i] > ceiling;

		kernel += flushes("kernel", pages[i], one, full);
		attributes += flushes("cpa", pages[i], 2 * one, 2 * full);
	}
	is_int(kernel, count, "%s: kernel ranges go by %ld pages", name,
	       ceiling);
	is_int(attributes, count, "%s: page attributes go by %ld pages", name,
	       ceiling);
}

int test_probe(int argc, char **argv)
{
	static const long factors[] = { -2, -1, 0, 3, 4, 6, 10 };

	(void)argc;
	(void)argv;
	spinner_pin(0);
	is_int(access(PROBE, W_OK), 0, "the kernel has the probe");
	for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++) {
		char name[32];

		snprintf(name, sizeof(name), "factor %ld", factors[i]);
		is_int(knob_set(factors[i], 512), 0, "%s: set", name);
		test_ceiling(name, STOCK_CEILING);
	}
	is_int(knob_write(KNOB_FACTOR, -2), 0, "the default is back");
	is_int(knob_write(KNOB_CEILING, 8), 0, "debugfs 8");
	test_ceiling("debugfs 8", 8);
	is_int(knob_write(KNOB_CEILING, STOCK_CEILING), 0, "debugfs 33");
	return done();
}
