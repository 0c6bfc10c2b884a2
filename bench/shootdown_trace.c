/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/gate.h"
#include "core/place.h"
#include "core/progress.h"
#include "core/team.h"
#include "core/trace.h"
#include "shootdown_blame.h"

/* Windows are short, so that the buffers hold all events of one. */
#define WINDOWS 20
#define WINDOWS_QUICK 4
#define CALLS 200	/* in a window, at most */
#define WINDOW_NS 300e6 /* where threads seldom run */
#define BUFFER_KIB 4096

/* What each event is to blame_explain; a name is read, or given here. */
static const struct {
	struct trace_want want;
	enum blame_kind kind;
	const char *name;
} sources[] = {
	{ { "csd", "csd_queue_cpu", { "cpu", "func" }, NULL },
	  BLAME_QUEUE,
	  NULL },
	{ { "csd", "csd_function_entry", { "func" }, NULL },
	  BLAME_CALL_ENTRY,
	  NULL },
	{ { "csd", "csd_function_exit", { "func" }, NULL },
	  BLAME_CALL_EXIT,
	  NULL },
#define VECTOR(vector)                                                         \
	{ { "irq_vectors", #vector "_entry", { "vector" }, NULL },             \
	  BLAME_IRQ_ENTRY,                                                     \
	  #vector },                                                           \
	{                                                                      \
		{ "irq_vectors", #vector "_exit", { "vector" }, NULL },        \
			BLAME_IRQ_EXIT, #vector                                \
	}
	VECTOR(call_function),
	VECTOR(call_function_single),
	VECTOR(irq_work),
	VECTOR(local_timer),
	VECTOR(reschedule),
	{ { "irq", "irq_handler_entry", { "irq", "name" }, NULL },
	  BLAME_IRQ_ENTRY,
	  NULL },
	{ { "irq", "irq_handler_exit", { "irq" }, NULL },
	  BLAME_IRQ_EXIT,
	  NULL },
	{ { "sched", "sched_switch", { "next_pid", "next_comm" }, NULL },
	  BLAME_SWITCH,
	  NULL },
};

#define SOURCES (sizeof(sources) / sizeof(*sources))

struct events {
	struct blame_event *event;
	size_t n, room;
};

struct tracing {
	const struct shootdown_plan *plan;
	struct shootdown_blame *out;
	struct trace *trace;
	struct team *team;
	struct events events; /* of one window */
	pid_t *ours;
	size_t n_ours;
	FILE *log;
};

/* events ----------------------------------------------------------------- */

/* A name as one word of a line. */
static void copy_name(char *to, const char *from)
{
	size_t i;

	snprintf(to, BLAME_NAME, "%s", from);
	for (i = 0; to[i]; i++)
		if (!isgraph((unsigned char)to[i]))
			to[i] = '_';
}

static int keep(void *context, const struct trace_event *from)
{
	struct tracing *t = context;
	struct events *events = &t->events;
	struct blame_event *to;

	if (events->n == events->room) {
		size_t room = 2 * events->room + 4096;

		to = reallocarray(events->event, room, sizeof(*to));
		if (!to)
			return -1;
		events->event = to;
		events->room = room;
	}
	to = &events->event[events->n++];
	*to = (struct blame_event){
		.ns = from->ns,
		.cpu = from->cpu,
		.thread = from->thread,
		.kind = sources[from->want].kind,
		.value = from->field[0],
	};
	if (to->kind == BLAME_QUEUE)
		to->function = (uint64_t)from->field[1];
	if (to->kind == BLAME_CALL_ENTRY || to->kind == BLAME_CALL_EXIT)
		to->function = (uint64_t)from->field[0];
	copy_name(to->name, sources[from->want].name ?
				    sources[from->want].name :
				    from->text);
	return 0;
}

/* The threads that we have, in t->ours. */
static int list_threads(struct tracing *t)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;

	if (!tasks)
		return -1;
	while ((task = readdir(tasks))) {
		pid_t *more;

		if (!isdigit((unsigned char)task->d_name[0]))
			continue;
		more = reallocarray(t->ours, t->n_ours + 1, sizeof(*more));
		if (!more)
			break;
		t->ours = more;
		t->ours[t->n_ours++] = (pid_t)strtol(task->d_name, NULL, 10);
	}
	closedir(tasks);
	return task ? -1 : 0;
}

/* log -------------------------------------------------------------------- */

/* A function's address is of no use elsewhere: only whether it is the same. */
static void log_events(const struct tracing *t)
{
	size_t i;

	for (i = 0; t->log && i < t->events.n; i++) {
		const struct blame_event *event = &t->events.event[i];

		fprintf(t->log,
			"%" PRIu64 " %u %d %s %" PRId64 " %" PRIx64 " %s\n",
			event->ns, event->cpu, (int)event->thread,
			blame_kind_name[event->kind],
			event->kind == BLAME_QUEUE ||
					event->kind == BLAME_SWITCH ?
				event->value :
				0,
			event->function & 0xffffff,
			*event->name ? event->name : "-");
	}
}

static void log_threads(const struct tracing *t)
{
	size_t i;

	for (i = 0; t->log && i < t->n_ours; i++)
		fprintf(t->log, "ours %d\n", (int)t->ours[i]);
}

static void log_calls(const struct tracing *t, size_t from)
{
	size_t i;

	for (i = from; t->log && i < t->out->calls; i++)
		fprintf(t->log, "call %" PRIu64 " %" PRIu64 " %u\n",
			t->out->call[i].from_ns, t->out->call[i].to_ns,
			t->out->call[i].cpu);
}

/* windows ---------------------------------------------------------------- */

/* Calls beside threads that run; where they don't, nobody is asked. */
static int call_traced(struct tracing *t)
{
	const struct clock *clock = t->plan->clock;
	struct shootdown_blame *out = t->out;
	uint64_t start = clock_now(clock);
	size_t most = out->calls + CALLS;

	while (out->calls < most && !*t->plan->stop &&
	       clock_ns(clock, start, clock_now(clock)) < WINDOW_NS) {
		struct blame_call *call = &out->call[out->calls];

		if (!progress_of(t->team, out->threads, clock, GATE_LIMIT_NS))
			continue;
		call->cpu = t->plan->placement->cpu[0];
		call->from_ns = clock_raw_ns();
		if (shootdown_call() < 0)
			return -1;
		call->to_ns = clock_raw_ns();
		out->calls++;
	}
	return 0;
}

static void explain(struct tracing *t, size_t from)
{
	struct shootdown_blame *out = t->out;
	struct samples waits = { 0 };
	double usual = NAN;
	size_t pass, i;

	for (pass = 0; pass < 2; pass++) {
		for (i = from; i < out->calls; i++) {
			blame_explain(t->events.event, t->events.n,
				      &out->call[i], t->ours, t->n_ours, usual,
				      &out->blame[i]);
			if (isfinite(out->blame[i].wait_ns) && pass == 0)
				samples_add(&waits, out->blame[i].wait_ns);
		}
		usual = stats_median(waits.x, waits.n);
	}
	samples_free(&waits);
}

/* 0; -1 with errno, or with out->why. */
static int trace_window(struct tracing *t)
{
	size_t from = t->out->calls;
	double lost;
	int status;

	t->events.n = 0;
	if (team_run(t->team, t->plan->stop) < 0)
		return errno == EINTR ? 0 : -1;
	status = trace_start(t->trace, &t->out->why);
	if (status == 0)
		status = call_traced(t);
	if (status == 0)
		status = trace_stop(t->trace, &t->out->why);
	team_park(t->team);
	if (status == 0)
		status = place_check(t->plan->placement, t->team, &t->out->why);
	if (status < 0 || trace_read(t->trace, keep, t) != 0)
		return -1;
	lost = trace_lost(t->trace);
	t->out->lost += lost;
	log_calls(t, from);
	log_events(t);
	explain(t, from);
	return 0;
}

static int trace_windows(struct tracing *t)
{
	size_t windows = t->plan->quick ? WINDOWS_QUICK : WINDOWS, i;

	t->out->call = calloc(windows * CALLS, sizeof(*t->out->call));
	t->out->blame = calloc(windows * CALLS, sizeof(*t->out->blame));
	if (!t->out->call || !t->out->blame)
		return -1;
	t->out->threads = shootdown_most(t->plan);
	t->team = team_open(t->out->threads, t->plan->placement, 1,
			    shootdown_spin, NULL);
	if (!t->team || list_threads(t) < 0)
		return -1;
	log_threads(t);
	for (i = 0; i < windows && !*t->plan->stop; i++)
		if (trace_window(t) < 0)
			return -1;
	return 0;
}

int shootdown_trace(const struct shootdown_plan *plan,
		    struct shootdown_blame *out, FILE *log)
{
	struct trace_want want[SOURCES];
	struct trace_config config = {
		.want = want,
		.wants = SOURCES,
		.whose = TRACE_ANYONE,
		.buffer_kib = BUFFER_KIB,
	};
	struct tracing t = { .plan = plan, .out = out, .log = log };
	int status = 0, error;
	size_t i;

	*out = (struct shootdown_blame){ 0 };
	for (i = 0; i < SOURCES; i++)
		want[i] = sources[i].want;
	t.trace = trace_open(&config, &out->why);
	if (t.trace)
		status = trace_windows(&t);
	else if (!out->why)
		status = -1;
	error = errno;
	team_close(t.team);
	trace_close(t.trace);
	free(t.events.event);
	free(t.ours);
	errno = error;
	return out->why ? 0 : status;
}

void shootdown_blame_free(struct shootdown_blame *blame)
{
	free(blame->why);
	free(blame->call);
	free(blame->blame);
	*blame = (struct shootdown_blame){ 0 };
}
