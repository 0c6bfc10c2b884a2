/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guest: the tests that run inside the virtual machine.
 *
 * One static program. As process 1 it is init: it runs the commands that follow
 * "--" on the kernel's command line, one after the other, and restarts the
 * machine. A command is the name of a test below, or a program of /bin, with
 * its arguments; a "," of its own ends it.
 *
 * A test prints TAP (tests/tap.h). A line that begins with "data: " is for the
 * script that started the machine.
 */
#ifndef TLBTUNE_GUEST_H
#define TLBTUNE_GUEST_H

#include <stdbool.h>
#include <stddef.h>

#define PAGE 4096UL
#define HUGE (512 * PAGE)
#define STOCK_CEILING 33 /* tlb_single_page_flush_ceiling at boot */

/* Each prints its plan and returns the exit status of its process. */
typedef int guest_test(int argc, char **argv);

guest_test test_batch;
guest_test test_boot;
guest_test test_cost;
guest_test test_count;
guest_test test_debugfs;
guest_test test_kept;
guest_test test_killed;
guest_test test_kunit;
guest_test test_offline;
guest_test test_policy;
guest_test test_probe;
guest_test test_put;
guest_test test_race;
guest_test test_record;
guest_test test_regret;
guest_test test_set;
guest_test test_stock;
guest_test test_stride;
guest_test test_sysctl;
guest_test test_write;

#endif
