/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace: who is traced, what comes back, what is lost, and that an instance
 * goes whatever becomes of its process. A thread that names itself is an event
 * that occurs when the test wants it (task:task_rename).
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/trace.h"
#include "core/trace_text.h"
#include "tap.h"
#include "tree.h"

/* text ------------------------------------------------------------------ */

static void test_names(void)
{
	char *root = tree_open();
	char *name = trace_text_name("tlb-mprotect", 4711);

	is_string(name, "tlbtune-tlb-mprotect-4711", "the name of an instance");
	ok(!trace_text_abandoned(root, name),
	   "without /proc nobody knows whose it is");
	tree_write(root, "/proc/self/comm", "trace.t\n");
	ok(trace_text_abandoned(root, name), "its process is gone");
	tree_write(root, "/proc/4711/comm", "tlb-mprotect\n");
	ok(!trace_text_abandoned(root, name), "its process is there");
	tree_write(root, "/proc/4711/comm", "tlb-mprot\n");
	ok(trace_text_abandoned(root, name), "its number is another's now");
	tree_write(root, "/proc/12/comm", "a-program-of-lo\n");
	ok(!trace_text_abandoned(root, "tlbtune-a-program-of-long-name-12"),
	   "a name that the kernel cuts");
	ok(!trace_text_abandoned(root, "tlbtune-mprotect"), "no number");
	ok(!trace_text_abandoned(root, "tlbtune-mprotect-"), "no number here");
	ok(!trace_text_abandoned(root, "tlbtune-4"), "no program");
	ok(!trace_text_abandoned(root, "tlbtune-x-99999999999"),
	   "no process has that number");
	ok(!trace_text_abandoned(root, "perf-mprotect-4"), "not ours");
	ok(!trace_text_abandoned(root, ".."), "a directory");
	free(name);
	tree_close(root);
}

/* True if filter lets the thread pass; it is as trace_text_filter writes it. */
static bool passes(const char *filter, pid_t thread)
{
	int first, last, used;

	while (*filter) {
		if (sscanf(filter, "(common_pid>=%d&&common_pid<=%d)%n", &first,
			   &last, &used) != 2)
			return false;
		if (thread >= first && thread <= last)
			return true;
		filter += used;
		if (!strncmp(filter, "||", 2))
			filter += 2;
	}
	return false;
}

static void test_filter(void)
{
	static const pid_t few[] = { 7, 8, 9, 20 };
	pid_t many[300];
	char *filter = trace_text_filter(few, 4, NULL, 4096);
	size_t i, missing = 0;

	is_string(filter,
		  "(common_pid>=7&&common_pid<=9)||"
		  "(common_pid>=20&&common_pid<=20)",
		  "successive threads are a range");
	free(filter);
	filter = trace_text_filter(few, 1, "pages > 3", 4096);
	is_string(filter, "(pages > 3)&&((common_pid>=7&&common_pid<=7))",
		  "beside another filter");
	free(filter);

	for (i = 0; i < 300; i++)
		many[i] = (pid_t)(1000 + 10 * i + (i > 150 ? 100000 : 0));
	filter = trace_text_filter(many, 300, NULL, 1000);
	ok(strlen(filter) < 1000, "no longer than there is room");
	for (i = 0; i < 300; i++)
		missing += !passes(filter, many[i]);
	is_int(missing, 0, "... and still all of the threads");
	ok(!passes(filter, 50000), "... but nothing in the widest gap");
	ok(!passes(filter, 999) && !passes(filter, many[299] + 1),
	   "... nor outside");
	free(filter);
	filter = trace_text_filter(many, 300, NULL, 10);
	ok(passes(filter, many[0]) && passes(filter, many[299]),
	   "no room at all: one range");
	free(filter);
}

static void test_stats(void)
{
	is_double(trace_text_lost("entries: 142\noverrun: 3\n"
				  "commit overrun: 9\nbytes: 3976\n"
				  "oldest event ts: 12188.119609\n"
				  "now ts: 12188.716205\n"
				  "dropped events: 4\nread events: 0"),
		  7, 0, "events lost");
	is_double(trace_text_lost("entries: 142\n"), NAN, 0,
		  "it does not say: unknown");
}

/* tracing --------------------------------------------------------------- */

static const struct trace_want rename_want = {
	.system = "task",
	.name = "task_rename",
	.field = { "pid", "newcomm", "oom_score_adj" },
};

static struct trace_config config_for(enum trace_whose whose)
{
	return (struct trace_config){
		.want = &rename_want,
		.wants = 1,
		.whose = whose,
	};
}

/* What was read. */
struct seen {
	size_t n;
	size_t disordered; /* events older than the one before */
	struct trace_event last;
	char names[256]; /* joined */
};

static int see(void *context, const struct trace_event *event)
{
	struct seen *seen = context;
	size_t length = strlen(seen->names);

	seen->n++;
	if (event->ns < seen->last.ns)
		seen->disordered++;
	seen->last = *event;
	snprintf(seen->names + length, sizeof(seen->names) - length, "%s ",
		 event->text);
	return 0;
}

static int stop_at_second(void *context, const struct trace_event *event)
{
	struct seen *seen = context;

	see(seen, event);
	return seen->n == 2 ? 5 : 0;
}

static void rename_to(const char *name)
{
	prctl(PR_SET_NAME, name);
}

/* Run in a child, which exits with its status. */
static void in_child(void (*run)(void *), void *argument)
{
	pid_t child = fork();

	if (child == 0) {
		run(argument);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void child_renames(void *unused)
{
	(void)unused;
	rename_to("child");
}

static void grandchild_renames(void *unused)
{
	(void)unused;
	rename_to("grandchild");
}

/* True if the tracing instance of the process is there. */
static bool has_instance(pid_t process)
{
	char *name = trace_text_name(program_invocation_short_name, process);
	char path[256];

	snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/%s", name);
	free(name);
	return access(path, F_OK) == 0;
}

/* Write a small number that events show; returns what it was. */
static int set_score(int score)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "r+");
	int old = 0;

	if (!file || fscanf(file, "%d", &old) != 1)
		abort();
	rewind(file);
	fprintf(file, "%d", score);
	fclose(file); /* refused: it stays what it was */
	return old;
}

static void test_ours(void)
{
	struct trace_config config = config_for(TRACE_OURS);
	struct seen seen = { 0 };
	uint64_t before, after;
	struct trace *trace;
	char *why;

	trace = trace_open(&config, &why);
	ok(trace, "opened");
	ok(has_instance(getpid()), "the instance is there");
	set_score(-7);
	rename_to("early");
	ok(trace_start(trace, &why) == 0, "started");
	before = clock_raw_ns();
	rename_to("one");
	in_child(child_renames, NULL);
	rename_to("two");
	after = clock_raw_ns();
	ok(trace_stop(trace, &why) == 0, "stopped");
	rename_to("late");
	is_int(trace_read(trace, see, &seen), 0, "read");
	is_string(seen.names, "one two ",
		  "what this process did between start and stop");
	is_int(seen.last.field[0], getpid(), "a number of the event");
	is_int(seen.last.field[2], set_score(0), "... that is negative");
	is_int(seen.last.thread, getpid(), "its thread");
	is_int(seen.last.want, 0, "which event it is");
	ok(seen.last.ns > before && seen.last.ns < after,
	   "its time is clock_raw_ns's");
	is_int(trace_lost(trace), 0, "nothing is lost");

	seen = (struct seen){ 0 };
	is_int(trace_read(trace, see, &seen), 0, "read again");
	is_int(seen.n, 0, "what was read is gone");

	trace_start(trace, &why);
	rename_to("1");
	rename_to("2");
	rename_to("3");
	seen = (struct seen){ 0 };
	is_int(trace_read(trace, stop_at_second, &seen), 5,
	       "the reader ends the reading, while it is recorded");
	is_string(seen.names, "1 2 ", "... where it wants");
	trace_stop(trace, &why);
	trace_close(trace);
	ok(!has_instance(getpid()), "the instance is gone");
}

/* A thread that is there when the recording starts, and renames itself then. */
struct waiter {
	int pipe[2];
};

static void *wait_and_rename(void *context)
{
	struct waiter *waiter = context;
	char byte;

	if (read(waiter->pipe[0], &byte, 1) == 1)
		rename_to("thread");
	return NULL;
}

static void test_threads(void)
{
	struct trace_config config = config_for(TRACE_OURS);
	struct trace *trace;
	struct waiter waiter;
	struct seen seen = { 0 };
	pthread_t thread;
	char *why;

	trace = trace_open(&config, &why);
	if (pipe(waiter.pipe) < 0)
		abort();
	pthread_create(&thread, NULL, wait_and_rename, &waiter);
	trace_start(trace, &why);
	if (write(waiter.pipe[1], "x", 1) != 1)
		abort();
	pthread_join(thread, NULL);
	trace_stop(trace, &why);
	trace_read(trace, see, &seen);
	is_string(seen.names, "thread ", "all threads of the process");
	ok(seen.last.thread != getpid(), "... each under its own number");
	close(waiter.pipe[0]);
	close(waiter.pipe[1]);
	trace_close(trace);
}

static void test_lost(void)
{
	struct trace_config config = config_for(TRACE_OURS);
	struct trace *trace;
	struct seen seen = { 0 };
	const int made = 20000;
	char *why;
	int i;

	config.buffer_kib = 16;
	trace = trace_open(&config, &why);
	trace_start(trace, &why);
	for (i = 0; i < made; i++)
		rename_to("many");
	trace_stop(trace, &why);
	is_int(trace_read(trace, see, &seen), 0, "a full buffer is read");
	ok(seen.n > 0 && seen.n < (size_t)made, "it holds %zu events", seen.n);
	is_int(seen.disordered, 0, "oldest first");
	is_double(trace_lost(trace) + (double)seen.n, made, 0,
		  "what is lost is counted");
	trace_start(trace, &why);
	is_double(trace_lost(trace), 0, 0, "... since the last start");
	trace_close(trace);
}

static void test_foreign(void)
{
	struct trace_config config = config_for(TRACE_PROCESS);
	struct seen seen = { 0 };
	struct trace *trace;
	int go[2];
	pid_t child;
	char *why, byte;

	if (pipe(go) < 0)
		abort();
	child = fork();
	if (child == 0) {
		if (read(go[0], &byte, 1) == 1) {
			rename_to("child");
			in_child(grandchild_renames, NULL);
		}
		_exit(0);
	}
	config.process = child;
	trace = trace_open(&config, &why);
	ok(trace_start(trace, &why) == 0, "another process is traced");
	rename_to("ours");
	if (write(go[1], "x", 1) != 1)
		abort();
	waitpid(child, NULL, 0);
	ok(trace_stop(trace, &why) == 0, "... though it has ended");
	trace_read(trace, see, &seen);
	is_string(seen.names, "child grandchild ",
		  "it and what it started, and not we");
	is_int(trace_start(trace, &why), -1, "a process that is gone");
	ok(why && strstr(why, "process"), "... %s", why);
	free(why);
	trace_close(trace);
	close(go[0]);
	close(go[1]);
}

/* how it ends ----------------------------------------------------------- */

static void open_and_exit(void *unused)
{
	static struct trace *volatile kept; /* not a leak */
	struct trace_config config = config_for(TRACE_OURS);
	char *why;

	(void)unused;
	kept = trace_open(&config, &why);
	if (!kept || !has_instance(getpid()))
		_exit(1);
	exit(3);
}

static void open_and_die(void *unused)
{
	struct trace_config config = config_for(TRACE_OURS);
	char *why;

	(void)unused;
	if (trace_open(&config, &why))
		kill(getpid(), SIGKILL);
}

static void just_exit(void *unused)
{
	(void)unused;
	exit(0);
}

/* What fd has, a malloc'ed string. */
static char *read_text(int fd)
{
	char *text = calloc(1, 4096);
	ssize_t got;

	if (!text)
		abort();
	got = read(fd, text, 4095);
	text[got > 0 ? got : 0] = '\0';
	return text;
}

static void test_abandoned(void)
{
	struct trace_config config = config_for(TRACE_OURS);
	int fd[2], err = dup(STDERR_FILENO);
	struct trace *trace;
	char *why, *text, *name;
	pid_t child = fork();

	if (child == 0)
		open_and_die(NULL);
	waitpid(child, NULL, 0);
	ok(has_instance(child), "a process that is killed leaves its instance");
	if (pipe(fd) < 0)
		abort();
	dup2(fd[1], STDERR_FILENO);
	trace = trace_open(&config, &why);
	dup2(err, STDERR_FILENO);
	close(fd[1]);
	text = read_text(fd[0]);
	name = trace_text_name(program_invocation_short_name, child);
	ok(!has_instance(child), "the next one removes it");
	ok(strstr(text, name) && strchr(text, '\n') == strrchr(text, '\n'),
	   "... and says so: %s", text);
	free(text);
	free(name);
	close(fd[0]);
	close(err);
	trace_close(trace);
}

static void test_ends(void)
{
	struct trace_config config = config_for(TRACE_OURS);
	struct trace *trace;
	int status;
	char *why;
	pid_t child = fork();

	if (child == 0)
		open_and_exit(NULL);
	waitpid(child, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 3,
	   "a process exits without trace_close");
	ok(!has_instance(child), "... and its instance goes");

	trace = trace_open(&config, &why);
	in_child(just_exit, NULL);
	ok(has_instance(getpid()), "the exit of a child leaves ours alone");
	trace_close(trace);
	test_abandoned();
}

/* what cannot be -------------------------------------------------------- */

static void refused(const struct trace_config *config, const char *what)
{
	char *why;
	struct trace *trace = trace_open(config, &why);

	ok(!trace && why && !strchr(why, '\n') && !strncmp(why, "cannot ", 7),
	   "%s: %s", what, why ? why : "no reason");
	free(why);
	trace_close(trace);
}

/* Exits with 0 if a process in a PID namespace of its own is refused. */
static void in_namespace(const struct trace_config *config)
{
	int status;
	char *why;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
		_exit(0); /* not allowed here */
	if (fork() == 0) {
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
		mount("proc", "/proc", "proc", 0, NULL);
		_exit(!trace_open(config, &why) && why &&
				      strstr(why, "numbers") ?
			      0 :
			      1);
	}
	wait(&status);
	_exit(WEXITSTATUS(status));
}

static void expect_success(const char *what)
{
	int status;

	wait(&status);
	is_int(status, 0, "%s", what);
}

static void test_refused(void)
{
	static const struct trace_want event = {
		.system = "tlb",
		.name = "no_such_event",
	};
	static const struct trace_want field = {
		.system = "task",
		.name = "task_rename",
		.field = { "no_such_field" },
	};
	struct trace_config config = config_for(TRACE_OURS);

	/* That of the child, whose process is not the kernel's first. */
	if (geteuid() == 0 && fork() == 0)
		in_namespace(&config);
	else if (geteuid() == 0)
		expect_success("a PID namespace is told why not");
	config.directory = "/nowhere";
	refused(&config, "no tracefs");
	config.directory = NULL;
	config.want = &event;
	refused(&config, "no event");
	config.want = &field;
	refused(&config, "no field");
	config.want = &rename_want;
	if (geteuid() == 0 && fork() == 0) {
		char *why;

		_exit(setuid(65534) == 0 && !trace_open(&config, &why) && why &&
				      !strchr(why, '\n') ?
			      0 :
			      1);
	} else if (geteuid() == 0) {
		expect_success("another user is told why not");
	}
	ok(!has_instance(getpid()), "no instance is left behind");
}

int main(void)
{
	struct trace_config config = config_for(TRACE_OURS);
	struct trace *trace;
	char *why;

	test_names();
	test_filter();
	test_stats();
	trace = trace_open(&config, &why);
	if (!trace) {
		ok(why && !strncmp(why, "cannot trace: ", 14), "says why not");
		skip(1, "%s", why);
		free(why);
		return done();
	}
	trace_close(trace);
	test_ours();
	test_threads();
	test_lost();
	test_foreign();
	test_ends();
	test_refused();
	return done();
}
