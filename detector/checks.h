/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks: the systematic tests, as programs.
 *
 * Each kind takes translations away in one way. It is tried with every number
 * of pages from 1 to two past the threshold at which the kernel flushes
 * everything (and some far beyond), with 1 to T other threads that hold the
 * translations by reading or by writing, spinning or with their CPU idle (lazy
 * TLB), and in each layout. Threads and initiator test every page, each
 * beginning elsewhere.
 *
 * Pure.
 */
#ifndef TLBTUNE_CHECKS_H
#define TLBTUNE_CHECKS_H

#include "program.h"

enum check_shape {
	SHAPE_SIMPLE, /* hold, operate, test */
	SHAPE_COW,    /* fork, hold by reading, write, test */
	SHAPE_RACE,   /* several operate at once */
};

struct check_kind {
	const char *name;
	const char *summary; /* for --list */
	enum verb verb;
	enum check_shape shape;
	bool keeps; /* what is read stays the same: only writes tell */
	unsigned int memories; /* bits; 0: those of the verb */
};

extern const struct check_kind check_kinds[];
extern const size_t check_kinds_n;

/* Whether a kind applies to a memory. */
bool check_applies(const struct check_kind *kind, enum memory memory);

/* Bounds of the tests. */
struct check_bounds {
	unsigned int threshold; /* pages flushed one by one at most */
	unsigned int threads;	/* 1 or more, beside the initiator */
	unsigned int huge;	/* huge pages there are */
};

struct check {
	const struct check_kind *kind;
	enum memory memory;
	enum layout layout;
	unsigned int n;
	unsigned int threads;
	enum verb hold, test; /* VERB_READ or VERB_WRITE */
	bool sleep;
	bool own_first; /* the initiator tests before the others */
};

/* How many different checks of a kind there are; 0: none are possible. */
size_t check_count(const struct check_kind *kind, enum memory memory,
		   const struct check_bounds *bounds);

/*
 * Check number index (taken modulo their count), in an order in which few of
 * them already have every number of pages, every way of holding and so on.
 */
struct check check_nth(const struct check_kind *kind, enum memory memory,
		       const struct check_bounds *bounds, size_t index);

/*
 * The program of a check; seed says where threads begin. 0, or -1 with ENOMEM.
 */
int check_program(const struct check *check, uint64_t seed,
		  struct program *program);

#endif
