/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>
#include <string.h>

#include "bench_report.h"
#include "report.h"

/* Fewer operations than this did what they should: the result is another. */
#define SHARE_CLAIMED 0.95

static const char *const window_name[PROOF_WINDOWS] = {
	[PROOF_ALONE] = "alone",
	[PROOF_BUSY] = "busy",
};

/* JSON ------------------------------------------------------------------ */

json_t *bench_flushes_json(const struct proof *proof)
{
	double ceiling = proof ? proof_ceiling(proof) : NAN;
	const char *why = NULL;

	if (!proof)
		why = "not traced";
	else if (isinf(ceiling))
		why = "up to 512 pages there is none";
	else if (isnan(ceiling))
		why = "calls of 1 to 512 pages show no step from page by page "
		      "to full";
	return json_pack("{s:b, s:o, s:s?, s:[], s:[]}", "traced",
			 proof != NULL, "ceiling", report_number(ceiling),
			 "ceiling_why", why, "interrupts", "rows");
}

/* Of other initiators it is not known how many calls they are of. */
static void add_interrupts(json_t *to, size_t index, const struct row *row,
			   const char *window, size_t calls, double interrupts)
{
	if (calls)
		json_array_append_new(
			to,
			json_pack("{s:I, s:I, s:s, s:I, s:o, s:o}", "row",
				  (json_int_t)index, "threads",
				  (json_int_t)row->threads, "window", window,
				  "calls", (json_int_t)calls, "received",
				  report_number(interrupts), "per_call",
				  report_number(
					  row->initiators > 1 ?
						  NAN :
						  interrupts / (double)calls)));
}

static json_t *side_json(const struct flush_side *side)
{
	bool any = side->paged;

	return json_pack("{s:I, s:I, s:o, s:o}", "full", (json_int_t)side->full,
			 "page_by_page", (json_int_t)side->paged, "pages_min",
			 report_number(any ? (double)side->least : NAN),
			 "pages_max",
			 report_number(any ? (double)side->greatest : NAN));
}

static json_t *reasons_json(const struct flush_tally *tally)
{
	json_t *reasons = json_object();
	int i;

	for (i = 0; i < FLUSH_REASONS; i++)
		json_object_set_new(
			reasons, flush_reason_name[i],
			json_integer((json_int_t)tally->reasons[i]));
	json_object_set_new(
		reasons, "unknown",
		json_integer((json_int_t)tally->reasons[FLUSH_REASONS]));
	return reasons;
}

/* What is implied, as a word. */
static const char *implied_kind(const struct flush_implied *implied)
{
	if (implied->claim == FLUSH_RANGE && isnan(implied->ceiling))
		return "unknown";
	if (flushes_full(implied))
		return "full";
	if (implied->claim == FLUSH_BATCH)
		return "each page or full";
	return implied->claim == FLUSH_EACH ? "each page" : "page by page";
}

static void add_tally(json_t *to, size_t index, const struct row *row,
		      enum proof_window window,
		      const struct flush_implied *implied)
{
	const struct flush_tally *tally = &row->flushes[window];
	double share = flushes_share(tally);

	if (!tally->operations)
		return;
	if (!strcmp(implied_kind(implied), "unknown"))
		share = NAN;
	json_array_append_new(
		to,
		json_pack("{s:I, s:I, s:s, s:I, s:s, s:I, s:o, s:o, s:I, s:o, "
			  "s:o, s:I, s:o, s:o}",
			  "row", (json_int_t)index, "threads",
			  (json_int_t)row->threads, "window",
			  window_name[window], "operations",
			  (json_int_t)tally->operations, "implied",
			  implied_kind(implied), "pages",
			  (json_int_t)implied->pages, "share_as_implied",
			  report_number(share), "as_claimed",
			  isnan(share) ? json_null() :
					 json_boolean(share >= SHARE_CLAIMED),
			  "without_flush", (json_int_t)tally->without, "caller",
			  side_json(&tally->caller), "others",
			  side_json(&tally->others), "sent",
			  (json_int_t)tally->reasons[FLUSH_SEND], "reasons",
			  reasons_json(tally), "lost",
			  report_number(tally->lost)));
}

void bench_add_flushes(json_t *flushes, size_t index, const struct row *row,
		       const struct bench_run *run, const struct bench *bench)
{
	json_t *interrupts = json_object_get(flushes, "interrupts");
	struct flush_implied implied;
	int i;

	add_interrupts(interrupts, index, row, "alone", row->alone.op.n,
		       row->alone.interrupts);
	add_interrupts(interrupts, index, row, "busy",
		       row->busy.op.n + row->stopped.op.n,
		       row->busy.interrupts);
	if (!run->proof)
		return;
	implied = proof_implied(run->proof, bench, run->work);
	for (i = 0; i < PROOF_WINDOWS; i++)
		add_tally(json_object_get(flushes, "rows"), index, row,
			  (enum proof_window)i, &implied);
}

/* text ------------------------------------------------------------------ */

static json_int_t integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* The interrupts of each window that has some calls. */
static void print_interrupts(const json_t *interrupts, FILE *to)
{
	json_t *row;
	size_t i;

	fputs("\nInterrupts for TLB flushes per call, those of other processes "
	      "too (/proc/interrupts):\n",
	      to);
	json_array_foreach(interrupts, i, row) {
		const json_t *per_call = json_object_get(row, "per_call");

		fprintf(to, "  %-5s %5" JSON_INTEGER_FORMAT " beside: ",
			string(row, "window"), integer(row, "threads"));
		if (json_is_number(per_call))
			fprintf(to, "%.3f\n", json_number_value(per_call));
		else
			fputs("n/a\n", to);
	}
}

static void print_side(const json_t *side, FILE *to)
{
	fprintf(to, " %6" JSON_INTEGER_FORMAT " %7" JSON_INTEGER_FORMAT,
		integer(side, "full"), integer(side, "page_by_page"));
	if (json_is_number(json_object_get(side, "pages_min")))
		fprintf(to, " %4.0f-%-4.0f",
			json_number_value(json_object_get(side, "pages_min")),
			json_number_value(json_object_get(side, "pages_max")));
	else
		fprintf(to, " %9s", "");
}

static void print_tally(const json_t *row, FILE *to)
{
	const json_t *share = json_object_get(row, "share_as_implied");

	fprintf(to, "%-6s %7" JSON_INTEGER_FORMAT " %7" JSON_INTEGER_FORMAT,
		string(row, "window"), integer(row, "threads"),
		integer(row, "operations"));
	if (json_is_number(share))
		fprintf(to, " %7.1f", 100 * json_number_value(share));
	else
		fprintf(to, " %7s", "n/a");
	print_side(json_object_get(row, "caller"), to);
	print_side(json_object_get(row, "others"), to);
	fprintf(to, " %6" JSON_INTEGER_FORMAT "\n", integer(row, "sent"));
}

/* Say what must not be overlooked in the row. */
static void print_objection(const json_t *row, FILE *to)
{
	const json_t *lost = json_object_get(row, "lost");

	if (json_is_false(json_object_get(row, "as_claimed")))
		fprintf(to,
			"NOT AS CLAIMED: %" JSON_INTEGER_FORMAT
			" beside, %s: the kernel did something else than what "
			"%" JSON_INTEGER_FORMAT " pages imply (%s).\n",
			integer(row, "threads"), string(row, "window"),
			integer(row, "pages"), string(row, "implied"));
	if (json_number_value(lost) > 0)
		fprintf(to,
			"%.0f events were lost: some operations are counted as "
			"if they had flushed nothing.\n",
			json_number_value(lost));
}

static void print_traced(const json_t *flushes, FILE *to)
{
	const json_t *rows = json_object_get(flushes, "rows");
	const json_t *ceiling = json_object_get(flushes, "ceiling");
	const json_t *first = json_array_get(rows, 0);
	json_t *row;
	size_t i;

	fputs("\nFlushes of operations that were traced, not timed "
	      "(tlb:tlb_flush)\n  ceiling in force: ",
	      to);
	if (json_is_number(ceiling))
		fprintf(to, "%.0f pages", json_number_value(ceiling));
	else
		fprintf(to, "n/a, %s", string(flushes, "ceiling_why"));
	if (first)
		fprintf(to, "; %" JSON_INTEGER_FORMAT " pages imply: %s",
			integer(first, "pages"), string(first, "implied"));
	fputs("\n\n       threads         as im-  caller                   "
	      "others\n"
	      "window  beside   calls plied %   full by page  pages     full "
	      "by page  pages      sent\n",
	      to);
	json_array_foreach(rows, i, row)
		print_tally(row, to);
	json_array_foreach(rows, i, row)
		print_objection(row, to);
}

void bench_print_flushes(const json_t *report, FILE *to)
{
	const json_t *flushes = json_object_get(report, "flushes");

	print_interrupts(json_object_get(flushes, "interrupts"), to);
	if (json_is_true(json_object_get(flushes, "traced")))
		print_traced(flushes, to);
}
