/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement: the order of CPUs on machines of every shape, and lists that
 * users give. What needs this machine is in bind.c.
 *
 * The order is judged by its defining properties, counted anew here, not by
 * lists written down; a few small machines are spelled out as well.
 */
#include <config.h>

#include <errno.h>
#include <hwloc.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/placement.h"
#include "core/random.h"
#include "tap.h"

/* OS numbers of cores begin anew in each package, as they do on machines. */
static hwloc_topology_t synthetic(const char *description)
{
	hwloc_topology_t topology;
	hwloc_obj_t core = NULL;

	if (hwloc_topology_init(&topology) < 0 ||
	    hwloc_topology_set_synthetic(topology, description) < 0 ||
	    hwloc_topology_load(topology) < 0)
		abort();
	while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE,
						  core)))
		core->os_index = core->sibling_rank;
	return topology;
}

static hwloc_bitmap_t set_of(const char *list)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	if (!set || hwloc_bitmap_list_sscanf(set, list) < 0)
		abort();
	return set;
}

/* The order as text, "0,2,1"; malloc'ed. */
static char *join(const struct placement *placement)
{
	size_t size = 0;
	char *text = NULL;
	FILE *to = open_memstream(&text, &size);

	for (size_t i = 0; i < placement->n; i++)
		fprintf(to, "%s%u", i ? "," : "", placement->cpu[i]);
	fclose(to);
	return text;
}

static void is_order(hwloc_topology_t topology, const char *allowed,
		     const char *want, const char *what)
{
	hwloc_bitmap_t set = set_of(allowed);
	struct placement placement;
	char *got;

	if (!ok(placement_order(topology, set, &placement) == 0, "%s", what)) {
		hwloc_bitmap_free(set);
		return;
	}
	got = join(&placement);
	is_string(got, want, "%s: CPUs %s", what, allowed);
	free(got);
	placement_close(&placement);
	hwloc_bitmap_free(set);
}

/* The object of the type that the CPU belongs to. */
static hwloc_obj_t ancestor(hwloc_topology_t topology, unsigned int cpu,
			    hwloc_obj_type_t type)
{
	hwloc_obj_t obj = hwloc_get_pu_obj_by_os_index(topology, cpu);

	if (obj)
		obj = hwloc_get_ancestor_obj_by_type(topology, type, obj);
	if (!obj)
		abort();
	return obj;
}

static unsigned int core_of(hwloc_topology_t topology, unsigned int cpu)
{
	return ancestor(topology, cpu, HWLOC_OBJ_CORE)->logical_index;
}

/* Each allowed CPU is there once, and nothing else. */
static bool is_permutation(const struct placement *placement,
			   hwloc_const_bitmap_t allowed)
{
	hwloc_bitmap_t seen = hwloc_bitmap_alloc();
	bool same;

	for (size_t i = 0; i < placement->n; i++)
		hwloc_bitmap_set(seen, placement->cpu[i]);
	same = hwloc_bitmap_isequal(seen, allowed) &&
	       (size_t)hwloc_bitmap_weight(seen) == placement->n;
	hwloc_bitmap_free(seen);
	return same;
}

/*
 * No core is given its (k + 1)th CPU while another has CPUs left and fewer
 * than k.
 */
static bool spreads_over_cores(hwloc_topology_t topology,
			       hwloc_const_bitmap_t allowed,
			       const struct placement *placement)
{
	int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
	int *used = calloc((unsigned int)cores, sizeof(*used));
	int *left = calloc((unsigned int)cores, sizeof(*left));
	bool spread = true;
	int cpu;

	if (!used || !left)
		abort();
	for (cpu = hwloc_bitmap_first(allowed); cpu >= 0;
	     cpu = hwloc_bitmap_next(allowed, cpu))
		left[core_of(topology, (unsigned int)cpu)]++;
	for (size_t i = 0; i < placement->n; i++) {
		unsigned int own = core_of(topology, placement->cpu[i]);

		spread &= placement->core[i] == own;
		for (int c = 0; c < cores; c++)
			spread &= !left[c] || used[c] >= used[own];
		used[own]++;
		left[own]--;
	}
	free(used);
	free(left);
	return spread;
}

/*
 * Among the first CPUs of the cores, objects of the type are used one after the
 * other: none is come back to.
 */
static bool fills_in_turn(hwloc_topology_t topology,
			  const struct placement *placement,
			  hwloc_obj_type_t type)
{
	hwloc_bitmap_t cores = hwloc_bitmap_alloc();
	hwloc_bitmap_t past = hwloc_bitmap_alloc();
	hwloc_obj_t last = NULL;
	bool in_turn = true;

	for (size_t i = 0; i < placement->n; i++) {
		hwloc_obj_t obj = ancestor(topology, placement->cpu[i], type);

		if (hwloc_bitmap_isset(cores, placement->core[i]))
			break;
		hwloc_bitmap_set(cores, placement->core[i]);
		if (obj != last) {
			in_turn &=
				!hwloc_bitmap_isset(past, obj->logical_index);
			hwloc_bitmap_set(past, obj->logical_index);
		}
		last = obj;
	}
	hwloc_bitmap_free(cores);
	hwloc_bitmap_free(past);
	return in_turn;
}

static size_t count_cores(hwloc_topology_t topology,
			  hwloc_const_bitmap_t allowed)
{
	hwloc_obj_t core = NULL;
	size_t cores = 0;

	while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE,
						  core)))
		cores += (size_t)hwloc_bitmap_intersects(core->cpuset, allowed);
	return cores;
}

static void check_properties(hwloc_topology_t topology,
			     hwloc_const_bitmap_t allowed, const char *what)
{
	struct placement placement;

	if (!ok(placement_order(topology, allowed, &placement) == 0,
		"%s: has an order", what))
		return;
	ok(is_permutation(&placement, allowed), "%s: each CPU once", what);
	ok(spreads_over_cores(topology, allowed, &placement),
	   "%s: distinct cores first", what);
	ok(fills_in_turn(topology, &placement, HWLOC_OBJ_PACKAGE),
	   "%s: package by package", what);
	is_int(placement.cores, count_cores(topology, allowed), "%s: cores",
	       what);
	is_int(placement.kinds, 1, "%s: one kind", what);
	is_int(placement.kind[0], -1, "%s: not hybrid", what);
	placement_close(&placement);
}

/* A random non-empty part of the topology, a CPU in one to four. */
static hwloc_bitmap_t random_part(hwloc_topology_t topology, uint64_t seed)
{
	hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(topology);
	hwloc_bitmap_t part = hwloc_bitmap_alloc();
	uint64_t drawn = 0, one_in = 1 + random_stream(seed, drawn++) % 4;
	int cpu;

	for (cpu = hwloc_bitmap_first(all); cpu >= 0;
	     cpu = hwloc_bitmap_next(all, cpu))
		if (random_stream(seed, drawn++) % one_in == 0)
			hwloc_bitmap_set(part, (unsigned int)cpu);
	if (hwloc_bitmap_iszero(part))
		hwloc_bitmap_set(part, (unsigned int)hwloc_bitmap_last(all));
	return part;
}

static void test_shapes(void)
{
	static const char *const shapes[] = {
		"pack:1 core:1 pu:1",
		"pack:1 core:2 pu:1",
		"pack:2 core:4 pu:2",
		"pack:2 core:3 pu:8",
		"pack:2 numa:2 core:2 pu:2",
		/* siblings far apart, as Linux numbers them */
		"pack:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)",
		/* packages interleaved */
		"pack:2 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)",
	};
	uint64_t seed = 1;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		hwloc_topology_t topology = synthetic(shapes[i]);

		check_properties(topology,
				 hwloc_topology_get_topology_cpuset(topology),
				 shapes[i]);
		for (int round = 0; round < 5; round++) {
			hwloc_bitmap_t part = random_part(topology, seed++);

			check_properties(topology, part, shapes[i]);
			hwloc_bitmap_free(part);
		}
		hwloc_topology_destroy(topology);
	}
}

static void test_small_machines(void)
{
	hwloc_topology_t topology = synthetic("pack:2 core:2 pu:2");

	is_order(topology, "0-7", "0,2,4,6,1,3,5,7", "two packages");
	is_order(topology, "1-7", "1,2,4,6,3,5,7", "CPU 0 missing");
	is_order(topology, "1,4-7", "1,4,6,5,7", "one sibling only");
	is_order(topology, "6", "6", "one CPU");
	is_order(topology, "4-1000", "4,6,5,7", "allowed but not there");
	is_order(topology, "4-", "4,6,5,7", "an infinite set");
	hwloc_topology_destroy(topology);

	topology = synthetic("numa:2 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)");
	is_order(topology, "0-7", "0,2,4,6,1,3,5,7", "NUMA nodes interleaved");
	hwloc_topology_destroy(topology);

	topology = synthetic("pack:1 core:3 pu:2(indexes=0,3,1,4,2,5)");
	is_order(topology, "0-5", "0,1,2,3,4,5", "siblings far apart");
	hwloc_topology_destroy(topology);
}

/* As after a CPU has been taken offline. */
static void test_restricted(void)
{
	hwloc_topology_t topology = synthetic("pack:1 core:4 pu:2");
	hwloc_bitmap_t online = set_of("1-2,4-7");
	struct placement placement;

	hwloc_topology_restrict(topology, online, 0);
	is_order(topology, "0-7", "1,2,4,6,5,7", "offline CPUs");
	hwloc_bitmap_only(online, 0);
	errno = 0;
	ok(placement_order(topology, online, &placement) < 0 && errno == ENODEV,
	   "no CPU that is there and allowed: ENODEV");
	hwloc_bitmap_zero(online);
	errno = 0;
	ok(placement_order(topology, online, &placement) < 0 && errno == ENODEV,
	   "no CPU allowed: ENODEV");
	hwloc_bitmap_free(online);
	hwloc_topology_destroy(topology);
}

static void test_large(void)
{
	hwloc_topology_t topology = synthetic("pack:4 core:192 pu:2");
	hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(topology);
	struct placement placement;
	char *why;

	check_properties(topology, all, "1536 CPUs");
	if (ok(placement_parse(topology, all, "1535-1535,0-1534", &placement,
			       &why) == 0,
	       "a list of 1536 CPUs")) {
		is_int(placement.n, 1536, "all of them");
		is_int(placement.cpu[0], 1535, "the first named");
		is_int(placement.cpu[1535], 1534, "the last named");
		is_int(placement.core[0], 767, "its core");
		is_int(placement.cores, 768, "the cores");
		placement_close(&placement);
	}
	free(why);
	hwloc_topology_destroy(topology);
}

static void test_no_cores(void)
{
	hwloc_topology_t topology = synthetic("pu:4");
	struct placement placement;

	is_order(topology, "0-3", "0,1,2,3", "no cores known");
	if (placement_order(topology,
			    hwloc_topology_get_topology_cpuset(topology),
			    &placement) == 0) {
		is_int(placement.cores, 4, "each CPU counts as a core");
		placement_close(&placement);
	}
	hwloc_topology_destroy(topology);
}

static void register_kind(hwloc_topology_t topology, const char *cpus,
			  int efficiency)
{
	hwloc_bitmap_t set = set_of(cpus);

	if (hwloc_cpukinds_register(topology, set, efficiency, 0, NULL, 0) < 0)
		abort();
	hwloc_bitmap_free(set);
}

/* Four slow cores, two fast ones, and two that are slower still. */
static void test_hybrid(void)
{
	hwloc_topology_t topology = synthetic("pack:1 core:8 pu:2");
	hwloc_bitmap_t allowed = set_of("0-15");
	struct placement placement;

	register_kind(topology, "8-11", 20);
	register_kind(topology, "0-7", 10);
	register_kind(topology, "12-15", 5);
	is_order(topology, "0-15", "8,10,0,2,4,6,12,14,9,11,1,3,5,7,13,15",
		 "the fastest kind first");
	is_order(topology, "0-7", "0,2,4,6,1,3,5,7", "one kind allowed");
	if (ok(placement_order(topology, allowed, &placement) == 0, "hybrid")) {
		is_int(placement.kinds, 3, "three kinds");
		is_int(placement.cores, 8, "eight cores");
		ok(placement.kind[0] == placement.kind[1] &&
			   placement.kind[0] == placement.kind[8] &&
			   placement.kind[1] != placement.kind[2] &&
			   placement.kind[2] == placement.kind[5] &&
			   placement.kind[5] != placement.kind[6] &&
			   placement.kind[0] != placement.kind[6] &&
			   placement.kind[0] >= 0 && placement.kind[2] >= 0 &&
			   placement.kind[6] >= 0,
		   "kinds told apart");
		placement_close(&placement);
	}
	hwloc_bitmap_free(allowed);
	hwloc_topology_destroy(topology);
}

/* Some CPUs have no kind, and the ranking is unknown. */
static void test_unranked_kinds(void)
{
	hwloc_topology_t topology = synthetic("pack:1 core:6 pu:1");
	hwloc_bitmap_t allowed = set_of("0-5");
	struct placement placement;

	register_kind(topology, "4-5", -1);
	register_kind(topology, "1-2", -1);
	if (ok(placement_order(topology, allowed, &placement) == 0,
	       "unranked kinds")) {
		ok(placement.kind[0] >= 0 &&
			   placement.kind[0] == placement.kind[1] &&
			   placement.kind[2] >= 0 &&
			   placement.kind[2] == placement.kind[3] &&
			   placement.kind[0] != placement.kind[2],
		   "kinds are kept apart");
		is_int(placement.kind[4], -1, "the unknown come last");
		is_int(placement.kind[5], -1, "the unknown come last");
		is_int(placement.kinds, 3, "the unknown may be a third");
		placement_close(&placement);
	}
	hwloc_bitmap_free(allowed);
	hwloc_topology_destroy(topology);
}

static void test_lists(void)
{
	static const struct {
		const char *list, *want;
	} cases[] = {
		{ "0", "0" },
		{ "3,1,7", "3,1,7" },
		{ "1-3,0", "1,2,3,0" },
		{ "7-7", "7" },
		{ "4-7,1-2", "4,5,6,7,1,2" },
		{ "007,00-1", "7,0,1" },
	};
	hwloc_topology_t topology = synthetic("pack:1 core:4 pu:2");
	hwloc_bitmap_t allowed = set_of("0-7");
	struct placement placement;
	char *why, *got;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!ok(placement_parse(topology, allowed, cases[i].list,
					&placement, &why) == 0,
			"list '%s'", cases[i].list)) {
			free(why);
			continue;
		}
		got = join(&placement);
		is_string(got, cases[i].want, "list '%s'", cases[i].list);
		ok(!why, "no complaint");
		free(got);
		placement_close(&placement);
	}
	if (placement_parse(topology, allowed, "5,4,0", &placement, &why) ==
	    0) {
		is_int(placement.core[0], 2, "core of CPU 5");
		is_int(placement.core[2], 0, "core of CPU 0");
		is_int(placement.cores, 2, "two siblings, two cores");
		is_int(placement.kind[0], -1, "not hybrid");
		placement_close(&placement);
	}
	hwloc_bitmap_free(allowed);
	hwloc_topology_destroy(topology);
}

static void is_refused(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
		       const char *list, int error, const char *want)
{
	struct placement placement;
	char *why = NULL;

	errno = 0;
	ok(placement_parse(topology, allowed, list, &placement, &why) < 0,
	   "'%s' is refused", list);
	is_int(errno, error, "'%s': errno", list);
	is_string(why, want, "'%s': why", list);
	placement_close(&placement);
	free(why);
}

static void test_bad_lists(void)
{
#define SYNTAX ": expected CPU numbers and ranges such as 0-3,8"
#define CPUS " is not one that this process may use (1-2,5-7)"
	static const struct {
		const char *list, *why;
	} cases[] = {
		{ "", "''" SYNTAX },
		{ ",", "','" SYNTAX },
		{ "1,", "'1,'" SYNTAX },
		{ ",1", "',1'" SYNTAX },
		{ "1,,2", "'1,,2'" SYNTAX },
		{ "a", "'a'" SYNTAX },
		{ "1a", "'1a'" SYNTAX },
		{ "1-", "'1-'" SYNTAX },
		{ "-1", "'-1'" SYNTAX },
		{ "+1", "'+1'" SYNTAX },
		{ "0x1", "'0x1'" SYNTAX },
		{ "1.5", "'1.5'" SYNTAX },
		{ "1-3-5", "'1-3-5'" SYNTAX },
		{ " 1", "' 1'" SYNTAX },
		{ "1 ", "'1 '" SYNTAX },
		{ "1\n", "'1\n'" SYNTAX },
		{ "1, 2", "'1, 2'" SYNTAX },
		{ "1-+2", "'1-+2'" SYNTAX },
		{ "7-5", "'7-5': expected a range in ascending order" },
		{ "1,5-2", "'5-2': expected a range in ascending order" },
		{ "0", "CPU 0" CPUS },
		{ "1-3", "CPU 3" CPUS },
		{ "5-99999999999", "CPU 8" CPUS },
		{ "5-4294967295", "CPU 8" CPUS },
		{ "4294967297", "CPU 4294967297" CPUS },
		{ "5-99999999999999999999", "CPU 8" CPUS },
		{ "99999999999999999999", "CPU 18446744073709551615" CPUS },
		{ "1,1", "CPU 1 is named twice" },
		{ "1-2,2", "CPU 2 is named twice" },
		{ "5-7,6-7", "CPU 6 is named twice" },
	};
	hwloc_topology_t topology = synthetic("pack:1 core:4 pu:2");
	hwloc_bitmap_t allowed = set_of("1-2,5-");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_refused(topology, allowed, cases[i].list, EINVAL,
			   cases[i].why);
	hwloc_bitmap_zero(allowed);
	is_refused(topology, allowed, "0", ENODEV,
		   "there is no CPU this process may use");
	hwloc_bitmap_free(allowed);
	hwloc_topology_destroy(topology);
}

/*
 * The same question answered another way: the grammar by regcomp(3), the CPUs
 * by a table. Returns the number of CPUs named, 0 for a list to be refused.
 */
static size_t oracle(const regex_t *grammar, const char *list,
		     unsigned int *cpu)
{
	unsigned int named[10] = { 0 };
	size_t n = 0;

	if (regexec(grammar, list, 0, NULL, 0) != 0)
		return 0;
	for (const char *at = list; *at;) {
		unsigned int first, last;
		int length = 0;

		if (sscanf(at, "%u-%u%n", &first, &last, &length) < 2 ||
		    !length) {
			sscanf(at, "%u%n", &first, &length);
			last = first;
		}
		if (first > last)
			return 0;
		for (unsigned int c = first; c <= last; c++) {
			if (c >= 8 || c == 3 || named[c]++)
				return 0;
			cpu[n++] = c;
		}
		at += length;
		at += *at == ',';
	}
	return n;
}

static void test_random_lists(void)
{
	static const char letters[] = "0123456789,,,,----a ";
	hwloc_topology_t topology = synthetic("pack:1 core:4 pu:2");
	hwloc_bitmap_t allowed = set_of("0-2,4-7");
	int accepted = 0, wrong = 0;
	uint64_t drawn = 0;
	regex_t grammar;

	if (regcomp(&grammar, "^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$",
		    REG_EXTENDED | REG_NOSUB) != 0)
		abort();
	for (int round = 0; round < 20000; round++) {
		unsigned int want[8];
		struct placement got;
		char list[8] = "";
		char *why = NULL;
		size_t n = random_stream(2, drawn++) % sizeof(list);

		for (size_t i = 0; i < n; i++)
			list[i] = letters[random_stream(2, drawn++) %
					  (sizeof(letters) - 1)];
		n = oracle(&grammar, list, want);
		if (placement_parse(topology, allowed, list, &got, &why) < 0) {
			wrong += n != 0 || !why;
		} else {
			accepted++;
			wrong += n != got.n ||
				 memcmp(want, got.cpu, n * sizeof(*want)) != 0;
		}
		placement_close(&got);
		free(why);
	}
	is_int(wrong, 0, "random lists, judged another way");
	ok(accepted > 100, "enough of them are right (%d)", accepted);
	regfree(&grammar);
	hwloc_bitmap_free(allowed);
	hwloc_topology_destroy(topology);
}

int main(void)
{
	test_shapes();
	test_small_machines();
	test_restricted();
	test_large();
	test_no_cores();
	test_hybrid();
	test_unranked_kinds();
	test_lists();
	test_bad_lists();
	test_random_lists();
	return done();
}
