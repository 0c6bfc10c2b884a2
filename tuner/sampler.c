/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "sampler.h"
#include "touched.h"

#define RECENT 256
#define READINGS 64
#define REST_NS 5e7	 /* between looks, at least half of it */
#define REST_PER_BUSY 20 /* and in proportion to the time a look takes */
#define EXPECTED 1.5	 /* windows from one flush to the next, at most */
#define TRIES 8		 /* flushes whose process may have ended */

enum stage { REST, FIRST, SECOND };

/* A flush, and whose. */
struct recent {
	pid_t thread;
	uint64_t ns;
};

struct sampler {
	struct sampler_config config;
	struct recent recent[RECENT]; /* the last of them, the oldest at next */
	size_t flushes;
	enum stage stage;
	uint64_t due;
	uint64_t draws; /* random numbers used */
	pid_t process;	/* looked at */
	double from_ns; /* when its bits were cleared */
	double read_ns; /* a count takes; 0: unknown */
	double busy_ns; /* this look took so far */
	/*
	 * Of the last look: when it began, and its windows ended (0: not yet),
	 * and how many flushes there were in each.
	 */
	uint64_t edge[3];
	size_t flushes_in[2];
	bool unsettled; /* it is complete, its flushes may not be */
	struct reuse_reading look, reading[READINGS];
	size_t readings, taken; /* those kept, and all */
	int error;
};

struct sampler *sampler_open(const struct sampler_config *config)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));

	if (!sampler)
		return NULL;
	sampler->config = *config;
	sampler->due = config->now(config->clock) + (uint64_t)REST_NS;
	return sampler;
}

void sampler_close(struct sampler *sampler)
{
	free(sampler);
}

static uint64_t now(const struct sampler *sampler)
{
	return sampler->config.now(sampler->config.clock);
}

/* Uniform in [0, 1). */
static double draw(struct sampler *sampler)
{
	return (double)(random_stream(sampler->config.seed, sampler->draws++) >>
			11) *
	       0x1p-53;
}

/* whom to look at --------------------------------------------------------- */

void sampler_flush(struct sampler *sampler, pid_t thread, uint64_t ns)
{
	sampler->recent[sampler->flushes++ % RECENT] =
		(struct recent){ thread, ns };
	if (ns < sampler->edge[0] || !sampler->edge[0])
		return;
	if (!sampler->edge[1] || ns < sampler->edge[1])
		sampler->flushes_in[0]++;
	else if (!sampler->edge[2] || ns < sampler->edge[2])
		sampler->flushes_in[1]++;
}

static size_t known(const struct sampler *sampler)
{
	return sampler->flushes < RECENT ? sampler->flushes : RECENT;
}

/* The mean time between the flushes of the process, of those known; NAN. */
static double gap_of(const struct sampler *sampler)
{
	size_t i, n = known(sampler), count = 0;
	double first = INFINITY;
	pid_t last = 0, whose = -1;

	for (i = 0; i < n; i++) {
		const struct recent *flush = &sampler->recent[i];

		if (flush->thread != last)
			whose = touched_process(sampler->config.root,
						flush->thread);
		last = flush->thread;
		if (whose != sampler->process)
			continue;
		count++;
		first = fmin(first, (double)flush->ns);
	}
	return count >= 2 ? ((double)now(sampler) - first) / (double)count :
			    NAN;
}

static pid_t choose(struct sampler *sampler)
{
	size_t n = known(sampler);
	int i;

	for (i = 0; n && i < TRIES; i++) {
		size_t which = (size_t)(draw(sampler) * (double)n);
		pid_t process = touched_process(sampler->config.root,
						sampler->recent[which].thread);

		if (process > 0)
			return process;
	}
	return sampler->config.process;
}

/* a look ------------------------------------------------------------------ */

/* End it; the next one is after a rest of random length. */
static void rest(struct sampler *sampler)
{
	double most = fmax(REST_NS, REST_PER_BUSY * sampler->busy_ns);

	sampler->due = now(sampler) + (uint64_t)(most * (0.5 + draw(sampler)));
	sampler->stage = REST;
}

static void fail(struct sampler *sampler)
{
	sampler->error = errno;
	rest(sampler);
}

/* Count into *touched; *at is the middle of the time that takes. */
static int count(struct sampler *sampler, struct touched *touched, double *at)
{
	uint64_t from = now(sampler), to;

	if (touched_read(sampler->config.root, sampler->process, touched) < 0)
		return -1;
	to = now(sampler);
	sampler->read_ns = (double)(to - from);
	sampler->busy_ns += sampler->read_ns;
	*at = (double)from + sampler->read_ns / 2;
	return 0;
}

static int forget(struct sampler *sampler)
{
	if (touched_clear(sampler->config.root, sampler->process) < 0)
		return -1;
	if (!sampler->config.evictor)
		return 0;
	return evict(sampler->config.evictor, sampler->config.root,
		     sampler->process);
}

/* Keep the reading: of all taken, each with the same chance. */
static void keep(struct sampler *sampler)
{
	size_t at = sampler->taken++;

	if (sampler->readings < READINGS)
		sampler->readings++;
	else
		at = (size_t)(draw(sampler) * (double)sampler->taken);
	if (at < READINGS)
		sampler->reading[at] = sampler->look;
}

/*
 * Once the flushes of the last look are known: keep it, unless the program was
 * idle, or waited for a CPU: if there should have been a flush in each window,
 * there must have been.
 */
static void settle(struct sampler *sampler)
{
	bool expected = sampler->look.gap_ns <=
			sampler->look.window_ns[0] * EXPECTED;

	if (sampler->unsettled &&
	    (!expected || (sampler->flushes_in[0] && sampler->flushes_in[1])))
		keep(sampler);
	sampler->unsettled = false;
}

static void begin(struct sampler *sampler)
{
	struct touched unused;
	pid_t before = sampler->process;
	uint64_t from, to;
	double at, window;

	settle(sampler);
	memset(sampler->edge, 0, sizeof(sampler->edge));
	memset(sampler->flushes_in, 0, sizeof(sampler->flushes_in));
	sampler->busy_ns = 0;
	sampler->process = choose(sampler);
	/* How long a count takes depends on the process. */
	if (sampler->process != before && count(sampler, &unused, &at) < 0) {
		fail(sampler);
		return;
	}
	sampler->look = (struct reuse_reading){
		.gap_ns = gap_of(sampler),
	};
	from = now(sampler);
	if (forget(sampler) < 0) {
		fail(sampler);
		return;
	}
	to = now(sampler);
	sampler->busy_ns += (double)(to - from);
	sampler->edge[0] = to;
	sampler->from_ns = (double)from + (double)(to - from) / 2;
	sampler->look.blur_ns = ((double)(to - from) + sampler->read_ns) / 2;
	window = reuse_window_ns(sampler->look.gap_ns,
				 (double)(to - from) + sampler->read_ns);
	sampler->due =
		(uint64_t)(sampler->from_ns + window - sampler->read_ns / 2);
	sampler->stage = FIRST;
}

static void go_on(struct sampler *sampler)
{
	int which = sampler->stage == SECOND;
	struct touched touched;
	double at;

	if (count(sampler, &touched, &at) < 0) {
		fail(sampler);
		return;
	}
	sampler->look.pages[which] = touched.pages;
	sampler->edge[1 + which] = now(sampler);
	sampler->look.window_ns[which] = at - sampler->from_ns;
	if (!which) {
		sampler->due = (uint64_t)(at + sampler->look.window_ns[0] -
					  sampler->read_ns / 2);
		sampler->stage = SECOND;
		return;
	}
	sampler->look.huge = touched.huge;
	sampler->look.resident = touched.resident;
	sampler->unsettled = true;
	rest(sampler);
}

uint64_t sampler_step(struct sampler *sampler)
{
	if (now(sampler) < sampler->due)
		return sampler->due;
	if (sampler->stage == REST)
		begin(sampler);
	else
		go_on(sampler);
	return sampler->due;
}

bool sampler_looks(const struct sampler *sampler)
{
	return sampler->stage != REST;
}

const struct reuse_reading *sampler_readings(struct sampler *sampler, size_t *n)
{
	settle(sampler);
	*n = sampler->readings;
	return sampler->reading;
}

int sampler_error(const struct sampler *sampler)
{
	return sampler->error;
}
