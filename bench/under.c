/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/environment.h"
#include "core/interrupt.h"
#include "core/membind.h"
#include "core/output.h"
#include "core/place.h"
#include "core/random.h"
#include "core/report.h"
#include "core/victims.h"
#include "meter.h"
#include "operations.h"
#include "under.h"
#include "under_text.h"
#include "why.h"

#define RATE 10000.0
#define RATE_MIN 10
#define RATE_MAX 1000000

/* options --------------------------------------------------------------- */

enum { KEY_UNDER = 0x300, KEY_RATE };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct under *under = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &under->work;
		return 0;
	case KEY_UNDER:
		under->bench = operations_find(arg);
		if (!under->bench)
			options_refuse("--under: expected " OPERATIONS_NAMES
				       ", got '%s'",
				       arg);
		return 0;
	case KEY_RATE:
		under->rate =
			options_decimal("--rate", arg, RATE_MIN, RATE_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0,
	  "Threads that lose their TLB entries to another:", 2 },
	{ "under", KEY_UNDER, "OPERATION", 0,
	  "what accesses of one thread (or -t) take while this one does "
	  "OPERATION (" OPERATIONS_NAMES ") to other pages, for 3 seconds (or "
	  "-l); of the options above, --huge and --pattern (once, default "
	  "random) hold",
	  2 },
	{ "rate", KEY_RATE, "NUMBER", 0,
	  "operations per second (default 10000), as far as they can be done",
	  2 },
	{ 0 },
};

static const struct argp_child children[] = {
	{ &options_load_argp, 0, NULL, 3 },
	{ 0 },
};

const struct argp under_argp = {
	.options = options,
	.parser = parse,
	.children = children,
};

void under_init(struct under *under)
{
	*under = (struct under){ .rate = NAN };
	if (options_work_init(&under->work) < 0)
		error(STATUS_FAILED, errno, "cannot start");
	under->work.threads[0] = 1;
}

void under_free(struct under *under)
{
	options_work_free(&under->work);
}

bool under_check(struct under *under)
{
	size_t i;

	if (!under->bench) {
		if (under->work.load_given || isfinite(under->rate))
			options_refuse("-t, -n, -p, -l, -w and --rate need "
				       "--under");
		return false;
	}
	for (i = 0; i < under->work.rows; i++)
		if (under->work.threads[i] == 0)
			options_refuse("-t: --under needs a thread, got 0");
	if (!isfinite(under->rate))
		under->rate = RATE;
	return true;
}

/* JSON ------------------------------------------------------------------ */

static json_t *options_json(const struct under *under,
			    const struct options_common *common)
{
	const struct options_work *work = &under->work;
	json_t *threads = json_array();
	size_t i;

	for (i = 0; i < work->rows; i++)
		json_array_append_new(
			threads, json_integer((json_int_t)work->threads[i]));
	return json_pack("{s:s, s:f, s:o, s:I, s:I, s:I, s:b, s:s, s:o, s:s?, "
			 "s:s?, s:I, s:b}",
			 "under", under->bench->name, "rate", under->rate,
			 "threads", threads, "pages", (json_int_t)work->pages,
			 "access", (json_int_t)work->access_pages, "loops",
			 (json_int_t)work->loops, "write", work->write,
			 "pattern", pattern_name[work->pattern], "huge",
			 options_huge_json(work->huge), "mem_bind",
			 work->mem_bind, "cpus", common->cpus, "seed",
			 (json_int_t)common->seed, "quick", common->quick);
}

/* The keys of a result: which row, who was measured, what, beside what. */
struct label {
	size_t row;
	const struct membind_node *memory; /* bound to; NULL: not bound */
	const char *side;		   /* caller, bystanders */
	const char *what;   /* call, access, slice, period, lost, share */
	const char *window; /* quiet, flushed */
	bool ran;	    /* each thread, just before and just after */
};

static void append(json_t *results, const struct victims *victims,
		   const struct label *label, const struct summary *summary,
		   const char *unit, double p999)
{
	json_t *result = json_pack("{s:I, s:I, s:b}", "row",
				   (json_int_t)label->row, "threads",
				   (json_int_t)victims->threads,
				   "oversubscribed", victims->oversubscribed);

	json_object_update_new(result, membind_json(label->memory));
	json_object_update_new(result,
			       json_pack("{s:s, s:s, s:s, s:s}", "side",
					 label->side, "what", label->what,
					 "window", label->window, "bystanders",
					 !victims->gated ? "any" :
					 label->ran	 ? "ran" :
							   "stopped"));
	json_object_update_new(result, report_summary(summary, unit));
	json_object_set_new(result, "p999", report_number(p999));
	json_array_append_new(results, result);
}

static void add_samples(json_t *results, const struct victims *victims,
			const struct label *label,
			const struct samples *samples, const char *unit)
{
	struct summary summary;

	if (!samples->n)
		return;
	if (samples_summarise(samples, 1, &summary) < 0)
		error(STATUS_FAILED, errno, "results");
	append(results, victims, label, &summary, unit,
	       samples->n >= 1000 ?
		       stats_quantile(samples->x, samples->n, 0.999) :
		       NAN);
}

/* Ticks of a slice in ns, less what reading the clock took. */
static double slice_ns(const struct clock *clock, double ticks)
{
	return ticks * clock->ns_per_tick - clock->overhead_ns;
}

static double slice_quantile(const struct clock *clock,
			     const struct histogram *slices, double q)
{
	return slice_ns(clock, histogram_quantile(slices, q));
}

/* The durations of slices; the interval is that of the blocks' medians. */
static void add_slices(json_t *results, const struct victims *victims,
		       const struct label *label, const struct clock *clock,
		       const struct victims_class *class)
{
	const struct histogram *slices = &class->slice;
	struct summary summary;
	size_t i;

	if (!slices->n)
		return;
	if (samples_summarise(&class->slice_median, 1, &summary) < 0)
		error(STATUS_FAILED, errno, "results");
	for (i = 0; i < summary.blocks; i++)
		summary.block[i] = slice_ns(clock, summary.block[i]);
	summary.ci95.lo = slice_ns(clock, summary.ci95.lo);
	summary.ci95.hi = slice_ns(clock, summary.ci95.hi);
	summary.n = slices->n;
	summary.median = slice_quantile(clock, slices, 0.5);
	summary.mad = NAN; /* a histogram does not tell */
	summary.p10 = slice_quantile(clock, slices, 0.1);
	summary.p90 = slice_quantile(clock, slices, 0.9);
	summary.p99 = slice_quantile(clock, slices, 0.99);
	summary.min = slice_ns(clock, (double)slices->min);
	summary.max = slice_ns(clock, (double)slices->max);
	append(results, victims, label, &summary, "ns",
	       slices->n >= 1000 ? slice_quantile(clock, slices, 0.999) : NAN);
}

static void add_class(json_t *results, const struct victims *victims,
		      struct label label, const struct clock *clock,
		      const struct victims_class *class)
{
	label.side = "bystanders";
	label.what = "access";
	add_samples(results, victims, &label, &class->access, "ns");
	label.what = "slice";
	add_slices(results, victims, &label, clock, class);
	label.side = "caller";
	label.what = "call";
	add_samples(results, victims, &label, &class->call, "ns");
}

static void add_row(json_t *results, struct label label,
		    const struct victims *victims, const struct clock *clock)
{
	static const char *const name[VICTIMS_WINDOWS] = {
		[VICTIMS_QUIET] = "quiet",
		[VICTIMS_FLUSHED] = "flushed",
	};
	int window, ran;

	label.side = "bystanders";
	label.what = "lost";
	label.window = "flushed";
	label.ran = true;
	add_samples(results, victims, &label, &victims->lost, "ns");
	label.what = "share";
	add_samples(results, victims, &label, &victims->share, "1");
	label.side = "caller";
	label.what = "period";
	add_samples(results, victims, &label, &victims->period, "ns");
	for (window = 0; window < VICTIMS_WINDOWS; window++) {
		label.window = name[window];
		for (ran = 1; ran >= 0; ran--) {
			label.ran = ran;
			add_class(results, victims, label, clock,
				  ran ? &victims->ran[window] :
					&victims->stopped[window]);
		}
	}
}

/* running --------------------------------------------------------------- */

struct session {
	const struct under *under;
	const struct options_common *common;
	const struct placement *placement;
	struct bench_run *run;
	json_t *results;
};

/* Measure all rows into the results. Returns victims_measure's last status. */
static int measure(void *context, const struct membind *memory, size_t node)
{
	const struct session *s = context;
	struct bench_run *run = s->run;
	const struct options_work *work = run->work;
	int status = 0;
	size_t i;

	run->memory = memory;
	run->node = node;
	for (i = 0; i < work->rows && status == 0; i++) {
		const struct victims_plan plan = {
			.bench = s->under->bench,
			.threads = work->threads[i],
			.rate = s->under->rate,
			.quick = s->common->quick,
			.seed = random_stream(s->common->seed, i),
			.stop = interrupt_flag(),
		};
		const struct label label = {
			.row = node * work->rows + i,
			.memory = memory ? &memory->node[node] : NULL,
		};
		struct victims victims;
		char *why = NULL;

		meter_show("%zu threads (row %zu of %zu) ", work->threads[i],
			   i + 1, work->rows);
		status = victims_measure(run, s->placement, &plan, &victims,
					 &why);
		if (status < 0)
			error(errno == EAGAIN ? STATUS_CANNOT_RUN :
						STATUS_FAILED,
			      0, "%s", why_text(why));
		add_row(s->results, label, &victims, &run->clock);
		victims_free(&victims);
	}
	meter_end();
	return status;
}

int under_run(const struct under *under, const struct options_common *common)
{
	struct bench_run run = { .work = &under->work };
	struct environment *environment;
	struct placement placement;
	struct session session = {
		.under = under,
		.common = common,
		.placement = &placement,
		.run = &run,
		.results = json_array(),
	};
	json_t *report;
	int status;

	environment = place_caller(common, &placement, &run.clock);
	interrupt_catch();

	status = place_memory(under->work.mem_bind, &placement, measure,
			      &session);

	clock_finish(&run.clock);
	environment_finish(environment, &run.clock);
	report = report_new("access", status == 1, options_json(under, common),
			    &run.clock, environment_json(environment));
	if (!report ||
	    json_object_set_new(report, "results", session.results) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
	status = report_write(report, common, under_text);

	json_decref(report);
	environment_close(environment);
	placement_close(&placement);
	interrupt_die();
	return status < 0 ? STATUS_FAILED : STATUS_OK;
}
