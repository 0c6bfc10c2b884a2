/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <linux/membarrier.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/irqcount.h"
#include "core/place.h"
#include "core/progress.h"
#include "core/random.h"
#include "core/tail.h"
#include "core/team.h"
#include "shootdown.h"

/*
 * A round holds a window of each row, short, so that a round fits between two
 * changes of the machine's speed. The measuring ends when every row has 20
 * rounds, enough calls for its p99.9 and a median within 1 % on either side; or
 * when the time is over and there are 3 rounds.
 */
#define WINDOW_NS 10e6
#define CALLS 1000 /* in a window, at most */
#define ROUNDS 20
#define ROUNDS_MIN 3
#define ROW_SECONDS 2.0
#define ROW_SECONDS_QUICK 0.4
#define SECONDS_MAX 60 /* of all rows, on a machine of many CPUs */
#define TIGHT 0.01
#define LOOP_ROUNDS 20 /* into which -l calls are divided */
#define WARM_CALLS 8

/*
 * How long a thread may take for a round of about 50 ns, where it was
 * interrupted by the call before. A virtual CPU that a hypervisor has stopped,
 * or one that runs another task, stays away for longer.
 */
#define PROGRESS_NS 50e3

/* Of the interrupts that are due: fewer count as none. */
#define INTERRUPTS_MIN 0.1
#define CALLS_MIN 20 /* that tell */

struct measurement {
	const struct shootdown_plan *plan;
	struct shootdown *out;
	struct team *team;
	char *why;
};

/* the call --------------------------------------------------------------- */

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

int shootdown_prepare(const struct placement *placement, const char **why)
{
	const int needed = MEMBARRIER_CMD_PRIVATE_EXPEDITED |
			   MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
	int known = membarrier(MEMBARRIER_CMD_QUERY);

	if (known < 0 && errno == ENOSYS)
		*why = "this kernel has no membarrier (CONFIG_MEMBARRIER)";
	else if (known < 0)
		*why = "membarrier is not permitted here (seccomp?)";
	else if ((known & needed) != needed)
		*why = "this kernel's membarrier interrupts no CPUs (there is "
		       "no PRIVATE_EXPEDITED, which Linux has since 4.14)";
	else if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) < 0)
		*why = "cannot register for membarrier, which interrupts only "
		       "processes that have";
	else if (placement->n < 2)
		*why = "this process may use one CPU only: there is no other "
		       "to interrupt";
	else
		return 0;
	return -1;
}

/* Say what failed, as errno has it; returns -1. */
static int fail(struct measurement *m, const char *what)
{
	int error = errno;

	if (asprintf(&m->why, "%s: %s", what, strerror(error)) < 0)
		m->why = NULL;
	errno = error;
	return -1;
}

/* a window --------------------------------------------------------------- */

int shootdown_call(void)
{
	return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void shootdown_spin(void *context, size_t index)
{
	uint64_t sum = index;
	int i;

	(void)context;
	for (i = 0; i < 16; i++)
		__asm__ volatile("imul %0, %0\n\timul %0, %0\n\t"
				 "imul %0, %0\n\timul %0, %0"
				 : "+r"(sum));
}

static int call(struct measurement *m, struct shootdown_row *row)
{
	const struct clock *clock = m->plan->clock;
	int command = row->query ? MEMBARRIER_CMD_QUERY :
				   MEMBARRIER_CMD_PRIVATE_EXPEDITED;
	uint64_t before, after;
	bool running;
	double ns;

	running = progress_of(m->team, row->threads, clock, PROGRESS_NS);
	before = clock_now(clock);
	if (membarrier(command) < 0)
		return fail(m, "membarrier");
	after = clock_now(clock);
	if (running)
		running =
			progress_of(m->team, row->threads, clock, PROGRESS_NS);
	ns = clock_ns(clock, before, after);
	if (samples_add(running ? &row->running : &row->stopped, ns) < 0)
		return fail(m, "samples");
	return 0;
}

static int warm_up(struct measurement *m, const struct shootdown_row *row)
{
	struct shootdown_row unused = *row;
	int status = 0, i;

	unused.running = unused.stopped = (struct samples){ 0 };
	for (i = 0; i < WARM_CALLS && status == 0; i++)
		status = call(m, &unused);
	samples_free(&unused.running);
	samples_free(&unused.stopped);
	return status;
}

/* Call for the time of a window, or loops times; *calls is how often. */
static int call_on(struct measurement *m, struct shootdown_row *row,
		   size_t loops, size_t *calls)
{
	const struct clock *clock = m->plan->clock;
	uint64_t start = clock_now(clock);
	size_t most = loops ? loops : CALLS;

	for (*calls = 0; *calls < most && !*m->plan->stop; ++*calls) {
		if (!loops &&
		    clock_ns(clock, start, clock_now(clock)) > WINDOW_NS)
			break;
		if (call(m, row) < 0)
			return -1;
	}
	return 0;
}

/* Function calls that the CPUs of the row's threads have received. */
static double received(const struct measurement *m,
		       const struct shootdown_row *row)
{
	const struct placement *placement = m->plan->placement;
	struct irqcount counts;
	double sum = 0;
	size_t i;

	if (irqcount_read(m->plan->root, "CAL", &counts) < 0)
		return NAN;
	for (i = 1; i <= row->threads; i++)
		sum += irqcount_of(&counts, placement->cpu[i]);
	irqcount_free(&counts);
	return sum;
}

/* What the row has won since from, as the median of this round. */
static int end_round(struct measurement *m, struct shootdown_row *row,
		     size_t from)
{
	double median =
		stats_median(row->running.x + from, row->running.n - from);

	if (samples_end_block(&row->running) < 0 ||
	    samples_end_block(&row->stopped) < 0 ||
	    samples_add(&row->rounds, median) < 0)
		return fail(m, "samples");
	return 0;
}

static int measure_window(struct measurement *m, struct shootdown_row *row,
			  size_t loops)
{
	size_t from = row->running.n, calls;
	double before;
	int status;

	if (row->threads > 0 &&
	    team_run_some(m->team, row->threads, m->plan->stop) < 0)
		return errno == EINTR ? 0 : fail(m, "threads");
	status = warm_up(m, row);
	before = received(m, row);
	if (status == 0)
		status = call_on(m, row, loops, &calls);
	if (status == 0) {
		row->interrupts += received(m, row) - before;
		row->calls += (double)calls;
		status = end_round(m, row, from);
	}
	team_park(m->team);
	return status;
}

/* all rows --------------------------------------------------------------- */

static bool is_enough(const struct shootdown_row *row)
{
	struct summary summary;

	if (row->rounds.n < ROUNDS || row->running.n < tail_enough(0.999) ||
	    samples_summarise(&row->running, 1, &summary) < 0)
		return false;
	return summary.ci95.hi - summary.ci95.lo < 2 * TIGHT * summary.median;
}

static bool all_enough(const struct shootdown *all)
{
	size_t i;

	for (i = 0; i < all->rows; i++)
		if (!is_enough(&all->row[i]))
			return false;
	return true;
}

/* Where no CPU is interrupted, there is nothing to measure. */
static int check_interrupts(struct measurement *m)
{
	size_t i;

	for (i = 0; i < m->out->rows; i++) {
		const struct shootdown_row *row = &m->out->row[i];
		double due = (double)row->running.n * (double)row->threads;

		if (row->running.n < CALLS_MIN || !row->threads ||
		    !(row->interrupts < INTERRUPTS_MIN * due))
			continue;
		if (asprintf(&m->why,
			     "membarrier interrupts no CPUs here: %zu calls "
			     "while threads of the process ran on %zu other "
			     "CPUs, %.0f function call interrupts "
			     "(/proc/interrupts)",
			     row->running.n, row->threads, row->interrupts) < 0)
			m->why = NULL;
		errno = EAGAIN;
		return -1;
	}
	return 0;
}

static int measure_round(struct measurement *m, size_t round, size_t loops)
{
	const struct shootdown_plan *plan = m->plan;
	struct shootdown *out = m->out;
	uint32_t *order = calloc(out->rows, sizeof(*order));
	int status = 0;
	size_t i;

	if (!order)
		return fail(m, "rows");
	for (i = 0; i < out->rows; i++)
		order[i] = (uint32_t)i;
	random_shuffle(order, out->rows, random_stream(plan->seed, round));
	for (i = 0; i < out->rows && status == 0 && !*plan->stop; i++)
		status = measure_window(m, &out->row[order[i]], loops);
	free(order);
	if (status == 0)
		status = place_check(plan->placement, m->team, &m->why);
	return status;
}

static int measure_rounds(struct measurement *m)
{
	const struct shootdown_plan *plan = m->plan;
	size_t loops = plan->loops;
	size_t rounds = loops < LOOP_ROUNDS ? loops : LOOP_ROUNDS;
	double row_seconds = plan->quick ? ROW_SECONDS_QUICK : ROW_SECONDS;
	double seconds = fmin((double)m->out->rows * row_seconds, SECONDS_MAX);
	uint64_t start = clock_now(plan->clock);
	size_t i;

	for (i = 0; !*plan->stop; i++) {
		double spent = clock_seconds(plan->clock, start,
					     clock_now(plan->clock));
		size_t share = 0;

		if (loops && i == rounds)
			return 0;
		if (loops)
			share = (i + 1) * loops / rounds - i * loops / rounds;
		else if (i >= ROUNDS_MIN &&
			 (spent > seconds || all_enough(m->out)))
			return 0;
		if (measure_round(m, i, share) < 0 || check_interrupts(m) < 0)
			return -1;
	}
	return 1;
}

size_t shootdown_most(const struct shootdown_plan *plan)
{
	size_t most = 0, i;

	for (i = 0; i < plan->rows; i++)
		if (plan->threads[i] > most)
			most = plan->threads[i];
	return most;
}

int shootdown_measure(const struct shootdown_plan *plan, struct shootdown *out,
		      char **why)
{
	struct measurement m = { .plan = plan, .out = out };
	int status, error;

	if (shootdown_open(plan, out) < 0) {
		status = fail(&m, "rows");
	} else {
		m.team = team_open(shootdown_most(plan), plan->placement, 1,
				   shootdown_spin, NULL);
		status = m.team ? measure_rounds(&m) : fail(&m, "threads");
	}
	error = errno;
	team_close(m.team);
	errno = error;
	*why = m.why;
	return status;
}
