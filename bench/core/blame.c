/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame: see blame.h.
 *
 * The answer of a CPU is the end of the function it was asked to run. Between
 * the question and the beginning of the interrupt in which it ran, the CPU
 * either had interrupts off, which leaves traces in the kernel's events, or did
 * not run at all. User code cannot turn interrupts off: where it is user code
 * that was interrupted late, and no event says why, the kernel did not know of
 * the delay.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blame.h"

const char *const blame_kind_name[BLAME_KINDS] = {
	[BLAME_QUEUE] = "queue",	 [BLAME_CALL_ENTRY] = "call_entry",
	[BLAME_CALL_EXIT] = "call_exit", [BLAME_IRQ_ENTRY] = "irq_entry",
	[BLAME_IRQ_EXIT] = "irq_exit",	 [BLAME_SWITCH] = "switch",
};

const char *const blame_cause_name[BLAME_CAUSES] = {
	[BLAME_UNKNOWN] = "unknown",
	[BLAME_NOBODY] = "nobody asked",
	[BLAME_USUAL] = "usual delivery",
	[BLAME_CALLER] = "caller",
	[BLAME_IRQ] = "another interrupt",
	[BLAME_FUNCTION] = "another function call",
	[BLAME_SCHEDULER] = "scheduler",
	[BLAME_IDLE] = "idle CPU",
	[BLAME_IRQS_OFF] = "interrupts off",
	[BLAME_OUTSIDE] = "hypervisor or firmware",
};

/* A question, and what became of it; 0 where no event says. */
struct answer {
	unsigned int cpu;
	uint64_t asked, interrupt, entry, exit;
	pid_t interrupted;
};

/* What else went on on a CPU between the question and its interrupt. */
struct meanwhile {
	double irq_ns; /* in other interrupts */
	const struct blame_event *irq, *task;
};

/* The answer of the CPU that event number asks, from the events after it. */
static struct answer find_answer(const struct blame_event *events, size_t n,
				 size_t number, uint64_t until)
{
	const struct blame_event *question = &events[number];
	struct answer answer = {
		.cpu = (unsigned int)question->value,
		.asked = question->ns,
	};
	size_t i;

	for (i = number + 1; i < n && events[i].ns <= until; i++) {
		const struct blame_event *event = &events[i];

		if (event->cpu != answer.cpu)
			continue;
		if (event->kind == BLAME_IRQ_ENTRY && !answer.entry) {
			answer.interrupt = event->ns;
			answer.interrupted = event->thread;
		}
		if (event->kind == BLAME_CALL_ENTRY && !answer.entry &&
		    event->function == question->function) {
			answer.entry = event->ns;
			if (!answer.interrupt) { /* in one that was under way */
				answer.interrupt = event->ns;
				answer.interrupted = event->thread;
			}
		}
		if (event->kind == BLAME_CALL_EXIT && answer.entry &&
		    event->function == question->function) {
			answer.exit = event->ns;
			break;
		}
	}
	return answer;
}

/* True if all CPUs that the call asked have answered; *last is the last one. */
static bool find_last(const struct blame_event *events, size_t n,
		      const struct blame_call *call, struct answer *last,
		      size_t *asked)
{
	size_t i;

	*asked = 0;
	*last = (struct answer){ 0 };
	for (i = 0; i < n && events[i].ns <= call->to_ns; i++) {
		struct answer answer;

		if (events[i].kind != BLAME_QUEUE ||
		    events[i].cpu != call->cpu || events[i].ns < call->from_ns)
			continue;
		++*asked;
		answer = find_answer(events, n, i, call->to_ns);
		if (!answer.exit)
			return false;
		if (answer.exit > last->exit)
			*last = answer;
	}
	return true;
}

/* Interrupts nest: the time from the outermost entry to its exit. */
static struct meanwhile look(const struct blame_event *events, size_t n,
			     const struct answer *answer)
{
	const struct blame_event *outer = NULL;
	struct meanwhile found = { 0 };
	double longest = 0;
	size_t depth = 0, i;

	for (i = 0; i < n && events[i].ns < answer->interrupt; i++) {
		const struct blame_event *event = &events[i];

		if (event->cpu != answer->cpu)
			continue;
		if (event->kind == BLAME_SWITCH && event->ns >= answer->asked)
			found.task = event;
		if (event->kind == BLAME_IRQ_ENTRY && depth++ == 0)
			outer = event;
		if (event->kind != BLAME_IRQ_EXIT || depth == 0 || --depth)
			continue;
		if (outer && event->ns > answer->asked) {
			uint64_t from = outer->ns > answer->asked ?
						outer->ns :
						answer->asked;
			double ns = (double)(event->ns - from);

			found.irq_ns += ns;
			if (ns >= longest)
				found.irq = outer;
			longest = fmax(longest, ns);
		}
	}
	return found;
}

static bool is_ours(pid_t thread, const pid_t *ours, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (ours[i] == thread)
			return true;
	return false;
}

static void set(struct blame *out, enum blame_cause cause, double held_ns,
		const struct blame_event *named)
{
	out->cause = cause;
	out->held_ns = held_ns;
	if (named)
		snprintf(out->name, sizeof(out->name), "%s", named->name);
}

/* Why the interrupt of an answer came late, which is most of the wait. */
static void explain_delay(const struct answer *answer,
			  const struct meanwhile *found, bool ours,
			  struct blame *out)
{
	double delay = (double)(answer->interrupt - answer->asked);

	if (found->irq_ns > delay / 2)
		set(out, BLAME_IRQ, found->irq_ns, found->irq);
	else if (found->task)
		set(out, BLAME_SCHEDULER, delay, found->task);
	else if (answer->interrupted == 0)
		set(out, BLAME_IDLE, delay, NULL);
	else if (ours)
		set(out, BLAME_OUTSIDE, delay, NULL);
	else
		set(out, BLAME_IRQS_OFF, delay, NULL);
}

void blame_explain(const struct blame_event *events, size_t n,
		   const struct blame_call *call, const pid_t *ours,
		   size_t n_ours, double usual_ns, struct blame *out)
{
	double total = (double)(call->to_ns - call->from_ns), delay, ran;
	struct meanwhile found;
	struct answer last;
	size_t asked;

	*out = (struct blame){ .wait_ns = NAN, .held_ns = NAN };
	if (!find_last(events, n, call, &last, &asked))
		return;
	if (asked == 0) {
		out->cause = BLAME_NOBODY;
		return;
	}
	out->cpu = last.cpu;
	out->wait_ns = (double)(last.exit - last.asked);
	delay = (double)(last.interrupt - last.asked);
	ran = (double)(last.exit - last.entry);
	found = look(events, n, &last);
	if (out->wait_ns < total / 2)
		set(out, BLAME_CALLER, total - out->wait_ns, NULL);
	else if (out->wait_ns <= 2 * usual_ns)
		set(out, BLAME_USUAL, out->wait_ns, NULL);
	else if (ran > out->wait_ns / 2)
		set(out, BLAME_OUTSIDE, ran, NULL);
	else if (delay < out->wait_ns / 2)
		set(out, BLAME_FUNCTION, out->wait_ns - delay - ran, NULL);
	else
		explain_delay(&last, &found,
			      is_ours(last.interrupted, ours, n_ours), out);
}
