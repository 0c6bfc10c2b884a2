/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program: what the threads of a test do to the pages of a test.
 *
 * A program is a list of steps, each by one actor (a thread with a CPU of its
 * own; 0 is the initiator). An access step reads or writes every page of a
 * range once; an operation step takes the translations of a range away, or
 * gives some back. Steps are in groups. A group begins when all steps of the
 * one before it have ended, so that a step that loads translations and a later
 * one that tests them belong into different groups.
 *
 * Within a group the actors run at the same time. Each performs its own steps
 * in order, and a step can wait for one other: "after 0". So "X happens before
 * Y" is known for some pairs and the others are concurrent, and the model of
 * pagemodel.h allows for every order of these.
 *
 * A systematic check (checks.h) and a random one (generate.h) are both
 * programs; so is what is printed of a failure, and what --replay reads
 * (listing.h).
 *
 * Pure.
 */
#ifndef TLBTUNE_PROGRAM_H
#define TLBTUNE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the pages are. */
enum memory {
	MEMORY_SHARED,	/* 4 KiB of a memfd, with a second mapping */
	MEMORY_PRIVATE, /* 4 KiB, anonymous */
	MEMORY_THP,	/* 4 KiB units of one transparent huge page */
	MEMORY_HUGETLB, /* 2 MiB of a memfd, with a second mapping */
	MEMORIES,
};

extern const char *const memory_name[MEMORIES];

/* How the pages lie among page tables; one of these maps 2 MiB. */
enum layout {
	LAYOUT_START,  /* from the start of one, which other pages keep */
	LAYOUT_ACROSS, /* in two, which other pages keep */
	LAYOUT_ALONE,  /* from the start of one that has no other pages */
	LAYOUTS,
};

extern const char *const layout_name[LAYOUTS];

enum verb {
	VERB_READ,
	VERB_WRITE,
	VERB_MPROTECT_R,
	VERB_MPROTECT_NONE,
	VERB_MPROTECT_RW,
	VERB_MUNMAP,
	VERB_MAP,
	VERB_REMAP,
	VERB_DONTNEED,
	VERB_FREE,
	VERB_MREMAP,
	VERB_FORK,
	VERB_PUNCH,
	VERB_TRUNCATE,
	VERB_UFFD_WP,
	VERB_UFFD_RW,
	VERB_KSM,
	VERB_MIGRATE,
	VERB_COLLAPSE,
	VERBS,
};

/* What an access may do. */
enum rights { RIGHTS_NONE = 0, RIGHTS_R = 1, RIGHTS_RW = 3, RIGHTS_KEPT = -1 };

/* What becomes of the content of a page. */
enum effect {
	EFFECT_NONE, /* stays, perhaps in another physical page */
	EFFECT_ZERO, /* the page is empty again */
	EFFECT_NEW,  /* an empty page of new memory takes its place */
	EFFECT_GONE, /* nothing is mapped there */
};

struct verb_info {
	const char *name;
	unsigned int memories; /* bits of those that it applies to */
	enum effect effect;
	enum rights rights; /* of mprotect afterwards */
	int protect;	    /* userfaultfd: 1 protects, 0 ends it, -1: no */
	bool needs_mapped;  /* fails where a page is not mapped */
	bool gap;	    /* may fault meanwhile, whatever the rights */
	bool partial;	    /* may leave pages out; says which it took */
	bool alone;	    /* affects pages beyond its range: no others */
	bool random;	    /* for random programs */
};

extern const struct verb_info verb_info[VERBS];

static inline bool verb_accesses(enum verb verb)
{
	return verb == VERB_READ || verb == VERB_WRITE;
}

struct step {
	enum verb verb;
	unsigned int group;
	unsigned int actor;
	unsigned int first, count; /* pages */
	unsigned int from;	   /* page of the range accessed first */
	int after;  /* index in the group of the step awaited, or -1 */
	bool sleep; /* wait for it in the kernel, the CPU idle */
};

struct program {
	enum memory memory;
	enum layout layout;
	unsigned int pages;
	unsigned int actors;
	unsigned int at; /* which 4 KiB of a hugetlb page is accessed */
	struct step *step;
	size_t steps;
};

/* Page of memory a unit of the program is, in bytes. */
size_t program_unit(const struct program *program);

/* Append a step. 0, or -1 with ENOMEM. */
int program_add(struct program *program, const struct step *step);

/* Remove one step; what waited for it waits for nothing. */
void program_remove(struct program *program, size_t step);

/* 0, or -1 with ENOMEM. */
int program_copy(struct program *to, const struct program *from);

void program_free(struct program *program);

/* Index behind the last step of the group that begins with step first. */
size_t program_group_end(const struct program *program, size_t first);

/*
 * The frames of memory that the program uses: one a page first, then one for
 * each page of each step that maps new memory, in order. program_frame is the
 * first of such a step.
 */
size_t program_frames(const struct program *program);
size_t program_frame(const struct program *program, size_t step);

/*
 * NULL if the program means something: ranges lie within the pages, what is
 * awaited comes before, no page has two operations in a group, no operation
 * meets a page that it would fail on. Otherwise what is wrong; *step is the
 * step, or the number of steps where it is the program as a whole.
 */
const char *program_fault(const struct program *program, size_t *step);

/* Whether a step affects a page. */
bool step_affects(const struct step *step, unsigned int page);

#endif
