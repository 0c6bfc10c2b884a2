/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What traced calls add up to.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "core/report.h"
#include "shootdown_blame.h"

/* The slowest calls: so many per cent, and at least so many. */
#define LATE_PERCENT 1
#define LATE_MIN 10
#define SLOWEST 5 /* are told one by one */

/* Calls with one cause, in one name. */
struct group {
	const struct blame *first;
	size_t calls, late;
	struct samples held; /* ns, of the late ones */
};

struct groups {
	struct group *group; /* [room] */
	size_t n;
};

static double duration(const struct shootdown_blame *blame, size_t call)
{
	return (double)(blame->call[call].to_ns - blame->call[call].from_ns);
}

/* The order of all calls, the slowest first; NULL on ENOMEM. */
static size_t *sort_calls(const struct shootdown_blame *blame)
{
	size_t *order = calloc(blame->calls + 1, sizeof(*order));
	double *ns = calloc(blame->calls + 1, sizeof(*ns));
	size_t i;

	if (!order || !ns) {
		free(order);
		free(ns);
		return NULL;
	}
	for (i = 0; i < blame->calls; i++)
		ns[i] = -duration(blame, i);
	gsl_sort_index(order, ns, 1, blame->calls);
	free(ns);
	return order;
}

static struct group *find_group(struct groups *groups,
				const struct blame *blame)
{
	size_t i;

	for (i = 0; i < groups->n; i++) {
		struct group *group = &groups->group[i];

		if (group->first->cause == blame->cause &&
		    !strcmp(group->first->name, blame->name))
			return group;
	}
	groups->group[groups->n].first = blame;
	return &groups->group[groups->n++];
}

static json_t *group_json(const struct group *group)
{
	const struct samples *held = &group->held;

	return json_pack("{s:s, s:s?, s:I, s:I, s:o, s:o}", "cause",
			 blame_cause_name[group->first->cause], "name",
			 *group->first->name ? group->first->name : NULL,
			 "calls", (json_int_t)group->calls, "slowest",
			 (json_int_t)group->late, "held_median_ns",
			 report_number(stats_quantile(held->x, held->n, 0.5)),
			 "held_max_ns",
			 report_number(stats_quantile(held->x, held->n, 1)));
}

/* Calls by cause, and how many of the late ones, which order begins with. */
static json_t *causes_json(const struct shootdown_blame *blame,
			   const size_t *order, size_t late)
{
	struct groups groups = {
		calloc(blame->calls + 1, sizeof(*groups.group)), 0
	};
	json_t *causes = json_array();
	size_t i;

	for (i = 0; groups.group && i < blame->calls; i++) {
		const struct blame *one = &blame->blame[order[i]];
		struct group *group = find_group(&groups, one);

		group->calls++;
		group->late += i < late;
		if (i < late && isfinite(one->held_ns))
			samples_add(&group->held, one->held_ns);
	}
	for (i = 0; i < groups.n; i++) {
		json_array_append_new(causes, group_json(&groups.group[i]));
		samples_free(&groups.group[i].held);
	}
	free(groups.group);
	return causes;
}

static json_t *slowest_json(const struct shootdown_blame *blame,
			    const size_t *order)
{
	json_t *slowest = json_array();
	size_t i;

	for (i = 0; i < SLOWEST && i < blame->calls; i++) {
		const struct blame *one = &blame->blame[order[i]];
		bool known = isfinite(one->wait_ns);

		json_array_append_new(
			slowest,
			json_pack("{s:f, s:o, s:o, s:s, s:s?, s:o}", "ns",
				  duration(blame, order[i]), "last_cpu",
				  known ? json_integer(one->cpu) : json_null(),
				  "wait_ns", report_number(one->wait_ns),
				  "cause", blame_cause_name[one->cause], "name",
				  *one->name ? one->name : NULL, "held_ns",
				  report_number(one->held_ns)));
	}
	return slowest;
}

/* How often each CPU was the last to answer, of all calls that asked. */
static json_t *last_json(const struct shootdown_blame *blame)
{
	json_t *last = json_array();
	size_t i;

	for (i = 0; i < blame->calls; i++) {
		const struct blame *one = &blame->blame[i];
		json_t *entry = NULL;
		json_int_t calls = 0;
		size_t j;

		if (!isfinite(one->wait_ns))
			continue;
		for (j = 0; j < json_array_size(last) && !calls; j++) {
			entry = json_array_get(last, j);
			if (json_integer_value(json_object_get(entry, "cpu")) ==
			    one->cpu)
				calls = json_integer_value(
					json_object_get(entry, "calls"));
		}
		if (!calls) {
			entry = json_pack("{s:I}", "cpu", (json_int_t)one->cpu);
			json_array_append_new(last, entry);
		}
		json_object_set_new(entry, "calls", json_integer(calls + 1));
	}
	return last;
}

json_t *shootdown_blame_json(const struct shootdown_blame *blame)
{
	size_t late = blame->calls * LATE_PERCENT / 100;
	size_t *order;
	json_t *json;

	if (blame->why || !blame->calls)
		return json_pack("{s:s}", "why",
				 blame->why ? blame->why : "interrupted");
	order = sort_calls(blame);
	if (!order)
		return NULL;
	if (late < LATE_MIN)
		late = blame->calls < LATE_MIN ? blame->calls : LATE_MIN;
	json = json_pack("{s:n, s:I, s:I, s:o, s:f, s:I, s:f, s:o, s:o, s:o}",
			 "why", "threads", (json_int_t)blame->threads, "calls",
			 (json_int_t)blame->calls, "lost_events",
			 report_number(blame->lost), "median_ns",
			 duration(blame, order[blame->calls / 2]),
			 "slowest_calls", (json_int_t)late, "slowest_from_ns",
			 duration(blame, order[late - 1]), "last",
			 last_json(blame), "causes",
			 causes_json(blame, order, late), "slowest",
			 slowest_json(blame, order));
	free(order);
	return json;
}

/* text ------------------------------------------------------------------- */

static void put_ns(FILE *to, double ns)
{
	if (isfinite(ns))
		fprintf(to, " %11.0f", ns);
	else
		fprintf(to, " %11s", "n/a");
}

/* "cause (name)" */
static int put_cause(FILE *to, const json_t *from)
{
	const char *name = json_string_value(json_object_get(from, "name"));

	return fprintf(to, "%s%s%s%s",
		       json_string_value(json_object_get(from, "cause")),
		       name ? " (" : "", name ? name : "", name ? ")" : "");
}

static void print_causes(FILE *to, const json_t *causes)
{
	const json_t *cause;
	size_t i;

	fputs("  what held the last CPU                        calls  slowest"
	      "  held median         max\n",
	      to);
	json_array_foreach(causes, i, cause) {
		int width;

		fputs("  ", to);
		width = put_cause(to, cause);
		fprintf(to, "%*s %9.0f %8.0f ", width < 40 ? 40 - width : 0, "",
			report_get(cause, "calls"),
			report_get(cause, "slowest"));
		put_ns(to, report_get(cause, "held_median_ns"));
		put_ns(to, report_get(cause, "held_max_ns"));
		fputc('\n', to);
	}
}

static void print_last(FILE *to, const json_t *last)
{
	const json_t *entry;
	size_t i;

	fputs("  last to answer:", to);
	json_array_foreach(last, i, entry)
		fprintf(to, "%s CPU %.0f in %.0f calls", i ? "," : "",
			report_get(entry, "cpu"), report_get(entry, "calls"));
	fputc('\n', to);
}

static void print_slowest(FILE *to, const json_t *slowest)
{
	const json_t *call;
	size_t i;

	fputs("  the slowest:\n", to);
	json_array_foreach(slowest, i, call) {
		fprintf(to, "  %11.0f ns", report_get(call, "ns"));
		if (json_is_integer(json_object_get(call, "last_cpu")))
			fprintf(to, ", CPU %.0f last after %.0f",
				report_get(call, "last_cpu"),
				report_get(call, "wait_ns"));
		fputs(": ", to);
		put_cause(to, call);
		if (isfinite(report_get(call, "held_ns")))
			fprintf(to, ", %.0f ns", report_get(call, "held_ns"));
		fputc('\n', to);
	}
}

void shootdown_blame_text(const json_t *blame, FILE *to)
{
	const json_t *why = json_object_get(blame, "why");

	if (json_is_string(why)) {
		fprintf(to, "\nWho answered last: unknown, %s\n",
			json_string_value(why));
		return;
	}
	fprintf(to,
		"\nWho answered last, of %.0f CPUs, in %.0f traced calls (not "
		"in the times above)\n",
		report_get(blame, "threads"), report_get(blame, "calls"));
	fprintf(to,
		"  median %.0f ns traced; the slowest %.0f calls took %.0f ns "
		"or more; %.0f events lost\n",
		report_get(blame, "median_ns"),
		report_get(blame, "slowest_calls"),
		report_get(blame, "slowest_from_ns"),
		report_get(blame, "lost_events"));
	print_last(to, json_object_get(blame, "last"));
	print_causes(to, json_object_get(blame, "causes"));
	print_slowest(to, json_object_get(blame, "slowest"));
}
