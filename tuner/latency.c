/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "claim.h"
#include "explain.h"
#include "latency.h"
#include "report.h"

const char *const reach_memory_name[REACH_MEMORIES] = {
	[REACH_4K] = "4K",
	[REACH_2M] = "2M",
	[REACH_4K_OF_2M] = "4K of 2M",
};

const struct latency *latency_chase(const struct latencies *all,
				    enum reach_memory memory)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->curve[i].memory == memory &&
		    all->curve[i].pattern == PATTERN_CHASE)
			return &all->curve[i];
	return NULL;
}

int latency_derive(struct latencies *all)
{
	const struct latency *pages = latency_chase(all, REACH_4K);
	const struct latency *pieces = latency_chase(all, REACH_4K_OF_2M);
	size_t i;

	for (i = 0; i < all->n; i++) {
		struct latency *curve = &all->curve[i];

		curve->reach = reach_unknown();
		if (curve->pattern == PATTERN_CHASE &&
		    reach_find(curve->points, curve->n, &curve->reach) < 0 &&
		    errno != EINVAL)
			return -1;
	}
	all->splinter = (struct splinter){ SPLINTER_UNKNOWN, stats_unknown() };
	if (!pages)
		pages = latency_chase(all, REACH_2M);
	if (!pages || !pieces)
		return 0;
	return splinter_judge(pages->points, pages->n, pieces->points,
			      pieces->n, &all->splinter);
}

void latency_free(struct latencies *all)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		free(all->curve[i].points);
		free(all->curve[i].why);
	}
	free(all->curve);
	tlb_free(&all->cpuid);
	*all = (struct latencies){ 0 };
}

/* JSON ------------------------------------------------------------------ */

static json_t *tlb_json(const struct latencies *all, enum reach_memory memory)
{
	const struct latency *curve = latency_chase(all, memory);

	return curve && curve->n ? explain_tlb_json(&curve->reach) :
				   json_null();
}

/* Entries of L1 and last level that CPUID gives for one size of pages. */
struct levels {
	int l1, last;
};

static struct levels levels(const struct tlb_info *info, enum tlb_pages page)
{
	int last = tlb_last_level(info, page);

	/* As measured: a level alone is the last one. */
	return (struct levels){
		.l1 = last > 1 ? tlb_entries(info, 1, page) : -1,
		.last = page == TLB_4K ? info->entries :
			last < 0       ? -1 :
				   tlb_entries(info, (unsigned int)last, page),
	};
}

static json_t *count_json(int count)
{
	return count < 0 ? json_null() : json_integer(count);
}

static json_t *levels_json(const struct tlb_info *info, enum tlb_pages page)
{
	struct levels found = levels(info, page);

	return json_pack("{s:o, s:o}", "l1_entries", count_json(found.l1),
			 "last_level_entries", count_json(found.last));
}

static json_t *cpuid_json(const struct tlb_info *info)
{
	return json_pack("{s:o, s:o, s:s, s:s?, s:s?}", "pages_4k",
			 levels_json(info, TLB_4K), "pages_2m",
			 levels_json(info, TLB_2M), "confidence",
			 tlb_confidence_name[info->confidence], "why",
			 info->why, "odd", info->odd);
}

static void contradict(json_t *list, const char *what, int entries,
		       enum tlb_confidence confidence,
		       const struct estimate *measured)
{
	char *text = claim_sentence(what, entries, confidence, measured);

	if (text)
		json_array_append_new(list, json_string(text));
	free(text);
}

static json_t *contradictions_json(const struct latencies *all)
{
	const struct latency *small = latency_chase(all, REACH_4K);
	const struct latency *large = latency_chase(all, REACH_2M);
	const struct tlb_info *info = &all->cpuid;
	struct levels claim = levels(info, TLB_4K);
	json_t *list = json_array();

	if (small) {
		contradict(list, "the L1 dTLB for 4 KiB pages", claim.l1,
			   TLB_DECODED, &small->reach.l1);
		contradict(list, "the last-level dTLB for 4 KiB pages",
			   claim.last, info->confidence, &small->reach.last);
	}
	/* Splintered, large pages use the entries for small ones. */
	claim = levels(info, TLB_2M);
	if (large && all->splinter.verdict == SPLINTER_NONE) {
		contradict(list, "the L1 dTLB for 2 MiB pages", claim.l1,
			   TLB_DECODED, &large->reach.l1);
		contradict(list, "the last-level dTLB for 2 MiB pages",
			   claim.last, TLB_DECODED, &large->reach.last);
	}
	return list;
}

static json_t *splintered_json(const struct latencies *all)
{
	const struct latency *pieces = latency_chase(all, REACH_4K_OF_2M);
	enum splinter_verdict verdict = all->splinter.verdict;
	const char *why = NULL;

	if (verdict == SPLINTER_UNKNOWN)
		why = pieces && pieces->why ?
			      pieces->why :
			      "no misses of pages to compare with";
	return json_pack("{s:s, s:o, s:s?}", "verdict", splinter_name[verdict],
			 "share", report_estimate(&all->splinter.share), "why",
			 why);
}

static json_t *curves_json(const struct latencies *all)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < all->n; i++) {
		const struct latency *curve = &all->curve[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:I, s:I, s:s?}", "memory",
				  reach_memory_name[curve->memory], "pattern",
				  pattern_name[curve->pattern], "pages_max",
				  (json_int_t)curve->pages, "points",
				  (json_int_t)curve->n, "why", curve->why));
	}
	return list;
}

/* What a result is of, in this order. */
static const char *const what_name[] = { "access", "control", "excess" };

#define WHATS (sizeof(what_name) / sizeof(*what_name))

static double pick(const struct reach_point *point, size_t what)
{
	const double ns[WHATS] = { point->spread_ns, point->dense_ns,
				   point->spread_ns - point->dense_ns };

	return ns[what];
}

/* The summary of one kind of number at w; x is room for all points. */
static json_t *result_json(const struct latency *curve, size_t what,
			   unsigned int w, double *x)
{
	struct summary summary;
	json_t *result;
	size_t n = 0, i;

	for (i = 0; i < curve->n; i++)
		if (curve->points[i].w == w)
			x[n++] = pick(&curve->points[i], what);
	if (stats_summarise(x, n, &summary) < 0)
		return NULL;
	result = json_pack("{s:s, s:s, s:s, s:I}", "memory",
			   reach_memory_name[curve->memory], "pattern",
			   pattern_name[curve->pattern], "what",
			   what_name[what], "pages", (json_int_t)w);
	json_object_update_new(result, report_summary(&summary, "ns"));
	return result;
}

/* The results of one curve, w ascending. 0 or -1 with ENOMEM. */
static int add_curve(json_t *results, const struct latency *curve)
{
	unsigned int *w = calloc(curve->n + 1, sizeof(*w));
	double *x = calloc(curve->n + 1, sizeof(*x));
	size_t n, i, what;
	int failed = !w || !x;

	for (i = 0; !failed && i < curve->n; i++)
		w[i] = curve->points[i].w;
	n = failed ? 0 : plan_sort_unique(w, curve->n);
	for (what = 0; what < WHATS; what++)
		for (i = 0; !failed && i < n; i++)
			failed = json_array_append_new(
				results, result_json(curve, what, w[i], x));
	free(x);
	free(w);
	return failed ? -1 : 0;
}

static json_t *results_json(const struct latencies *all)
{
	json_t *results = json_array();
	size_t i;

	for (i = 0; results && i < all->n; i++) {
		if (add_curve(results, &all->curve[i]) < 0) {
			json_decref(results);
			results = NULL;
		}
	}
	return results;
}

int latency_json(json_t *report, const struct latencies *all)
{
	int failed;

	failed = json_object_set_new(report, "tlb", tlb_json(all, REACH_4K));
	failed |=
		json_object_set_new(report, "tlb_2m", tlb_json(all, REACH_2M));
	failed |= json_object_set_new(report, "tlb_4k_of_2m",
				      tlb_json(all, REACH_4K_OF_2M));
	failed |= json_object_set_new(report, "cpuid", cpuid_json(&all->cpuid));
	failed |= json_object_set_new(report, "contradictions",
				      contradictions_json(all));
	failed |=
		json_object_set_new(report, "splintered", splintered_json(all));
	failed |= json_object_set_new(report, "curves", curves_json(all));
	failed |= json_object_set_new(report, "results", results_json(all));
	return failed ? -1 : 0;
}
