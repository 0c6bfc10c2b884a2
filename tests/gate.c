/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate: on simulated threads that a scheduler takes off their CPUs, what the
 * gate lets pass has the cost of a call among running threads, whatever share
 * of the time they are stopped; without it the median goes over to the other.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "core/gate.h"
#include "core/random.h"
#include "core/samples.h"
#include "tap.h"

#define THREADS_MAX 7
#define READINGS 4000
#define ROUND_NS 700.0
#define LOOK_NS 60.0 /* a look at the clock or at a counter */
#define RUNNING_NS 5500.0
#define STOPPED_NS 17000.0
#define PERIOD_NS 4e6 /* of the scheduler */

/* Threads that are stopped for a share of each period, at times of their own.
 */
struct world {
	double now;
	size_t n;
	double share;
	double offset[THREADS_MAX];
	uint64_t seed;
	uint64_t draws;
};

static double draw(struct world *world)
{
	return (double)(random_stream(world->seed, world->draws++) >> 11) *
	       0x1p-53;
}

static bool runs(const struct world *world, size_t i, double when)
{
	return fmod(when + world->offset[i], PERIOD_NS) / PERIOD_NS >=
	       world->share;
}

/* Rounds that a thread has finished: those of the time that it ran. */
static uint64_t rounds(const void *context, size_t i)
{
	/* Time goes by while one looks. */
	struct world *world = (struct world *)context;
	double at = world->now + world->offset[i];
	double periods = floor(at / PERIOD_NS);
	double run = (1 - world->share) * PERIOD_NS;
	double in = at - periods * PERIOD_NS - world->share * PERIOD_NS;

	world->now += LOOK_NS;
	return (uint64_t)((periods * run + fmax(in, 0)) / ROUND_NS);
}

static double now_ns(const void *context)
{
	struct world *world = (struct world *)context;

	world->now += LOOK_NS;
	return world->now;
}

static bool all_run(const struct world *world)
{
	size_t i;

	for (i = 0; i < world->n; i++)
		if (!runs(world, i, world->now))
			return false;
	return true;
}

/* A call: how long it takes depends on who runs when it begins. */
static double call(struct world *world)
{
	double ns = all_run(world) ? RUNNING_NS : STOPPED_NS;

	ns *= 0.98 + 0.04 * draw(world);
	world->now += ns;
	return ns;
}

static void test_share(size_t n, double share)
{
	struct world world = { .n = n, .share = share, .seed = n * 1000 + 1 };
	const struct gate_source source = { rounds, now_ns, &world, n };
	struct samples passed = { 0 }, others = { 0 }, all = { 0 };
	size_t i, slow = 0;

	for (i = 0; i < n; i++)
		world.offset[i] = draw(&world) * PERIOD_NS;
	for (i = 0; i < READINGS; i++) {
		bool ran = gate_look(&source, GATE_LIMIT_NS);
		double ns = call(&world);

		ran &= gate_look(&source, GATE_LIMIT_NS);
		samples_add(ran ? &passed : &others, ns);
		samples_add(&all, ns);
		slow += ran && ns > 2 * RUNNING_NS;
		/* in no step with the scheduler */
		world.now += draw(&world) * 100e3;
	}
	diag("%zu threads, each stopped %g of the time: %zu of %d pass, median "
	     "%.0f ns, of all %.0f ns",
	     n, share, passed.n, READINGS, stats_median(passed.x, passed.n),
	     stats_median(all.x, all.n));
	is_int(passed.n + others.n, READINGS, "each reading has a class");
	ok(passed.n >= READINGS / 50, "%zu threads, %g: some pass", n, share);
	is_double(stats_median(passed.x, passed.n), RUNNING_NS,
		  0.025 * RUNNING_NS, "%zu threads, %g: the gated median", n,
		  share);
	ok(slow * 50 < passed.n, "%zu threads, %g: hardly one is slow", n,
	   share);
	if (passed.n < READINGS * 9 / 20)
		ok(stats_median(all.x, all.n) > 2 * RUNNING_NS,
		   "%zu threads, %g: ungated it is the other's", n, share);
	if (share > 0)
		is_double(stats_median(others.x, others.n), STOPPED_NS,
			  0.025 * STOPPED_NS, "%zu threads, %g: the others", n,
			  share);
	samples_free(&passed);
	samples_free(&others);
	samples_free(&all);
}

static void test_nobody_runs(void)
{
	struct world world = { .n = 1, .share = 1 };
	const struct gate_source source = { rounds, now_ns, &world, 1 };
	const struct gate_source nobody = { rounds, now_ns, &world, 0 };

	ok(!gate_look(&source, GATE_LIMIT_NS), "nobody runs");
	ok(world.now > GATE_LIMIT_NS && world.now < 1.1 * GATE_LIMIT_NS,
	   "is said when the limit is over");
	ok(gate_look(&nobody, 0), "nobody is asked for");
}

/* A round that ended just before the look is no proof. */
static void test_one_round(void)
{
	struct world world = { .n = 1, .share = 0.5 };
	const struct gate_source source = { rounds, now_ns, &world, 1 };
	double before, late;
	int wrong = 0;

	/* The thread stops at the end of each period: begin close to that. */
	for (late = 0; late < 2 * ROUND_NS; late += LOOK_NS) {
		world.now = PERIOD_NS - late;
		before = floor((PERIOD_NS / 2 - late) / ROUND_NS);
		if (gate_look(&source, GATE_LIMIT_NS) &&
		    floor(PERIOD_NS / 2 / ROUND_NS) < before + 2)
			wrong++;
	}
	is_int(wrong, 0, "a thread about to stop needs two rounds to pass");
}

int main(void)
{
	test_share(1, 0);
	test_share(1, 0.1);
	test_share(1, 0.5);
	test_share(1, 0.7);
	test_share(3, 0.3);
	test_share(7, 0.2);
	test_nobody_runs();
	test_one_round();
	return done();
}
