/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree: a directory that stands for the root of some machine, and the CPUID of
 * its CPUs, so that a test can be on any machine.
 */
#ifndef TLBTUNE_TREE_H
#define TLBTUNE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "identity.h"

struct tree_file {
	const char *path; /* "/proc/stat" */
	const char *text; /* "-> target" makes a symbolic link */
};

struct tree_leaf {
	uint32_t leaf, reg[4]; /* sub-leaf 0; EAX, EBX, ECX, EDX */
};

struct tree_machine {
	const char *name;
	unsigned int cpu;	       /* the one measured */
	const struct tree_file *files; /* up to one without a path */
	const struct tree_leaf *leaves;
	size_t n_leaves;
};

/* All machines there are, each of another kind: see tests/machines.c. */
extern const struct tree_machine tree_hybrid;
extern const struct tree_machine tree_epyc;
extern const struct tree_machine tree_xen;
extern const struct tree_machine tree_kvm;
extern const struct tree_machine tree_container;

/*
 * A new empty directory; the rest of its name is for tree_close to free. These
 * end the test program when the file system fails.
 */
char *tree_open(void);
void tree_put(const char *root, const char *path, const char *text, size_t len);
void tree_write(const char *root, const char *path, const char *text);
void tree_remove(const char *root, const char *path);
void tree_fill(const char *root, const struct tree_machine *machine);
void tree_close(char *root);

/* The leaves of a machine; those it does not list are zero, as on AMD. */
struct identity_source tree_cpuid(const struct tree_machine *machine);

#endif
