/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irqcount: each count belongs to the CPU that its column is of, and half a
 * table is no table.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/irqcount.h"
#include "tap.h"
#include "tree.h"

/* CPU 1 is offline, so that the second column is not of it. */
static const char table[] =
	"            CPU0       CPU2      CPU13\n"
	"   0:          5          6          7  IO-APIC   2-edge      timer\n"
	" CAL:        100         20          3  Function call interrupts\n"
	" CALM:         9          9          9  not this one\n"
	" TLB: 9007199254740992 0 1   TLB shootdowns\n"
	" ERR:          0\n";

static void test_table(void)
{
	struct irqcount counts;

	is_int(irqcount_parse(table, "CAL", &counts), 0, "a row");
	is_int(counts.n, 3, "of three CPUs");
	is_double(irqcount_of(&counts, 0), 100, 0, "CPU 0");
	is_double(irqcount_of(&counts, 2), 20, 0, "CPU 2");
	is_double(irqcount_of(&counts, 13), 3, 0, "CPU 13");
	is_double(irqcount_of(&counts, 1), NAN, 0, "a CPU that is offline");
	is_double(irqcount_sum(&counts), 123, 0, "all of them");
	irqcount_free(&counts);
	is_double(irqcount_sum(&counts), NAN, 0, "none is not 0");
	is_int(irqcount_parse(table, "TLB", &counts), 0, "a large count");
	is_double(irqcount_of(&counts, 0), 9007199254740992.0, 0, "is exact");
	irqcount_free(&counts);
}

static void refused(const char *text, const char *row, const char *why)
{
	struct irqcount counts;

	errno = 0;
	ok(irqcount_parse(text, row, &counts) < 0 && errno == EINVAL &&
		   counts.n == 0 && !counts.cpu && !counts.count,
	   "%s", why);
	irqcount_free(&counts);
}

static void test_refused(void)
{
	refused("", "CAL", "nothing");
	refused("\n", "CAL", "an empty line");
	refused(table, "PMI", "no such row");
	refused(table, "ERR", "a row that is not per CPU");
	refused("CPU0 CPU1\nCAL: 1 2", "CAL", "the end is cut off");
	refused("CPU0 CPU1\nCAL: 1 Function", "CAL", "a count is missing");
	refused("CPU0\nCAL: -1 Function", "CAL", "a negative count");
	refused("CPU-1\nCAL: 1 Function", "CAL", "a CPU below 0");
	refused("CPU\nCAL: 1 Function", "CAL", "a CPU without a number");
	refused("CPU4294967296\nCAL: 1 Function", "CAL", "no such CPU");
	refused("CPU0 x\nCAL: 1 Function", "CAL", "a column of something else");
	refused("CAL: 1 Function\n", "CAL", "no header");
}

static void test_file(void)
{
	char *root = tree_open();
	struct irqcount counts;

	errno = 0;
	ok(irqcount_read(root, "CAL", &counts) < 0 && errno == ENOENT,
	   "no file");
	tree_write(root, "/proc/interrupts", table);
	is_int(irqcount_read(root, "CAL", &counts), 0, "a file");
	is_double(irqcount_sum(&counts), 123, 0, "is read");
	irqcount_free(&counts);
	tree_close(root);
	if (irqcount_read("", "CAL", &counts) < 0) {
		skip(1, "no row CAL here");
		return;
	}
	ok(irqcount_sum(&counts) >= 0, "this machine's");
	irqcount_free(&counts);
}

int main(void)
{
	test_table();
	test_refused();
	test_file();
	return done();
}
