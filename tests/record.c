/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run has measured survives JSON, and what is no record is refused with
 * the member at fault.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "tap.h"

static struct record sample(void)
{
	static const struct op_point op[] = { { 0, 1, 9, 1000.25 },
					      { 1, 512, 7, 1e6 } };
	static const struct refill_point refill[] = { { 3, PATTERN_CHASE, 256,
							5, 1, 2, 3, -0.5 } };
	static const struct reach_point reach[] = { { 0, 16, 2.5, 2.25 } };
	static const struct held_out_point held_out[] = { { 2, PATTERN_SEQ, 40,
							    33, 11, -1234.5 } };
	struct record record = { .reaccess = { 1, 2, NAN, 4 } };

	record_append(&record.search, &record.n_search, op, 1, sizeof(*op));
	record_append(&record.op, &record.n_op, op, 2, sizeof(*op));
	record_append(&record.refill, &record.n_refill, refill, 1,
		      sizeof(*refill));
	record_append(&record.reach, &record.n_reach, reach, 1, sizeof(*reach));
	record_append(&record.held_out, &record.n_held_out, held_out, 1,
		      sizeof(*held_out));
	return record;
}

static void test_round_trip(void)
{
	struct record record = sample(), back;
	json_t *json = record_json(&record), *again;
	char *why;

	ok(record_load(json, &back, &why) == 0, "a record loads");
	ok(back.n_op == 2 && back.op[1].n == 512 && back.op[0].ns == 1000.25,
	   "operations");
	ok(back.n_refill == 1 && back.refill[0].pattern == PATTERN_CHASE &&
		   back.refill[0].step_ns == -0.5,
	   "refills");
	ok(back.n_reach == 1 && back.reach[0].dense_ns == 2.25, "reach");
	ok(back.n_held_out == 1 && back.held_out[0].difference_ns == -1234.5,
	   "held-out sets");
	ok(back.reaccess.warm_ns == 1 && isnan(back.reaccess.large_ns),
	   "re-access, unknown stays unknown");
	again = record_json(&back);
	ok(json_equal(json, again), "and is the same JSON again");
	json_decref(json);
	json_decref(again);
	record_free(&record);
	record_free(&back);
}

/* The sample with the first element of a member replaced by text. */
static void refused(const char *member, const char *text, const char *names)
{
	struct record record = sample(), out;
	json_t *json = record_json(&record);
	json_t *element = json_loads(text, JSON_DECODE_ANY, NULL);
	char *why = NULL;

	json_array_set_new(json_object_get(json, member), 0, element);
	ok(record_load(json, &out, &why) < 0 && why && strstr(why, names),
	   "%s[0] = %s is refused: %s", member, text, why ? why : "");
	free(why);
	json_decref(json);
	record_free(&record);
}

static void test_refused(void)
{
	struct record out;
	json_t *json;
	char *why = NULL;

	refused("op", "[0, 1, 9]", "record.op[0]");
	refused("op", "[0, 1, 9, 1, 1]", "record.op[0]");
	refused("op", "[0, 0, 9, 1]", "record.op[0]");
	refused("op", "[-1, 1, 9, 1]", "record.op[0]");
	refused("op", "[0, 1, 0, 1]", "record.op[0]");
	refused("op", "[0, 1.5, 9, 1]", "record.op[0]");
	refused("op", "[0, 1, 9, null]", "record.op[0]");
	refused("op", "[0, 1, 9, \"1\"]", "record.op[0]");
	refused("op", "[0, 1, 9, 1e300]", "record.op[0]");
	refused("op", "[0, 1, 9, 1e-300]", "record.op[0]");
	refused("op", "[0, 1, 9, 0]", "record.op[0]");
	refused("op", "[0, 1, 9, -5]", "record.op[0]");
	refused("op", "[999999999999, 1, 9, 1]", "record.op[0]");
	refused("op", "{}", "record.op[0]");
	refused("op", "null", "record.op[0]");
	refused("refill", "[3, \"zigzag\", 256, 5, 1, 2, 3, 4]",
		"record.refill[0]");
	refused("refill", "[3, 2, 256, 5, 1, 2, 3, 4]", "record.refill[0]");
	refused("reach", "[0, 0, 1, 1]", "record.reach[0]");
	refused("held_out", "[0, \"seq\", 1, 1, 1, true]",
		"record.held_out[0]");

	json = json_pack("{s:[]}", "op");
	ok(record_load(json, &out, &why) < 0 && strstr(why, "record.search"),
	   "a member that is missing is named");
	free(why);
	json_decref(json);
	ok(record_load(NULL, &out, &why) < 0 && strstr(why, "object"),
	   "no record at all");
	free(why);
	json = json_array();
	ok(record_load(json, &out, &why) < 0, "an array is no record");
	free(why);
	json_decref(json);
}

int main(void)
{
	test_round_trip();
	test_refused();
	return done();
}
