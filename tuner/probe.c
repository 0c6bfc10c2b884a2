/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <sys/mman.h>

#include "plan.h"
#include "probe.h"

static void dirty(char *start, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		*(volatile char *)(start + i * REGION_PAGE) = 1;
}

static int revoke(char *start, size_t n)
{
	return mprotect(start, n * REGION_PAGE, PROT_READ);
}

static int restore(char *start, size_t n)
{
	return mprotect(start, n * REGION_PAGE, PROT_READ | PROT_WRITE);
}

int probe_open(struct probe *probe, const struct clock *clock, size_t set_pages,
	       unsigned int flush_pages, uint64_t seed, char **why)
{
	*probe = (struct probe){ .clock = clock, .flush_pages = flush_pages };
	if (region_open(&probe->region, PLAN_LARGEST, set_pages + flush_pages,
			REGION_SMALL, seed, why) < 0)
		return -1;
	probe->flush = probe->region.set + set_pages * REGION_PAGE;
	return 0;
}

void probe_close(struct probe *probe)
{
	region_close(&probe->region);
}

/* The whole TLB flushed, by the way that spares what is global. */
static int flush(const struct probe *probe)
{
	if (probe->flush_pages == 0)
		return 0;
	dirty(probe->flush, probe->flush_pages);
	if (revoke(probe->flush, probe->flush_pages) < 0)
		return -1;
	return restore(probe->flush, probe->flush_pages);
}

/* Flushed, and the pages to operate on present, dirty and in the TLB. */
static int prepare(const struct probe *probe, unsigned int n)
{
	if (flush(probe) < 0)
		return -1;
	dirty(probe->region.target, n);
	return 0;
}

int probe_op(const struct probe *probe, unsigned int n, double *op_ns)
{
	char *target = probe->region.target;
	uint64_t before, after;

	if (prepare(probe, n) < 0)
		return -1;
	before = clock_now(probe->clock);
	if (revoke(target, n) < 0)
		return -1;
	after = clock_now(probe->clock);
	*op_ns = clock_ns(probe->clock, before, after);
	return restore(target, n);
}

int probe_refill(const struct probe *probe, const struct access *access,
		 unsigned int n, struct probe_reading *reading)
{
	const struct clock *clock = probe->clock;
	char *target = probe->region.target;
	uint64_t warm, warmed, before, between, after;

	if (prepare(probe, n) < 0)
		return -1;
	access_pass(access);
	warm = clock_now(clock);
	access_pass(access);
	warmed = clock_now(clock);
	before = clock_now(clock);
	if (revoke(target, n) < 0)
		return -1;
	between = clock_now(clock);
	access_pass(access);
	after = clock_now(clock);
	*reading = (struct probe_reading){
		.warm_ns = clock_ns(clock, warm, warmed),
		.op_ns = clock_ns(clock, before, between),
		.access_ns = clock_ns(clock, between, after),
	};
	return restore(target, n);
}

int probe_reach(const struct probe *probe, const struct access *access,
		double *access_ns)
{
	size_t passes = 1 + 1023 / access->pages;
	uint64_t before, after;

	if (flush(probe) < 0)
		return -1;
	access_pass(access);
	access_pass(access);
	before = clock_now(probe->clock);
	access_passes(access, passes);
	after = clock_now(probe->clock);
	*access_ns = clock_ns(probe->clock, before, after) /
		     (double)(passes * access->pages);
	return 0;
}
