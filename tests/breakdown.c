/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breakdown: from simulated times with known costs come these costs, each
 * within its interval, adding up to the whole; what the model does not know is
 * unexplained, and what was not measured is unknown, never 0.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/breakdown.h"
#include "core/random.h"
#include "tap.h"

#define BLOCKS 20

static const unsigned int sizes[] = { 1,  2,  4,  8,  12, 16, 20, 24,
				      28, 33, 34, 40, 48, 64, 96, 128 };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

/* A kernel, ns. */
struct kernel {
	unsigned int ceiling;
	double a, b, c_i, c_f; /* of the operation */
	double a_mprotect;
	double ipi, remote_i, remote_f; /* beside running threads */
	double refill;
	double surprise; /* in the whole only */
	double noise;	 /* standard deviation over the mean */
};

static const struct kernel usual = {
	.ceiling = 33,
	.a = 2400,
	.b = 25,
	.c_i = 100,
	.c_f = 300,
	.a_mprotect = 1000,
	.ipi = 5000,
	.remote_i = 20,
	.remote_f = 150,
	.refill = 2800,
	.noise = 0.01,
};

static uint64_t draws;

/* Twelve uniform numbers make a normal one, nearly. */
static double noisy(const struct kernel *kernel, double ns)
{
	double sum = -6;
	int i;

	for (i = 0; i < 12; i++)
		sum += (double)(random_stream(12345, draws++) >> 11) * 0x1p-53;
	return ns * (1 + kernel->noise * sum);
}

static double flush(const struct kernel *kernel, unsigned int n)
{
	return n <= kernel->ceiling ? n * kernel->c_i : kernel->c_f;
}

static double remote(const struct kernel *kernel, unsigned int n)
{
	return n <= kernel->ceiling ? n * kernel->remote_i : kernel->remote_f;
}

static double alone(const struct kernel *kernel, unsigned int n)
{
	return kernel->a + n * kernel->b + flush(kernel, n);
}

/* What the kernel takes, as measured. */
static struct breakdown_input *simulate(const struct kernel *kernel,
					unsigned int pages, size_t threads)
{
	struct breakdown_input *in = calloc(1, sizeof(*in));
	size_t k, i;

	if (!in)
		abort();
	*in = (struct breakdown_input){
		.pages = pages,
		.threads = threads,
		.sizes = SIZES,
		.size = sizes,
		.blocks = BLOCKS,
		.block = calloc(BLOCKS, sizeof(*in->block)),
	};
	for (k = 0; in->block && k < BLOCKS; k++) {
		struct breakdown_block *block = &in->block[k];
		double beside = threads ? kernel->ipi + remote(kernel, pages) :
					  0;

		block->point = calloc(SIZES, sizeof(*block->point));
		if (!block->point)
			abort();
		for (i = 0; i < SIZES; i++) {
			unsigned int n = sizes[i];
			double ns = alone(kernel, n);

			block->point[i] = (struct breakdown_point){
				.alone = noisy(kernel, ns),
				.busy = threads ? noisy(kernel,
							ns + kernel->ipi +
								remote(kernel,
								       n)) :
						  NAN,
				.mprotect = noisy(kernel,
						  kernel->a_mprotect + n * 10 +
							  flush(kernel, n)),
			};
		}
		block->ipi = threads ? noisy(kernel, kernel->ipi) : NAN;
		block->refill = noisy(kernel, kernel->refill);
		block->whole = noisy(kernel, alone(kernel, pages) + beside +
						     kernel->refill +
						     kernel->surprise);
	}
	return in;
}

static void release(struct breakdown_input *in)
{
	size_t k;

	for (k = 0; k < in->blocks; k++)
		free(in->block[k].point);
	free(in->block);
	free(in);
}

static bool holds(const struct estimate *estimate, double truth)
{
	/* a third wider: twenty intervals of 95 % must all hold */
	double slack = (estimate->ci95.hi - estimate->ci95.lo) / 3;

	return estimate->ci95.lo - slack <= truth &&
	       estimate->ci95.hi + slack >= truth;
}

static void test_parts(const struct kernel *kernel, unsigned int pages,
		       size_t threads)
{
	const double truth[BREAKDOWN_PARTS] = {
		[BREAKDOWN_FIXED] = kernel->a,
		[BREAKDOWN_PAGES] = pages * kernel->b,
		[BREAKDOWN_LOCAL] = flush(kernel, pages),
		[BREAKDOWN_IPI] = kernel->ipi,
		[BREAKDOWN_REMOTE] = remote(kernel, pages),
		[BREAKDOWN_REFILL] = kernel->refill,
	};
	struct breakdown_input *in = simulate(kernel, pages, threads);
	struct breakdown out;
	double sum = 0;
	int i;

	is_int(breakdown_derive(in, &out), 0, "%u pages, %zu threads", pages,
	       threads);
	is_int(out.blocks, BLOCKS, "all blocks count");
	for (i = 0; i < BREAKDOWN_PARTS; i++) {
		bool none = !threads &&
			    (i == BREAKDOWN_IPI || i == BREAKDOWN_REMOTE);

		if (none) {
			ok(isnan(out.part[i].value) &&
				   strstr(out.why[i], "no other thread"),
			   "%s: unknown, for want of threads",
			   breakdown_name[i]);
			continue;
		}
		sum += out.part[i].value;
		ok(holds(&out.part[i], truth[i]) && !out.why[i],
		   "%s: %.1f [%.1f, %.1f] holds %.1f", breakdown_name[i],
		   out.part[i].value, out.part[i].ci95.lo, out.part[i].ci95.hi,
		   truth[i]);
	}
	is_double(out.sum.value, sum, 0.01, "the parts make the sum");
	is_double(out.whole.value - out.sum.value, out.unexplained.value, 0.01,
		  "the whole less the sum is what is unexplained");
	ok(holds(&out.unexplained, kernel->surprise),
	   "unexplained: %.1f holds %.1f", out.unexplained.value,
	   kernel->surprise);
	release(in);
}

/* A cost that no part has. */
static void test_surprise(void)
{
	struct kernel kernel = usual;
	struct breakdown_input *in;
	struct breakdown out;

	kernel.surprise = 2000;
	in = simulate(&kernel, 50, 1);
	breakdown_derive(in, &out);
	ok(!breakdown_explained(&out) && holds(&out.unexplained, 2000),
	   "2000 ns of another kind are unexplained");
	release(in);
}

/* A kernel that flushes all sizes in one way. */
static void test_no_step(void)
{
	struct kernel kernel = usual;
	struct breakdown_input *in;
	struct breakdown out;

	kernel.ceiling = 0;
	in = simulate(&kernel, 10, 0);
	breakdown_derive(in, &out);
	ok(isnan(out.part[BREAKDOWN_LOCAL].value) &&
		   strstr(out.why[BREAKDOWN_LOCAL], "no step"),
	   "no step: the local flush is unknown");
	ok(holds(&out.part[BREAKDOWN_FIXED], kernel.a + kernel.c_f),
	   "and part of the fixed cost");
	ok(holds(&out.unexplained, 0), "so that nothing is unexplained");
	release(in);
}

static void test_missing(void)
{
	struct breakdown_input *in = simulate(&usual, 50, 1);
	struct breakdown out;
	size_t k;

	in->no_ipi = "no membarrier";
	for (k = 0; k < BLOCKS; k++)
		in->block[k].ipi = NAN;
	breakdown_derive(in, &out);
	ok(isnan(out.part[BREAKDOWN_IPI].value) &&
		   !strcmp(out.why[BREAKDOWN_IPI], "no membarrier"),
	   "no membarrier: the IPI wait is unknown, and why");
	ok(holds(&out.unexplained, usual.ipi), "and unexplained");
	release(in);

	/* Threads that ran in one block of four. */
	in = simulate(&usual, 50, 1);
	for (k = 0; k < BLOCKS; k++)
		if (k % 4)
			in->block[k].ipi = in->block[k].whole = NAN;
	breakdown_derive(in, &out);
	is_int(out.blocks, BLOCKS / 4, "blocks without a whole don't count");
	ok(holds(&out.part[BREAKDOWN_IPI], usual.ipi), "the others do");
	release(in);

	in = simulate(&usual, 50, 1);
	for (k = 0; k < BLOCKS; k++)
		if (k % 4)
			in->block[k].ipi = NAN;
	breakdown_derive(in, &out);
	is_int(out.blocks, BLOCKS, "what most blocks lack is not asked for");
	ok(isnan(out.part[BREAKDOWN_IPI].value) && out.why[BREAKDOWN_IPI],
	   "but unknown");
	release(in);

	in = simulate(&usual, 50, 1);
	in->blocks = 2;
	breakdown_derive(in, &out);
	ok(isnan(out.sum.value) && isnan(out.unexplained.value),
	   "two blocks: nothing is known");
	in->blocks = BLOCKS;
	release(in);
}

int main(void)
{
	test_parts(&usual, 10, 0);
	test_parts(&usual, 10, 1);
	test_parts(&usual, 50, 0);
	test_parts(&usual, 50, 3);
	test_surprise();
	test_no_step();
	test_missing();
	return done();
}
