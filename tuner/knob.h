/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knob: what of the running kernel decides between the two ways to flush. Pure:
 * from what a look at the machine gave (knobfile.h) to a knob, or to why there
 * is none; and from a value to the writes that bring it about.
 *
 * There are two kinds. The sysctls of our kernel series are vm.tlb_entries (E),
 * vm.tlb_flushall_factor (f) and, read-only, the ceiling in pages that these
 * give. Stock kernels have the ceiling itself, in debugfs, which kernel
 * lockdown closes even for reading.
 */
#ifndef TLBTUNE_KNOB_H
#define TLBTUNE_KNOB_H

#include <stdbool.h>
#include <stddef.h>

enum knob_kind { KNOB_NONE, KNOB_FACTOR, KNOB_CEILING };

/* "none", "vm.tlb_flushall_factor", "tlb_single_page_flush_ceiling". */
extern const char *const knob_name[];

/* The files behind the knobs. */
enum knob_file {
	KNOB_FILE_FACTOR,
	KNOB_FILE_ENTRIES,
	KNOB_FILE_PAGES,
	KNOB_FILE_CEILING,
	KNOB_FILES
};

/* Their paths below the root. */
extern const char *const knob_path[];

/* Larger values of E are no TLB; the kernel's type holds them. */
#define KNOB_ENTRIES_MAX (1 << 20)

struct knob_value {
	enum knob_kind kind;
	int factor;  /* with KNOB_FACTOR: COST_FACTOR_STOCK .. _MAX */
	int entries; /* with KNOB_FACTOR: E of the kernel; 0: it knows none */
	int pages;   /* the ceiling; -1: unknown. What is written is checked
		      * against it with KNOB_FACTOR, and is it with
		      * KNOB_CEILING */
};

/* What opening a file gave. */
struct knob_look {
	char *text;	 /* malloc'ed; NULL when it cannot be read */
	int read_error;	 /* errno of that, or 0 */
	int write_error; /* errno of opening it for writing, or 0 */
};

struct knob_facts {
	struct knob_look file[KNOB_FILES];
	bool root;	 /* the effective user is root */
	int debugfs;	 /* mounted where it should be: 1, 0; -1: unknown */
	bool lockdown;	 /* there is a level, and it is not "none" */
	char *level;	 /* malloc'ed; NULL: unknown */
	char *container; /* malloc'ed: the runtime that left its mark; or NULL
			  */
};

struct knob {
	/* that can be read; KNOB_NONE where none can */
	struct knob_value now;
	bool writable;
	/* why it is not writable, or why there is none; else "" */
	char why[160];
	const char *lift; /* what would lift that; NULL with no why */
};

/* The sysctls are preferred: they are a superset, and not closed by lockdown.
 */
void knob_decide(const struct knob_facts *facts, struct knob *out);

/* NULL, or what is wrong with a value to be written: "a factor from -2 to 16".
 */
const char *knob_fault(const struct knob_value *value);

struct knob_write {
	enum knob_file file;
	int value;
};

#define KNOB_WRITES 3

/*
 * The writes that bring value about whatever is in force: factor -2, E, factor,
 * so that no step is refused. Returns how many, at most KNOB_WRITES.
 */
size_t knob_writes(const struct knob_value *value,
		   struct knob_write writes[KNOB_WRITES]);

/* True if what was read back is what was written, resulting ceiling included.
 */
bool knob_took(const struct knob_value *wrote, const struct knob_value *read);

/* "factor 4, E 4096, 256 pages"; for messages. */
#define KNOB_TEXT 80
void knob_text(const struct knob_value *value, char text[KNOB_TEXT]);

/* The text of the file as an integer from min to max. 0 or -1. */
int knob_parse(const char *text, int min, int max, int *value);

#endif
