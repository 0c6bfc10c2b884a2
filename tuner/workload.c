/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "demand.h"
#include "reuse.h"
#include "trace.h"
#include "why.h"
#include "workload.h"
#include "workload_json.h"

#define BUFFER_KIB 8192 /* for each CPU; read POLL_NS apart */
#define POLL_NS 20000000
#define REUSE_AFTER 0.2 /* seconds from the start */

/* In the order of wants[]. */
enum { WANT_FLUSH, WANT_ENTER, WANT_LEAVE = WANT_ENTER + DEMAND_OTHER };

static const struct trace_want wants[] = {
	{ "tlb", "tlb_flush", { "reason", "pages" }, NULL }, /* as flush_want */
	{ "syscalls", "sys_enter_mprotect", { "len" }, NULL },
	{ "syscalls", "sys_enter_munmap", { "len" }, NULL },
	{ "syscalls", "sys_enter_madvise", { "len_in" }, NULL },
	{ "syscalls", "sys_exit_mprotect", { "ret" }, NULL },
	{ "syscalls", "sys_exit_munmap", { "ret" }, NULL },
	{ "syscalls", "sys_exit_madvise", { "ret" }, NULL },
};

struct watch {
	const struct workload_options *options;
	struct trace *trace;
	struct demand demand;
	pid_t child; /* 0: none */
	int status;  /* of the child, when it has ended */
	bool ended;
	struct watched out;
};

/* the program ------------------------------------------------------------- */

/*
 * Start the command, held back until a byte comes through *gate, so that all it
 * does is seen. 0, or -1 with *why.
 */
static int start(struct watch *watch, int *gate, char **why)
{
	int ends[2];
	char byte;

	if (pipe(ends) < 0)
		return why_set(why, 0, "cannot make a pipe: %s",
			       strerror(errno));
	watch->child = fork();
	if (watch->child < 0)
		return why_set(why, 0, "cannot fork: %s", strerror(errno));
	if (watch->child == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(127);
		close(ends[0]);
		execvp(watch->options->command[0], watch->options->command);
		_exit(127);
	}
	close(ends[0]);
	*gate = ends[1];
	return 0;
}

/* True once the program has ended, its status then known. */
static bool has_ended(struct watch *watch)
{
	if (watch->child && !watch->ended)
		watch->ended = waitpid(watch->child, &watch->status, WNOHANG) ==
			       watch->child;
	if (watch->options->process)
		watch->ended = kill(watch->options->process, 0) < 0 &&
			       errno == ESRCH;
	return watch->ended;
}

static void end(struct watch *watch)
{
	if (!watch->child || watch->ended)
		return;
	kill(watch->child, SIGTERM);
	waitpid(watch->child, &watch->status, 0);
	watch->ended = true;
}

/* the events -------------------------------------------------------------- */

static int take(void *context, const struct trace_event *event)
{
	struct watch *watch = context;

	if (event->want == WANT_FLUSH) {
		struct flush flush = flush_of(event);

		demand_add(&watch->demand, &flush);
		return 0;
	}
	if (event->want < WANT_LEAVE)
		return demand_enter(
			&watch->demand, event->thread,
			(enum demand_kind)(event->want - WANT_ENTER),
			(uint64_t)event->field[0]);
	demand_leave(&watch->demand, event->thread);
	return 0;
}

static double seconds_since(uint64_t start)
{
	return (double)(clock_raw_ns() - start) * 1e-9;
}

static bool is_over(struct watch *watch)
{
	const struct workload_options *options = watch->options;

	return *options->stop || has_ended(watch) ||
	       seconds_since(watch->out.begin_ns) >= options->seconds;
}

/* Read events until the end; in between, once, what is reused. */
static int follow(struct watch *watch, char **why)
{
	const struct timespec poll = { .tv_nsec = POLL_NS };
	pid_t pid = watch->child ? watch->child : watch->options->process;
	bool over;

	do {
		over = is_over(watch);
		if (trace_read(watch->trace, take, watch) < 0)
			return why_set(why, 0, "cannot read the trace: %s",
				       strerror(errno));
		if (pid && !over && isnan(watch->out.reused_pages) &&
		    seconds_since(watch->out.begin_ns) > REUSE_AFTER)
			watch->out.reused_pages = reuse_pages("", pid);
		if (!over)
			nanosleep(&poll, NULL);
	} while (!over);
	return 0;
}

static int trace_it(struct watch *watch, int gate, char **why)
{
	int status;

	if (trace_start(watch->trace, why) < 0)
		return -1;
	watch->out.begin_ns = clock_raw_ns();
	if (gate >= 0 && write(gate, "x", 1) != 1)
		return why_set(why, 0, "the program is gone");
	status = follow(watch, why);
	watch->out.end_ns = clock_raw_ns();
	if (status < 0 || trace_stop(watch->trace, why) < 0)
		return -1;
	if (trace_read(watch->trace, take, watch) < 0)
		return why_set(why, 0, "cannot read the trace: %s",
			       strerror(errno));
	watch->out.lost = trace_lost(watch->trace);
	return 0;
}

/* all of it ------------------------------------------------------------- */

static enum trace_whose whose(const struct workload_options *options)
{
	return options->all ? TRACE_ANYONE : TRACE_PROCESS;
}

int workload_watch(const struct workload_options *options,
		   const struct findings *findings, json_t *report, char **why)
{
	struct watch watch = {
		.options = options,
		.out = { .reused_pages = NAN },
	};
	struct trace_config config = {
		.want = wants,
		.wants = sizeof(wants) / sizeof(*wants),
		.whose = whose(options),
		.process = options->process,
		.buffer_kib = BUFFER_KIB,
	};
	int gate = -1, status = -1;

	*why = NULL;
	if (options->command && start(&watch, &gate, why) < 0)
		return -1;
	if (options->command)
		config.process = watch.child;
	watch.trace = trace_open(&config, why);
	if (watch.trace)
		status = trace_it(&watch, gate, why);
	if (gate >= 0)
		close(gate);
	trace_close(watch.trace);
	end(&watch);
	watch.out.process = config.process;
	watch.out.status = watch.child ? watch.status : -1;
	if (status == 0)
		status = workload_json(&watch.demand, &watch.out, findings,
				       report);
	demand_free(&watch.demand);
	return status;
}
