/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "demand.h"

#define PAGE_BYTES 4096

const char *const demand_kind_name[] = {
	[DEMAND_MPROTECT] = "mprotect",
	[DEMAND_MUNMAP] = "munmap",
	[DEMAND_MADVISE] = "madvise",
	[DEMAND_OTHER] = "other",
};

/* The system call that a thread is in. */
struct demand_thread {
	pid_t thread;
	bool inside;
	enum demand_kind kind;
	uint64_t pages;
};

/* Where the thread is, or belongs, among the others. */
static size_t find(const struct demand *demand, pid_t thread)
{
	size_t low = 0, high = demand->n_threads;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (demand->thread[middle].thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct demand_thread *known(const struct demand *demand, pid_t thread)
{
	size_t at = find(demand, thread);

	return at < demand->n_threads && demand->thread[at].thread == thread ?
		       &demand->thread[at] :
		       NULL;
}

int demand_enter(struct demand *demand, pid_t thread, enum demand_kind kind,
		 uint64_t bytes)
{
	struct demand_thread *at = known(demand, thread);
	size_t index = find(demand, thread);

	if (!at) {
		at = reallocarray(demand->thread, demand->n_threads + 1,
				  sizeof(*at));
		if (!at)
			return -1;
		demand->thread = at;
		memmove(at + index + 1, at + index,
			(demand->n_threads++ - index) * sizeof(*at));
		at += index;
	}
	*at = (struct demand_thread){
		.thread = thread,
		.inside = true,
		.kind = kind,
		.pages = bytes / PAGE_BYTES + (bytes % PAGE_BYTES != 0),
	};
	return 0;
}

void demand_leave(struct demand *demand, pid_t thread)
{
	struct demand_thread *at = known(demand, thread);

	if (at)
		at->inside = false;
}

void demand_add(struct demand *demand, const struct flush *flush)
{
	const struct demand_thread *in = known(demand, flush->thread);
	enum demand_kind kind = in && in->inside ? in->kind : DEMAND_OTHER;
	uint64_t n = flush->pages;

	if (flush->reason < 0 || flush->reason >= FLUSH_REASONS) {
		demand->strange++;
		return;
	}
	demand->reason[flush->reason]++;
	if (!flush_is_local(flush))
		return;
	if (flush->full) {
		demand->full[kind]++;
		n = kind == DEMAND_OTHER ? 0 : in->pages;
	}
	if (n > COST_CLAMP)
		demand->larger[kind]++;
	else
		demand->count[kind][n]++;
}

void demand_free(struct demand *demand)
{
	free(demand->thread);
	demand->thread = NULL;
	demand->n_threads = 0;
}

/* counting -------------------------------------------------------------- */

static unsigned long long total_of(const struct demand *demand, int kind)
{
	unsigned long long total = demand->larger[kind];
	unsigned int n;

	for (n = 0; n <= COST_CLAMP; n++)
		total += demand->count[kind][n];
	return total;
}

unsigned long long demand_total(const struct demand *demand)
{
	unsigned long long total = 0;
	int kind;

	for (kind = 0; kind < DEMAND_KINDS; kind++)
		total += total_of(demand, kind);
	return total;
}

unsigned long long demand_unknown(const struct demand *demand)
{
	unsigned long long unknown = 0;
	int kind;

	for (kind = 0; kind < DEMAND_KINDS; kind++)
		unknown += demand->count[kind][0];
	return unknown;
}

/* A flush of n pages and the reuse after it, the mean of the patterns. */
static double one_cost(const struct cost_model *model, unsigned int n,
		       unsigned int w, unsigned int ceiling)
{
	double ns = 0;
	int pattern;

	if (n <= ceiling)
		return cost_page(model, n);
	for (pattern = 0; pattern < PATTERNS; pattern++)
		ns += cost_full(model, n, w, (enum pattern)pattern) / PATTERNS;
	return ns;
}

double demand_cost(const struct demand *demand, const struct cost_model *model,
		   unsigned int w, unsigned int ceiling)
{
	double ns = 0;
	unsigned int n;
	int kind;

	for (n = 1; n <= COST_CLAMP; n++) {
		unsigned long long count = 0;

		for (kind = 0; kind < DEMAND_KINDS; kind++)
			count += demand->count[kind][n];
		if (count)
			ns += (double)count * one_cost(model, n, w, ceiling);
	}
	return ns;
}

static json_t *kind_json(const struct demand *demand, int kind)
{
	json_t *sizes = json_array();
	unsigned int n;

	for (n = 1; n <= COST_CLAMP; n++)
		if (demand->count[kind][n])
			json_array_append_new(
				sizes,
				json_pack("[I, I]", (json_int_t)n,
					  (json_int_t)demand->count[kind][n]));
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "total",
			 (json_int_t)total_of(demand, kind), "full",
			 (json_int_t)demand->full[kind], "unknown",
			 (json_int_t)demand->count[kind][0], "larger",
			 (json_int_t)demand->larger[kind], "pages", sizes);
}

json_t *demand_json(const struct demand *demand)
{
	json_t *json = json_object();
	int kind;

	for (kind = 0; kind < DEMAND_KINDS; kind++)
		json_object_set_new(json, demand_kind_name[kind],
				    kind_json(demand, kind));
	return json;
}
