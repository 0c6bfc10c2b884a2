/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "demand.h"
#include "sampler.h"
#include "trace.h"
#include "why.h"
#include "workload.h"
#include "workload_json.h"

#define BUFFER_KIB 8192 /* for each CPU; read POLL_NS apart */
#define POLL_NS 20000000
#define END_POLLS 100 /* that a command has to end, once it is asked to */

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
	struct evictor *evictor;
	struct sampler *sampler; /* NULL: of all processes */
	pid_t child;		 /* 0: none */
	int status;		 /* of the child, when it has ended */
	bool ended;
	int says; /* from the child: errno, if it cannot become the command */
	bool unusable;
	struct watched out;
};

/* the program ------------------------------------------------------------- */

/* Become the command; errno goes to says, which exec closes, if that fails. */
__attribute__((noreturn)) static void become(char **command, int says)
{
	ssize_t said;
	int error;

	execvp(command[0], command);
	error = errno;
	said = write(says, &error, sizeof(error));
	_exit(said < 0 ? 126 : 127);
}

/*
 * Start the command, held back until a byte comes through *gate, so that all it
 * does is seen. 0, or -1 with *why.
 */
static int start(struct watch *watch, int *gate, char **why)
{
	int ends[2], says[2];
	char byte;

	if (pipe(ends) < 0 || pipe2(says, O_CLOEXEC) < 0)
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
		become(watch->options->command, says[1]);
	}
	close(ends[0]);
	close(says[1]);
	*gate = ends[1];
	watch->says = says[0];
	return 0;
}

/* Let the command go. 0, or -1 with *why if it cannot be run. */
static int let_go(struct watch *watch, int gate, char **why)
{
	int error;

	if (write(gate, "x", 1) != 1)
		return why_set(why, 0, "the program is gone");
	if (read(watch->says, &error, sizeof(error)) != sizeof(error))
		return 0;
	watch->unusable = true;
	return why_set(why, 0, "%s: expected a command that can be run: %s",
		       watch->options->command[0], strerror(error));
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

/* End the command: SIGKILL if it does not go by itself. */
static void end(struct watch *watch)
{
	const struct timespec poll = { .tv_nsec = POLL_NS };
	int i;

	if (!watch->child || watch->ended)
		return;
	kill(watch->child, SIGTERM);
	kill(watch->child, SIGCONT);
	for (i = 0; i < END_POLLS && !has_ended(watch); i++)
		nanosleep(&poll, NULL);
	if (watch->ended)
		return;
	kill(watch->child, SIGKILL);
	while (waitpid(watch->child, &watch->status, 0) < 0 && errno == EINTR)
		;
	watch->ended = true;
}

/* the events -------------------------------------------------------------- */

static int take(void *context, const struct trace_event *event)
{
	struct watch *watch = context;

	if (event->want == WANT_FLUSH) {
		struct flush flush = flush_of(event);

		demand_add(&watch->demand, &flush);
		if (watch->sampler && flush_is_local(&flush))
			sampler_flush(watch->sampler, flush.thread, flush.ns);
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

/* Look at what is reused, if that is due, and wait; POLL_NS at most. */
static void wait_a_while(struct watch *watch)
{
	struct timespec nap = { .tv_nsec = POLL_NS };
	uint64_t due, now;

	if (watch->sampler) {
		due = sampler_step(watch->sampler);
		now = clock_raw_ns();
		if (due < now + POLL_NS)
			nap.tv_nsec = due > now ? (long)(due - now) : 0;
	}
	nanosleep(&nap, NULL);
}

/*
 * Read events until the end, and in between what is reused: while that is being
 * looked at, events wait, as reading them may take longer than the look.
 */
static int follow(struct watch *watch, char **why)
{
	uint64_t last = 0;
	bool over;

	do {
		over = is_over(watch);
		if (over || !watch->sampler || !sampler_looks(watch->sampler) ||
		    clock_raw_ns() - last >= POLL_NS) {
			last = clock_raw_ns();
			if (trace_read(watch->trace, take, watch) < 0)
				return why_set(why, 0,
					       "cannot read the trace: %s",
					       strerror(errno));
		}
		if (!over)
			wait_a_while(watch);
	} while (!over);
	return 0;
}

static uint64_t read_clock(void *unused)
{
	(void)unused;
	return clock_raw_ns();
}

/* Begin to look at what one program reuses; of all, that has no meaning. */
static void open_sampler(struct watch *watch)
{
	struct sampler_config config = {
		.root = "",
		.now = read_clock,
		.process = watch->out.process,
		.seed = clock_raw_ns(),
	};

	if (watch->options->all)
		return;
	watch->evictor = config.evictor = evict_open();
	if (config.evictor)
		watch->sampler = sampler_open(&config);
	if (!watch->sampler)
		watch->out.reuse_error = errno;
}

static void set_readings(struct watch *watch)
{
	if (!watch->sampler)
		return;
	watch->out.reading =
		sampler_readings(watch->sampler, &watch->out.readings);
	watch->out.reuse_error = sampler_error(watch->sampler);
}

static int trace_it(struct watch *watch, int gate, char **why)
{
	int status;

	if (trace_start(watch->trace, why) < 0)
		return -1;
	open_sampler(watch);
	watch->out.begin_ns = clock_raw_ns();
	if (gate >= 0 && let_go(watch, gate, why) < 0)
		return -1;
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
	struct watch watch = { .options = options };
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
	watch.out.process = config.process;
	watch.trace = trace_open(&config, why);
	if (watch.trace)
		status = trace_it(&watch, gate, why);
	evict_close(watch.evictor);
	if (gate >= 0) {
		close(gate);
		close(watch.says);
	}
	trace_close(watch.trace);
	end(&watch);
	watch.out.status = watch.child ? watch.status : -1;
	set_readings(&watch);
	if (status == 0)
		status = workload_json(&watch.demand, &watch.out, findings,
				       report);
	sampler_close(watch.sampler);
	demand_free(&watch.demand);
	errno = watch.unusable ? ENOEXEC : 0;
	return status;
}
