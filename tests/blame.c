/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame: recorded and made-up events lead to the cause that a reader finds in
 * them, and missing events to none.
 */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/blame.h"
#include "tap.h"

#define EVENTS_MAX 200
#define OURS_MAX 8
#define USUAL_NS 15000

/* The words of the recordings. */
static const char *const causes[BLAME_CAUSES] = {
	[BLAME_UNKNOWN] = "unknown",   [BLAME_NOBODY] = "nobody",
	[BLAME_USUAL] = "usual",       [BLAME_CALLER] = "caller",
	[BLAME_IRQ] = "irq",	       [BLAME_FUNCTION] = "function",
	[BLAME_SCHEDULER] = "switch",  [BLAME_IDLE] = "idle",
	[BLAME_IRQS_OFF] = "irqs-off", [BLAME_OUTSIDE] = "outside",
};

struct stream {
	struct blame_event event[EVENTS_MAX];
	size_t n;
	pid_t ours[OURS_MAX];
	size_t n_ours;
	bool ended; /* by a call */
};

static bool parse_event(const char *line, struct blame_event *event)
{
	char kind[16];
	int i;

	*event = (struct blame_event){ .kind = BLAME_KINDS };
	if (sscanf(line, "%" SCNu64 " %u %d %15s %" SCNd64 " %" SCNx64 " %15s",
		   &event->ns, &event->cpu, &event->thread, kind, &event->value,
		   &event->function, event->name) != 7)
		return false;
	if (!strcmp(event->name, "-"))
		*event->name = 0;
	for (i = 0; i < BLAME_KINDS; i++)
		if (!strcmp(kind, blame_kind_name[i]))
			event->kind = (enum blame_kind)i;
	return event->kind != BLAME_KINDS;
}

/* One line of a stream; a call is explained and compared. */
static bool take(struct stream *stream, const char *line)
{
	struct blame_call call;
	struct blame blame;
	char want[16];
	unsigned int last;
	int ours;

	if (line[0] == '#' || line[0] == '\n')
		return true;
	if (sscanf(line, "ours %d", &ours) == 1) {
		if (stream->ended)
			*stream = (struct stream){ 0 };
		stream->ours[stream->n_ours++] = ours;
		return stream->n_ours < OURS_MAX;
	}
	if (sscanf(line, "call %" SCNu64 " %" SCNu64 " %u %15s %u",
		   &call.from_ns, &call.to_ns, &call.cpu, want, &last) == 5) {
		stream->ended = true;
		blame_explain(stream->event, stream->n, &call, stream->ours,
			      stream->n_ours, USUAL_NS, &blame);
		is_string(causes[blame.cause], want, "%zu events", stream->n);
		if (isfinite(blame.wait_ns))
			is_int(blame.cpu, last, "CPU %u was last", last);
		return true;
	}
	if (stream->n == EVENTS_MAX)
		return false;
	return parse_event(line, &stream->event[stream->n++]);
}

static void test_recorded(const char *name)
{
	const char *source = getenv("top_srcdir");
	struct stream stream = { 0 };
	char *path, *line = NULL;
	size_t size = 0, lines = 0;
	FILE *from;

	if (asprintf(&path, "%s/%s", source ? source : ".", name) < 0)
		abort();
	from = fopen(path, "re");
	if (!ok(from, "%s", name)) {
		free(path);
		return;
	}
	while (getline(&line, &size, from) > 0) {
		lines++;
		if (!take(&stream, line))
			ok(false, "%s:%zu: %s", name, lines, line);
	}
	ok(stream.ended, "%zu lines, the last is a call", lines);
	fclose(from);
	free(line);
	free(path);
}

/*
 * Made up: CPU 0 calls from 1000 to 61000 and asks at 2000; CPU 1 answers at
 * the end. The thread of ours there is 7, the caller is 5.
 */
struct made_up {
	const char *what, *cause, *name;
	unsigned int last;
	double wait_ns, held_ns;
	const char *events;
};

#define ASK_1 "2000 0 5 queue 1 abc -\n"
#define ANSWER_1(thread)                                                       \
	"58000 1 " thread " irq_entry 0 0 call_function\n"                     \
	"58200 1 " thread " call_entry 0 abc -\n"                              \
	"58400 1 " thread " call_exit 0 abc -\n"                               \
	"58500 1 " thread " irq_exit 0 0 call_function\n"

static const struct made_up streams[] = {
	{ "nothing at all", "nobody", "", 0, NAN, NAN, "" },
	{ "user code, nothing seen", "outside", "", 1, 56400, 56000,
	  ASK_1 ANSWER_1("7") },
	{ "another task", "irqs-off", "", 1, 56400, 56000,
	  ASK_1 ANSWER_1("9") },
	{ "an idle CPU", "idle", "", 1, 56400, 56000, ASK_1 ANSWER_1("0") },
	{ "a timer meanwhile", "irq", "local_timer", 1, 56400, 52000,
	  ASK_1 "5000 1 7 irq_entry 0 0 local_timer\n"
		"57000 1 7 irq_exit 0 0 local_timer\n" ANSWER_1("7") },
	{ "an interrupt since before: what is after the question counts", "irq",
	  "eth0", 1, 56400, 55000,
	  "100 1 7 irq_entry 0 0 eth0\n" ASK_1
	  "57000 1 7 irq_exit 0 0 eth0\n" ANSWER_1("7") },
	{ "nested: the outer one", "irq", "local_timer", 1, 56400, 52000,
	  ASK_1 "5000 1 7 irq_entry 0 0 local_timer\n"
		"6000 1 7 irq_entry 0 0 eth0\n"
		"7000 1 7 irq_exit 0 0 eth0\n"
		"57000 1 7 irq_exit 0 0 local_timer\n" ANSWER_1("7") },
	{ "two: the longer is named", "irq", "eth0", 1, 56400, 50000,
	  ASK_1 "3000 1 7 irq_entry 0 0 local_timer\n"
		"13000 1 7 irq_exit 0 0 local_timer\n"
		"14000 1 7 irq_entry 0 0 eth0\n"
		"54000 1 7 irq_exit 0 0 eth0\n" ANSWER_1("7") },
	{ "a short interrupt is not to blame", "outside", "", 1, 56400, 56000,
	  ASK_1 "5000 1 7 irq_entry 0 0 local_timer\n"
		"7000 1 7 irq_exit 0 0 local_timer\n" ANSWER_1("7") },
	{ "nor is one of another CPU", "outside", "", 1, 56400, 56000,
	  ASK_1 "5000 2 7 irq_entry 0 0 local_timer\n"
		"57000 2 7 irq_exit 0 0 local_timer\n" ANSWER_1("7") },
	{ "nor one that was over", "outside", "", 1, 56400, 56000,
	  "100 1 7 irq_entry 0 0 local_timer\n"
	  "1900 1 7 irq_exit 0 0 local_timer\n" ASK_1 ANSWER_1("7") },
	{ "a switch meanwhile", "switch", "make", 1, 56400, 56000,
	  ASK_1 "9000 1 7 switch 9 0 make\n" ANSWER_1("9") },
	{ "a switch before", "irqs-off", "", 1, 56400, 56000,
	  "1900 1 7 switch 9 0 make\n" ASK_1 ANSWER_1("9") },
	{ "another function first", "function", "", 1, 56400, 48000,
	  ASK_1 "10000 1 7 irq_entry 0 0 call_function\n"
		"10200 1 7 call_entry 0 def -\n"
		"57000 1 7 call_exit 0 def -\n"
		"58000 1 7 call_entry 0 abc -\n"
		"58400 1 7 call_exit 0 abc -\n" },
	{ "stopped in the barrier", "outside", "", 1, 56400, 46400,
	  ASK_1 "10000 1 7 irq_entry 0 0 call_function\n"
		"12000 1 7 call_entry 0 abc -\n"
		"58400 1 7 call_exit 0 abc -\n" },
	{ "in an interrupt that was under way", "outside", "", 1, 56400, 56300,
	  "1500 1 7 irq_entry 0 0 call_function\n" ASK_1
	  "58300 1 7 call_entry 0 abc -\n"
	  "58400 1 7 call_exit 0 abc -\n" },
	{ "late to ask", "caller", "", 1, 3000, 57000,
	  "57000 0 5 queue 1 abc -\n"
	  "59000 1 7 irq_entry 0 0 call_function\n"
	  "59500 1 7 call_entry 0 abc -\n"
	  "60000 1 7 call_exit 0 abc -\n" },
	{ "the last of three", "outside", "", 3, 58000, 57000,
	  "2000 0 5 queue 1 abc -\n2000 0 5 queue 2 abc -\n"
	  "2000 0 5 queue 3 abc -\n"
	  "3000 2 7 irq_entry 0 0 call_function\n"
	  "3100 2 7 call_entry 0 abc -\n3200 2 7 call_exit 0 abc -\n"
	  "4000 1 7 irq_entry 0 0 call_function\n"
	  "4100 1 7 call_entry 0 abc -\n4200 1 7 call_exit 0 abc -\n"
	  "59000 3 7 irq_entry 0 0 call_function\n"
	  "59100 3 7 call_entry 0 abc -\n60000 3 7 call_exit 0 abc -\n" },
	{ "one answer of two is missing", "unknown", "", 0, NAN, NAN,
	  ASK_1 "2000 0 5 queue 2 abc -\n" ANSWER_1("7") },
	{ "an answer after the call", "unknown", "", 0, NAN, NAN,
	  ASK_1 "62000 1 7 irq_entry 0 0 call_function\n"
		"62100 1 7 call_entry 0 abc -\n"
		"62200 1 7 call_exit 0 abc -\n" },
	{ "an answer to another function", "unknown", "", 0, NAN, NAN,
	  ASK_1 "4000 1 7 irq_entry 0 0 call_function\n"
		"4100 1 7 call_entry 0 def -\n"
		"4200 1 7 call_exit 0 def -\n" },
	{ "a question of another CPU", "nobody", "", 0, NAN, NAN,
	  "2000 2 5 queue 1 abc -\n" },
};

static void test_made_up(const struct made_up *made_up)
{
	static const pid_t ours[] = { 5, 7 };
	const struct blame_call call = { 1000, 61000, 0 };
	struct blame_event event[EVENTS_MAX];
	char *text = strdup(made_up->events), *rest = text, *line;
	struct blame blame;
	size_t n = 0;

	if (!text)
		abort();
	while ((line = strsep(&rest, "\n")) && *line)
		if (!parse_event(line, &event[n++]))
			ok(false, "%s", line);
	free(text);
	blame_explain(event, n, &call, ours, 2, USUAL_NS, &blame);
	is_string(causes[blame.cause], made_up->cause, "%s", made_up->what);
	is_string(blame.name, made_up->name, "... its name");
	is_double(blame.wait_ns, made_up->wait_ns, 0, "... the wait");
	is_double(blame.held_ns, made_up->held_ns, 0, "... what it held");
	if (isfinite(blame.wait_ns))
		is_int(blame.cpu, made_up->last, "... the last");
}

/* What is usual depends on the machine. */
static void test_usual(void)
{
	static const pid_t ours[] = { 7 };
	const struct blame_call call = { 1000, 61000, 0 };
	const struct blame_event event[] = {
		{ 2000, 0, 5, BLAME_QUEUE, 1, 1, "" },
		{ 58000, 1, 7, BLAME_IRQ_ENTRY, 0, 0, "call_function" },
		{ 58200, 1, 7, BLAME_CALL_ENTRY, 0, 1, "" },
		{ 58400, 1, 7, BLAME_CALL_EXIT, 0, 1, "" },
	};
	struct blame blame;

	blame_explain(event, 4, &call, ours, 1, 28200, &blame);
	is_string(causes[blame.cause], "usual", "twice what is usual");
	blame_explain(event, 4, &call, ours, 1, 28199, &blame);
	is_string(causes[blame.cause], "outside", "more than that");
	blame_explain(event, 4, &call, ours, 1, NAN, &blame);
	is_string(causes[blame.cause], "outside", "usual is not known yet");
}

int main(void)
{
	size_t i;

	test_recorded("tests/events/kvm-guest.txt");
	for (i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		test_made_up(&streams[i]);
	test_usual();
	return done();
}
