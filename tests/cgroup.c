/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroup: the tightest limits on the way to the root, in v1, v2 and between. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "cgroup.h"
#include "tap.h"
#include "tree.h"

struct expected {
	int version;
	const char *cpu_max, *memory_max;
	double throttled;
};

static void is_cgroup(const struct tree_file *files,
		      const struct expected *want, const char *name)
{
	const struct tree_machine machine = { .files = files };
	char *root = tree_open();
	struct cgroup cgroup;

	tree_fill(root, &machine);
	cgroup_read(root, &cgroup);
	is_int(cgroup.cpu_version, want->version, "%s: version", name);
	is_string(cgroup.cpu_max, want->cpu_max, "%s: CPU", name);
	is_string(cgroup.memory_max, want->memory_max, "%s: memory", name);
	is_double(cgroup_throttled(root), want->throttled, 0,
		  "%s: times throttled", name);
	cgroup_free(&cgroup);
	tree_close(root);
}

static void test_v2(void)
{
	/* The parent has the tighter CPU limit, the child that of memory. */
	static const struct tree_file nested[] = {
		{ "/proc/self/cgroup", "0::/a/b\n" },
		{ "/sys/fs/cgroup/a/b/cpu.max", "400000 200000\n" },
		{ "/sys/fs/cgroup/a/cpu.max", "150000 100000\n" },
		{ "/sys/fs/cgroup/a/b/memory.max", "1000\n" },
		{ "/sys/fs/cgroup/a/memory.max", "2000\n" },
		{ "/sys/fs/cgroup/a/b/cpu.stat", "nr_throttled 3\n" },
		{ "/sys/fs/cgroup/a/cpu.stat",
		  "nr_periods 9\nnr_throttled 4\n" },
		{ 0 },
	};
	static const struct tree_file unlimited[] = {
		{ "/proc/self/cgroup", "0::/a\n" },
		{ "/sys/fs/cgroup/a/cpu.max", "max 100000\n" },
		{ "/sys/fs/cgroup/a/memory.max", "max\n" },
		{ "/sys/fs/cgroup/a/cpu.stat", "usage_usec 5\n" },
		{ 0 },
	};
	/* The path is the host's, the mount the container's. */
	static const struct tree_file elsewhere[] = {
		{ "/proc/self/cgroup", "0::/not/mounted/here\n" },
		{ "/sys/fs/cgroup/cpu.max", "10000 100000\n" },
		{ 0 },
	};
	static const struct tree_file outside[] = {
		{ "/proc/self/cgroup", "0::/../sibling\n" },
		{ "/sys/fs/cgroup/cpu.max", "10000 100000\n" },
		{ "/sys/fs/sibling/cpu.max", "1 100000\n" },
		{ 0 },
	};
	static const struct tree_file garbage[] = {
		{ "/proc/self/cgroup", "0::/a\n" },
		{ "/sys/fs/cgroup/a/cpu.max", "150000\n" },
		{ "/sys/fs/cgroup/cpu.max", "-5 100000\n" },
		{ "/sys/fs/cgroup/a/memory.max", "lots\n" },
		{ "/sys/fs/cgroup/a/cpu.stat", "nr_throttled many\n" },
		{ 0 },
	};

	is_cgroup(nested, &(struct expected){ 2, "150000 100000", "1000", 7 },
		  "v2, nested");
	is_cgroup(unlimited, &(struct expected){ 2, "max 100000", "max", NAN },
		  "v2, unlimited");
	is_cgroup(elsewhere, &(struct expected){ 2, "10000 100000", NULL, NAN },
		  "v2, in a container");
	is_cgroup(outside, &(struct expected){ 2, "10000 100000", NULL, NAN },
		  "v2, outside of the namespace");
	is_cgroup(garbage, &(struct expected){ 2, NULL, NULL, NAN },
		  "v2, garbage");
}

static void test_v1(void)
{
	static const struct tree_file nested[] = {
		{ "/proc/self/cgroup",
		  "0::/\n5:memory:/m/n\n4:cpuset:/x\n3:cpu,cpuacct:/a/b\n" },
		{ "/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n" },
		{ "/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us",
		  "100000\n" },
		{ "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n" },
		{ "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000" },
		{ "/sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "nr_throttled 8\n" },
		{ "/sys/fs/cgroup/memory/m/n/memory.limit_in_bytes",
		  "9223372036854771712\n" },
		{ "/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "4096\n" },
		{ 0 },
	};
	static const struct tree_file linked[] = {
		{ "/proc/self/cgroup", "3:cpuacct,cpu:/\n5:memory:/\n" },
		{ "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n" },
		{ "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n" },
		{ "/sys/fs/cgroup/memory/memory.limit_in_bytes",
		  "9223372036854771712\n" },
		{ 0 },
	};
	/* v1 has the CPUs, v2 the memory. */
	static const struct tree_file hybrid[] = {
		{ "/proc/self/cgroup", "3:cpu:/a\n0::/u\n" },
		{ "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "1000\n" },
		{ "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "2000\n" },
		{ "/sys/fs/cgroup/unified/u/memory.max", "77\n" },
		{ "/sys/fs/cgroup/memory.max", "1\n" },
		{ 0 },
	};
	/* cpuset is not cpu. */
	static const struct tree_file other[] = {
		{ "/proc/self/cgroup", "3:cpuset:/a\n" },
		{ "/sys/fs/cgroup/cpuset/a/cpu.cfs_quota_us", "1\n" },
		{ "/sys/fs/cgroup/cpuset/a/cpu.cfs_period_us", "1\n" },
		{ 0 },
	};

	is_cgroup(nested, &(struct expected){ 1, "50000 100000", "4096", 8 },
		  "v1, nested");
	is_cgroup(linked, &(struct expected){ 1, "max 100000", "max", NAN },
		  "v1, unlimited");
	is_cgroup(hybrid, &(struct expected){ 1, "1000 2000", "77", NAN },
		  "v1 beside v2");
	is_cgroup(other, &(struct expected){ -1, NULL, NULL, NAN },
		  "v1, other controllers");
}

static void test_none(void)
{
	static const char *const lines[] = { "",     "0",   "0:",    "0::",
					     "0::x", ":::", "3:cpu", "3:cpu:" };
	struct tree_file files[2] = { { "/proc/self/cgroup", "" }, { 0 } };
	size_t i;

	is_cgroup(&files[1], &(struct expected){ -1, NULL, NULL, NAN },
		  "no file");
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		files[0].text = lines[i];
		is_cgroup(files, &(struct expected){ -1, NULL, NULL, NAN },
			  "half a line");
	}
}

static void is_left(const struct tree_file *files, double want,
		    const char *name)
{
	const struct tree_machine machine = { .files = files };
	char *root = tree_open();

	tree_fill(root, &machine);
	is_double(cgroup_memory_left(root), want, 0, "memory left: %s", name);
	tree_close(root);
}

static void test_memory_left(void)
{
	/* The parent has the higher limit, and less of it left. */
	static const struct tree_file nested[] = {
		{ "/proc/self/cgroup", "0::/a/b\n" },
		{ "/sys/fs/cgroup/a/b/memory.max", "1000\n" },
		{ "/sys/fs/cgroup/a/b/memory.current", "100\n" },
		{ "/sys/fs/cgroup/a/memory.max", "2000\n" },
		{ "/sys/fs/cgroup/a/memory.current", "1900\n" },
		{ "/sys/fs/cgroup/a/memory.stat",
		  "anon 1000\nactive_file 50\ninactive_file 300\n" },
		{ 0 },
	};
	static const struct tree_file unlimited[] = {
		{ "/proc/self/cgroup", "0::/a\n" },
		{ "/sys/fs/cgroup/a/memory.max", "max\n" },
		{ "/sys/fs/cgroup/a/memory.current", "5000\n" },
		{ 0 },
	};
	static const struct tree_file full[] = {
		{ "/proc/self/cgroup", "0::/a\n" },
		{ "/sys/fs/cgroup/a/memory.max", "1000\n" },
		{ "/sys/fs/cgroup/a/memory.current", "1200\n" },
		{ 0 },
	};
	static const struct tree_file v1[] = {
		{ "/proc/self/cgroup", "4:memory:/a\n0::/b\n" },
		{ "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000\n" },
		{ "/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "700\n" },
		{ "/sys/fs/cgroup/memory/a/memory.stat",
		  "inactive_file 1\ntotal_inactive_file 200\n" },
		{ 0 },
	};
	static const struct tree_file none[] = {
		{ "/proc/self/stat", "" },
		{ 0 },
	};

	is_left(nested, 400, "the level with the least, page cache apart");
	is_left(unlimited, INFINITY, "no limit");
	is_left(full, 0, "more used than allowed");
	is_left(v1, 500, "v1");
	is_left(none, NAN, "unknown");
}

int main(void)
{
	test_v2();
	test_v1();
	test_none();
	test_memory_left();
	return done();
}
