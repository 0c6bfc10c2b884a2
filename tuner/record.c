/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "report.h"
#include "text.h"
#include "why.h"

/* What a run can at most have measured; larger numbers are a foreign file. */
#define MAX_BLOCK 100000
#define MAX_PAGES (1 << 30)
#define MAX_COUNT 1000000000
#define MAX_NS 1e12
#define MIN_OP_NS 1 /* no system call is faster */

int record_append(void *array, size_t *count, const void *more, size_t n,
		  size_t size)
{
	char **bytes = array;
	char *larger;

	if (n == 0)
		return 0;
	larger = reallocarray(*bytes, *count + n, size);
	if (!larger)
		return -1;
	memcpy(larger + *count * size, more, n * size);
	*bytes = larger;
	*count += n;
	return 0;
}

void record_free(struct record *record)
{
	free(record->search);
	free(record->op);
	free(record->refill);
	free(record->reach);
	free(record->held_out);
	free(record->both);
	*record = (struct record)RECORD_EMPTY;
}

/* to JSON: every point is an array, in the order of record_columns -------- */

static json_t *op_json(const struct op_point *points, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(
			list, json_pack("[i, i, i, o]", (int)points[i].block,
					(int)points[i].n, (int)points[i].count,
					report_number(points[i].ns)));
	return list;
}

static json_t *refill_json(const struct record *record)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < record->n_refill; i++) {
		const struct refill_point *p = &record->refill[i];

		json_array_append_new(
			list,
			json_pack("[i, s, i, i, o, o, o, o]", (int)p->block,
				  pattern_name[p->pattern], (int)p->w,
				  (int)p->count, report_number(p->warm_ns),
				  report_number(p->page_ns),
				  report_number(p->full_ns),
				  report_number(p->step_ns)));
	}
	return list;
}

static json_t *reach_json(const struct record *record)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < record->n_reach; i++) {
		const struct reach_point *p = &record->reach[i];

		json_array_append_new(
			list, json_pack("[i, i, o, o]", (int)p->block,
					(int)p->w, report_number(p->spread_ns),
					report_number(p->dense_ns)));
	}
	return list;
}

static json_t *held_out_json(const struct record *record)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < record->n_held_out; i++) {
		const struct held_out_point *p = &record->held_out[i];

		json_array_append_new(
			list, json_pack("[i, s, i, i, i, o]", (int)p->block,
					pattern_name[p->pattern], (int)p->w,
					(int)p->n, (int)p->count,
					report_number(p->difference_ns)));
	}
	return list;
}

static json_t *both_json(const struct record *record)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < record->n_both; i++) {
		const struct both_point *p = &record->both[i];

		json_array_append_new(
			list,
			json_pack("[i, i, i, o, o]", (int)p->block, (int)p->n,
				  (int)p->count, report_number(p->page_ns),
				  report_number(p->full_ns)));
	}
	return list;
}

json_t *record_json(const struct record *record)
{
	const struct reaccess *r = &record->reaccess;

	return json_pack(
		"{s:o, s:{s:o, s:o, s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o}",
		"search", op_json(record->search, record->n_search), "reaccess",
		"warm_ns", report_number(r->warm_ns), "small_ns",
		report_number(r->small_ns), "large_ns",
		report_number(r->large_ns), "noise_ns",
		report_number(r->noise_ns), "op",
		op_json(record->op, record->n_op), "refill",
		refill_json(record), "reach", reach_json(record), "held_out",
		held_out_json(record), "both", both_json(record), "in_force",
		text_index_json(record->in_force), "knob_ceiling",
		text_index_json(record->knob_ceiling));
}

/* from JSON ------------------------------------------------------------- */

/* What is being read, so that an error can name it. */
struct reader {
	const char *member;
	size_t at;	     /* element of the member */
	const char *columns; /* what an element should be */
	char **why;
};

static int refuse(const struct reader *reader)
{
	if (asprintf(reader->why, "record.%s[%zu]: expected [%s]",
		     reader->member, reader->at, reader->columns) < 0)
		*reader->why = NULL;
	return -1;
}

/* Column of an element: an integer in min .. max. */
static bool get_integer(const json_t *row, size_t column, unsigned int min,
			unsigned int max, unsigned int *out)
{
	const json_t *value = json_array_get(row, column);
	json_int_t x = json_integer_value(value);

	if (!json_is_integer(value) || x < min || x > max)
		return false;
	*out = (unsigned int)x;
	return true;
}

/* Column of an element: ns, possibly negative, never unknown. */
static bool get_ns(const json_t *row, size_t column, double *out)
{
	const json_t *value = json_array_get(row, column);

	*out = json_number_value(value);
	return json_is_number(value) && fabs(*out) <= MAX_NS;
}

static bool get_pattern(const json_t *row, size_t column, enum pattern *out)
{
	const char *name = json_string_value(json_array_get(row, column));
	int pattern = name ? pattern_parse(name) : -1;

	if (pattern < 0)
		return false;
	*out = (enum pattern)pattern;
	return true;
}

static bool get_block(const json_t *row, unsigned int *block)
{
	return get_integer(row, 0, 0, MAX_BLOCK, block);
}

static bool read_op(const json_t *row, void *out)
{
	struct op_point *p = out;

	return json_array_size(row) == 4 && get_block(row, &p->block) &&
	       get_integer(row, 1, 1, MAX_PAGES, &p->n) &&
	       get_integer(row, 2, 1, MAX_COUNT, &p->count) &&
	       get_ns(row, 3, &p->ns) && p->ns >= MIN_OP_NS;
}

static bool read_refill(const json_t *row, void *out)
{
	struct refill_point *p = out;

	return json_array_size(row) == 8 && get_block(row, &p->block) &&
	       get_pattern(row, 1, &p->pattern) &&
	       get_integer(row, 2, 1, MAX_PAGES, &p->w) &&
	       get_integer(row, 3, 1, MAX_COUNT, &p->count) &&
	       get_ns(row, 4, &p->warm_ns) && get_ns(row, 5, &p->page_ns) &&
	       get_ns(row, 6, &p->full_ns) && get_ns(row, 7, &p->step_ns);
}

static bool read_reach(const json_t *row, void *out)
{
	struct reach_point *p = out;

	return json_array_size(row) == 4 && get_block(row, &p->block) &&
	       get_integer(row, 1, 1, MAX_PAGES, &p->w) &&
	       get_ns(row, 2, &p->spread_ns) && get_ns(row, 3, &p->dense_ns);
}

static bool read_held_out(const json_t *row, void *out)
{
	struct held_out_point *p = out;

	return json_array_size(row) == 6 && get_block(row, &p->block) &&
	       get_pattern(row, 1, &p->pattern) &&
	       get_integer(row, 2, 1, MAX_PAGES, &p->w) &&
	       get_integer(row, 3, 1, MAX_PAGES, &p->n) &&
	       get_integer(row, 4, 1, MAX_COUNT, &p->count) &&
	       get_ns(row, 5, &p->difference_ns);
}

static bool read_both(const json_t *row, void *out)
{
	struct both_point *p = out;

	return json_array_size(row) == 5 && get_block(row, &p->block) &&
	       get_integer(row, 1, 1, MAX_PAGES, &p->n) &&
	       get_integer(row, 2, 1, MAX_COUNT, &p->count) &&
	       get_ns(row, 3, &p->page_ns) && p->page_ns >= MIN_OP_NS &&
	       get_ns(row, 4, &p->full_ns) && p->full_ns >= MIN_OP_NS;
}

/* Read all elements of one member into *array[*count]. */
static int read_member(const json_t *json, const char *member,
		       const char *columns,
		       bool (*read)(const json_t *row, void *out), void *array,
		       size_t *count, size_t size, char **why)
{
	const json_t *list = json_object_get(json, member);
	size_t n = json_array_size(list);
	struct reader reader = { member, 0, columns, why };
	char *rows;

	if (!json_is_array(list))
		return why_set(why, 0, "record.%s: expected an array of [%s]",
			       member, columns);
	rows = calloc(n + 1, size);
	if (!rows) {
		*why = strdup(strerror(ENOMEM));
		return -1;
	}
	for (reader.at = 0; reader.at < n; reader.at++)
		if (!read(json_array_get(list, reader.at),
			  rows + reader.at * size)) {
			free(rows);
			return refuse(&reader);
		}
	*(void **)array = rows;
	*count = n;
	return 0;
}

/* A number of ns, NAN for null. */
static double optional_ns(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Pages that reports from before there was a knob lack: then *out stays. */
static int load_pages(const json_t *record, const char *key, int *out,
		      char **why)
{
	const json_t *json = json_object_get(record, key);
	json_int_t pages = json_integer_value(json);

	if (!json || json_is_null(json))
		return 0;
	if (!json_is_integer(json) || pages < 0 || pages > INT_MAX)
		return why_set(why, EINVAL, "record.%s: expected pages or null",
			       key);
	*out = (int)pages;
	return 0;
}

int record_load(const json_t *json, struct record *record, char **why)
{
	static const char op_columns[] = "block, pages, count, ns";
	const json_t *reaccess = json_object_get(json, "reaccess");

	*record = (struct record)RECORD_EMPTY;
	*why = NULL;
	if (!json_is_object(json)) {
		*why = strdup("record: expected an object (is this a report "
			      "of tune?)");
		return -1;
	}
	if (load_pages(json, "in_force", &record->in_force, why) < 0 ||
	    load_pages(json, "knob_ceiling", &record->knob_ceiling, why) < 0)
		return -1;
	record->reaccess = (struct reaccess){
		.warm_ns = optional_ns(json_object_get(reaccess, "warm_ns")),
		.small_ns = optional_ns(json_object_get(reaccess, "small_ns")),
		.large_ns = optional_ns(json_object_get(reaccess, "large_ns")),
		.noise_ns = optional_ns(json_object_get(reaccess, "noise_ns")),
	};
	if (read_member(json, "search", op_columns, read_op, &record->search,
			&record->n_search, sizeof(*record->search), why) < 0 ||
	    read_member(json, "op", op_columns, read_op, &record->op,
			&record->n_op, sizeof(*record->op), why) < 0 ||
	    read_member(json, "refill",
			"block, pattern, pages, count, warm ns, page ns, "
			"full ns, step ns",
			read_refill, &record->refill, &record->n_refill,
			sizeof(*record->refill), why) < 0 ||
	    read_member(json, "reach", "block, pages, spread ns, dense ns",
			read_reach, &record->reach, &record->n_reach,
			sizeof(*record->reach), why) < 0 ||
	    read_member(json, "held_out",
			"block, pattern, pages, flushed pages, count, ns",
			read_held_out, &record->held_out, &record->n_held_out,
			sizeof(*record->held_out), why) < 0 ||
	    /* Reports from before there was a knob lack it. */
	    (json_object_get(json, "both") &&
	     read_member(json, "both", "block, pages, count, page ns, full ns",
			 read_both, &record->both, &record->n_both,
			 sizeof(*record->both), why) < 0)) {
		record_free(record);
		return -1;
	}
	return 0;
}
