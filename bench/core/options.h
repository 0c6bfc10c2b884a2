/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options: the options that programs share, as argp children.
 *
 * options_common_argp is for every program that measures, options_output_argp,
 * a part of it, for the others, options_work_argp for those that run an
 * operation under threads, options_load_argp, its single letters, for those
 * that have the rest of it for other things as well. A program that has no use
 * for an option does not take it. Usage errors are one line on stderr and exit
 * status 2.
 */
#ifndef TLBTUNE_OPTIONS_H
#define TLBTUNE_OPTIONS_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access.h"
#include "region.h"

enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_CANNOT_RUN = 77, /* Automake's code for a skipped test */
};

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

struct options_common {
	const char *cpus; /* --cpus LIST, or NULL */
	enum format format;
	const char *output; /* -o FILE, or NULL for stdout */
	uint64_t seed;
	bool seeded; /* --seed was given */
	bool quick;
};

/* How --initiators share memory. */
enum mode {
	MODE_THREADS,	/* one mm */
	MODE_PROCESSES, /* none */
	MODE_BOTH,	/* in turn */
};

struct options_work {
	size_t *threads; /* [rows] bystanders per row of the table */
	size_t rows;
	size_t pages;	     /* -n, per operation */
	size_t access_pages; /* -p, accessed after each operation */
	size_t loops;	     /* -l, operations per row; 0: until tight */
	bool write;
	enum pattern pattern;
	enum region_kind huge;
	const char *mem_bind; /* --mem-bind LIST, or NULL */
	size_t initiators;    /* that operate at a time, the caller included */
	enum mode mode;
	bool mode_given;
	bool load_given; /* one of options_load_argp was */
};

extern const struct argp options_common_argp;	  /* input: options_common */
extern const struct argp options_output_argp;	  /* input: options_common */
extern const struct argp options_work_argp;	  /* input: options_work */
extern const struct argp options_load_argp;	  /* input: options_work */
extern const struct argp options_initiators_argp; /* a part of work */

void options_common_init(struct options_common *options);

/* 0 or -1 with ENOMEM. */
int options_work_init(struct options_work *options);
void options_work_free(struct options_work *options);

/* The names of formats and modes, in JSON and in messages. */
extern const char *const format_name[];
extern const char *const mode_name[];

/*
 * Parse the whole of text as a decimal integer (no sign, no blanks) between min
 * and max. On failure prints "program: option: expected ..., got 'text'" and
 * exits with STATUS_USAGE; option is the name for the user, e.g. "-n".
 */
uint64_t options_integer(const char *option, const char *text, uint64_t min,
			 uint64_t max);

/* The same for a decimal number (strtod without hex, inf, nan or blanks). */
double options_decimal(const char *option, const char *text, double min,
		       double max);

/*
 * A list of numbers of threads such as "1,2,16", each at least min, malloc'ed,
 * *n of them; and a number of operations.
 */
size_t *options_threads(const char *option, const char *text, size_t min,
			size_t *n);
size_t options_loops(const char *option, const char *text);

/* The kind of --huge[=KIND]; arg is NULL without. Exits as above. */
enum region_kind options_huge(const char *arg);

/* Its help and its value in JSON, false without --huge. */
#define OPTIONS_HUGE_DOC                                                       \
	"pages of 2 MiB: transparent huge pages (thp, the default) or those "  \
	"that vm.nr_hugepages sets aside (hugetlb)"
json_t *options_huge_json(enum region_kind kind);

/* One line on stderr, "program: ...", and exit with STATUS_USAGE. */
__attribute__((noreturn, format(printf, 1, 2))) void options_refuse(
	const char *format, ...);

/*
 * argp_parse with the exit status and the one-line errors of tlbtune.
 * Positional arguments are refused unless argp->args_doc is set.
 */
void options_parse(const struct argp *argp, int argc, char **argv, void *input);

/*
 * The same with the options of shared (options_common_argp or one of its parts)
 * beside those of argp.
 */
void options_parse_with(const struct argp *argp, int argc, char **argv,
			void *input, const struct argp *shared,
			struct options_common *options);

#endif
