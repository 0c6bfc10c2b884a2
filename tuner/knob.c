/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cost.h"
#include "knob.h"
#include "text.h"

const char *const knob_name[] = {
	[KNOB_NONE] = "none",
	[KNOB_FACTOR] = "vm.tlb_flushall_factor",
	[KNOB_CEILING] = "tlb_single_page_flush_ceiling",
};

#define DEBUGFS "/sys/kernel/debug"

const char *const knob_path[] = {
	[KNOB_FILE_FACTOR] = "/proc/sys/vm/tlb_flushall_factor",
	[KNOB_FILE_ENTRIES] = "/proc/sys/vm/tlb_entries",
	[KNOB_FILE_PAGES] = "/proc/sys/vm/tlb_flushall_pages",
	[KNOB_FILE_CEILING] = DEBUGFS "/x86/tlb_single_page_flush_ceiling",
};

/* reading --------------------------------------------------------------- */

int knob_parse(const char *text, int min, int max, int *value)
{
	double number = text_integer(text);

	if (!(number >= min && number <= max))
		return -1;
	*value = (int)number;
	return 0;
}

static int read_factor(const struct knob_facts *facts, struct knob_value *value)
{
	*value = (struct knob_value){ .kind = KNOB_FACTOR, .pages = -1 };
	if (knob_parse(facts->file[KNOB_FILE_FACTOR].text, COST_FACTOR_STOCK,
		       COST_FACTOR_MAX, &value->factor) < 0 ||
	    knob_parse(facts->file[KNOB_FILE_ENTRIES].text, 0, INT_MAX,
		       &value->entries) < 0)
		return -1;
	if (knob_parse(facts->file[KNOB_FILE_PAGES].text, 0, INT_MAX,
		       &value->pages) < 0)
		value->pages = -1;
	return 0;
}

static int read_ceiling(const struct knob_facts *facts,
			struct knob_value *value)
{
	*value = (struct knob_value){ .kind = KNOB_CEILING };
	return knob_parse(facts->file[KNOB_FILE_CEILING].text, 0, INT_MAX,
			  &value->pages);
}

/* obstacles ------------------------------------------------------------- */

#define AS_ROOT "run it as root"
#define ON_HOST "run it on the host, outside of the container"

/* Why a file that is there cannot be opened. */
static void denied(const struct knob_facts *facts, const char *what, int error,
		   struct knob *out)
{
	const char *unless = facts->container ? ON_HOST : NULL;

	if (error == EROFS) {
		snprintf(out->why, sizeof(out->why),
			 "%s is on a read-only mount%s%s", what,
			 facts->container ? ", in a container: " : "",
			 facts->container ? facts->container : "");
		out->lift = unless ? unless : "mount it read-write";
	} else if (!facts->root) {
		snprintf(out->why, sizeof(out->why), "%s is for root only",
			 what);
		out->lift = AS_ROOT;
	} else if (facts->container) {
		snprintf(out->why, sizeof(out->why),
			 "%s is denied in a container: %s", what,
			 facts->container);
		out->lift = ON_HOST;
	} else {
		snprintf(out->why, sizeof(out->why), "%s: %s, though root",
			 what, strerror(error));
		out->lift = "a security module or a user namespace denies it: "
			    "run it outside";
	}
}

/* Why the ceiling in debugfs cannot be opened. */
static void debugfs_denied(const struct knob_facts *facts, int error,
			   struct knob *out)
{
	const char *file = "debugfs x86/tlb_single_page_flush_ceiling";

	/*
	 * Lockdown is the only one to say EPERM to a root that may use the
	 * file's mode; what it does not close is refused with EACCES.
	 */
	if (!facts->lockdown && (error != EPERM || facts->level)) {
		denied(facts, file, error, out);
		return;
	}
	snprintf(out->why, sizeof(out->why),
		 "kernel lockdown (%s) closes %s, even for reading",
		 facts->level ? facts->level : "level unknown", file);
	out->lift = "boot without lockdown (often: Secure Boot off), or a "
		    "kernel with the sysctl vm.tlb_flushall_factor";
}

/* Neither knob can be read: say what stands before the nearer one. */
static void no_knob(const struct knob_facts *facts, struct knob *out)
{
	const struct knob_look *ceiling = &facts->file[KNOB_FILE_CEILING];
	int error = ceiling->read_error;

	if (ceiling->text) {
		snprintf(out->why, sizeof(out->why),
			 "what debugfs says is no number of pages");
		out->lift = "a kernel whose knob is known here";
	} else if (error != ENOENT && error != ENOTDIR) {
		debugfs_denied(facts, error, out);
	} else if (facts->debugfs == 1) {
		snprintf(out->why, sizeof(out->why),
			 "this kernel has neither the sysctl nor the debugfs "
			 "knob");
		out->lift = "a kernel with the sysctl vm.tlb_flushall_factor, "
			    "or one with CONFIG_DEBUG_FS";
	} else if (facts->container) {
		snprintf(out->why, sizeof(out->why),
			 "no debugfs in a container: %s", facts->container);
		out->lift = ON_HOST;
	} else {
		snprintf(out->why, sizeof(out->why),
			 "debugfs is not mounted on /sys/kernel/debug");
		out->lift = facts->root ? "mount -t debugfs none "
					  "/sys/kernel/debug" :
					  "as root: mount -t debugfs none "
					  "/sys/kernel/debug";
	}
}

/* The first of the files that the sysctls need written that cannot be. */
static int factor_error(const struct knob_facts *facts)
{
	int error = facts->file[KNOB_FILE_FACTOR].write_error;

	return error ? error : facts->file[KNOB_FILE_ENTRIES].write_error;
}

void knob_decide(const struct knob_facts *facts, struct knob *out)
{
	int error;

	*out = (struct knob){ .now = { .kind = KNOB_NONE, .pages = -1 } };
	if (read_factor(facts, &out->now) == 0) {
		error = factor_error(facts);
		if (error)
			denied(facts, "/proc/sys/vm", error, out);
	} else if (read_ceiling(facts, &out->now) == 0) {
		error = facts->file[KNOB_FILE_CEILING].write_error;
		if (error)
			debugfs_denied(facts, error, out);
	} else {
		error = ENOENT;
		out->now =
			(struct knob_value){ .kind = KNOB_NONE, .pages = -1 };
		no_knob(facts, out);
	}
	out->writable = !error;
}

/* writing --------------------------------------------------------------- */

const char *knob_fault(const struct knob_value *value)
{
	if (value->kind == KNOB_CEILING)
		return value->pages >= 0 ? NULL : "a ceiling of 0 or more";
	if (value->kind != KNOB_FACTOR)
		return "a knob";
	if (value->factor < COST_FACTOR_STOCK ||
	    value->factor > COST_FACTOR_MAX)
		return "a factor from -2 to 16";
	if (value->entries < 0 || value->entries > KNOB_ENTRIES_MAX)
		return "TLB entries from 0 to 1048576";
	if (value->factor >= 0 && value->entries == 0)
		return "TLB entries for a factor of 0 or more";
	return NULL;
}

size_t knob_writes(const struct knob_value *value,
		   struct knob_write writes[KNOB_WRITES])
{
	size_t n = 0;

	if (value->kind == KNOB_CEILING) {
		writes[n++] =
			(struct knob_write){ KNOB_FILE_CEILING, value->pages };
	} else if (value->kind == KNOB_FACTOR) {
		writes[n++] = (struct knob_write){ KNOB_FILE_FACTOR,
						   COST_FACTOR_STOCK };
		writes[n++] = (struct knob_write){ KNOB_FILE_ENTRIES,
						   value->entries };
		if (value->factor != COST_FACTOR_STOCK)
			writes[n++] = (struct knob_write){ KNOB_FILE_FACTOR,
							   value->factor };
	}
	return n;
}

bool knob_took(const struct knob_value *wrote, const struct knob_value *read)
{
	if (wrote->kind != read->kind)
		return false;
	if (wrote->kind == KNOB_CEILING)
		return wrote->pages == read->pages;
	if (wrote->factor != read->factor || wrote->entries != read->entries)
		return false;
	/* Under the stock rule the ceiling is not ours; and it may be hidden.
	 */
	return wrote->factor == COST_FACTOR_STOCK || read->pages < 0 ||
	       (unsigned int)read->pages ==
		       cost_ceiling(wrote->factor,
				    (unsigned int)wrote->entries);
}

void knob_text(const struct knob_value *value, char text[KNOB_TEXT])
{
	char pages[24];

	snprintf(pages, sizeof(pages), value->pages < 0 ? "?" : "%d",
		 value->pages);
	switch (value->kind) {
	case KNOB_FACTOR:
		snprintf(text, KNOB_TEXT, "factor %d, E %d, %s pages",
			 value->factor, value->entries, pages);
		return;
	case KNOB_CEILING:
		snprintf(text, KNOB_TEXT, "%s pages", pages);
		return;
	case KNOB_NONE:
		break;
	}
	snprintf(text, KNOB_TEXT, "unknown");
}
