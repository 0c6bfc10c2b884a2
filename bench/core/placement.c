/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement: see placement.h.
 *
 * hwloc numbers CPUs depth first ("logical index"): those of a core are
 * neighbours, so are the cores of a NUMA node and of a package. Sorting by that
 * number alone therefore keeps threads close together.
 */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "placement.h"
#include "why.h"

struct pu {
	unsigned int cpu;     /* OS index */
	unsigned int logical; /* hwloc's, in topological order */
	unsigned int core;
	unsigned int sibling; /* usable CPUs of the core that come before */
	int kind;
	int slowness; /* of the kind; 0 is the fastest */
	bool taken;   /* by the list being parsed */
};

struct pu_list {
	struct pu *pu;
	size_t n;
};

/* How far the kind is from the fastest; what has no kind comes last. */
static int rank_kind(hwloc_topology_t topology, int kind)
{
	int kinds = hwloc_cpukinds_get_nr(topology, 0);
	int efficiency;

	if (kind < 0)
		return kinds;
	/* Unranked kinds are at least kept apart. */
	if (hwloc_cpukinds_get_info(topology, (unsigned int)kind, NULL,
				    &efficiency, NULL, NULL, 0) < 0 ||
	    efficiency < 0)
		return kind;
	return kinds - 1 - efficiency;
}

static void describe_pu(hwloc_topology_t topology, hwloc_obj_t obj,
			struct pu *pu)
{
	int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
	hwloc_obj_t core;

	core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, obj);
	*pu = (struct pu){
		.cpu = obj->os_index,
		.logical = obj->logical_index,
		.core = core ? core->logical_index :
			       (unsigned int)cores + obj->logical_index,
		.kind = -1,
	};
	/* A single kind only says that the part is not hybrid. */
	if (hwloc_cpukinds_get_nr(topology, 0) > 1)
		pu->kind =
			hwloc_cpukinds_get_by_cpuset(topology, obj->cpuset, 0);
	pu->slowness = rank_kind(topology, pu->kind);
}

/* The CPUs of the topology that are allowed, in topological order. */
static int list_usable(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
		       struct pu_list *list)
{
	int pus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	hwloc_obj_t obj = NULL;

	*list = (struct pu_list){ 0 };
	if (pus > 0)
		list->pu = calloc((size_t)pus, sizeof(*list->pu));
	if (pus > 0 && !list->pu)
		return -1;
	while ((obj = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU,
						 obj))) {
		struct pu *pu = &list->pu[list->n];

		if (!hwloc_bitmap_isset(allowed, obj->os_index))
			continue;
		describe_pu(topology, obj, pu);
		if (list->n > 0 && pu[-1].core == pu->core)
			pu->sibling = pu[-1].sibling + 1;
		list->n++;
	}
	if (list->n > 0)
		return 0;
	free(list->pu);
	list->pu = NULL;
	errno = ENODEV;
	return -1;
}

static int compare_pus(const void *left, const void *right)
{
	const struct pu *a = left, *b = right;

	if (a->sibling != b->sibling)
		return a->sibling < b->sibling ? -1 : 1;
	if (a->slowness != b->slowness)
		return a->slowness < b->slowness ? -1 : 1;
	return a->logical < b->logical ? -1 : a->logical > b->logical;
}

/* Count the distinct cores and kinds. */
static int count_distinct(struct placement *out)
{
	hwloc_bitmap_t cores = hwloc_bitmap_alloc();
	hwloc_bitmap_t kinds = hwloc_bitmap_alloc();
	bool failed = !cores || !kinds;

	for (size_t i = 0; i < out->n && !failed; i++)
		failed = hwloc_bitmap_set(cores, out->core[i]) < 0 ||
			 hwloc_bitmap_set(kinds,
					  (unsigned int)(out->kind[i] + 1)) < 0;
	if (!failed) {
		out->cores = (size_t)hwloc_bitmap_weight(cores);
		out->kinds = (size_t)hwloc_bitmap_weight(kinds);
	}
	hwloc_bitmap_free(cores);
	hwloc_bitmap_free(kinds);
	if (failed)
		errno = ENOMEM;
	return failed ? -1 : 0;
}

static int fill(struct placement *out, const struct pu_list *list)
{
	out->n = list->n;
	out->cpu = calloc(list->n, sizeof(*out->cpu));
	out->core = calloc(list->n, sizeof(*out->core));
	out->kind = calloc(list->n, sizeof(*out->kind));
	if (!out->cpu || !out->core || !out->kind)
		goto failed;
	for (size_t i = 0; i < list->n; i++) {
		out->cpu[i] = list->pu[i].cpu;
		out->core[i] = list->pu[i].core;
		out->kind[i] = list->pu[i].kind;
	}
	if (count_distinct(out) == 0)
		return 0;
failed:
	placement_close(out);
	errno = ENOMEM;
	return -1;
}

int placement_order(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
		    struct placement *out)
{
	struct pu_list usable;
	int status;

	*out = (struct placement){ 0 };
	if (list_usable(topology, allowed, &usable) < 0)
		return -1;
	qsort(usable.pu, usable.n, sizeof(*usable.pu), compare_pus);
	status = fill(out, &usable);
	free(usable.pu);
	return status;
}

static struct pu *find_pu(const struct pu_list *list, unsigned long cpu)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->pu[i].cpu == cpu)
			return &list->pu[i];
	return NULL;
}

static int refuse_cpu(char **why, const struct pu_list *usable,
		      unsigned long cpu)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	char *text = NULL;

	for (size_t i = 0; set && i < usable->n; i++)
		hwloc_bitmap_set(set, usable->pu[i].cpu);
	if (!set || hwloc_bitmap_list_asprintf(&text, set) < 0)
		text = NULL;
	why_set(why, EINVAL,
		"CPU %lu is not one that this process may use (%s)", cpu,
		text ? text : "?");
	free(text);
	hwloc_bitmap_free(set);
	errno = EINVAL;
	return -1;
}

/* Append the CPUs first..last to chosen, which has room for all usable ones. */
static int choose(struct pu_list *chosen, const struct pu_list *usable,
		  unsigned long first, unsigned long last, char **why)
{
	/* Ends at the first CPU that is not usable, however long the range. */
	for (unsigned long cpu = first; cpu <= last; cpu++) {
		struct pu *pu = find_pu(usable, cpu);

		if (!pu)
			return refuse_cpu(why, usable, cpu);
		if (pu->taken)
			return why_set(why, EINVAL, "CPU %lu is named twice",
				       cpu);
		pu->taken = true;
		chosen->pu[chosen->n++] = *pu;
	}
	return 0;
}

/* Parse a number without sign or blanks; *text is moved behind it. */
static bool parse_number(const char **text, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	/* ULONG_MAX where it overflows: no CPU either. */
	*number = strtoul(*text, &end, 10);
	*text = end;
	return true;
}

static int parse_list(struct pu_list *chosen, const struct pu_list *usable,
		      const char *list, char **why)
{
	const char *at = list, *item;
	unsigned long first, last;

	for (;; at++) {
		item = at;
		if (!parse_number(&at, &first))
			break;
		last = first;
		if (*at == '-') {
			at++;
			if (!parse_number(&at, &last))
				break;
		}
		if (*at && *at != ',')
			break;
		if (first > last)
			return why_set(why, EINVAL,
				       "'%.*s': expected a range in ascending "
				       "order",
				       (int)(at - item), item);
		if (choose(chosen, usable, first, last, why) < 0)
			return -1;
		if (!*at)
			return 0;
	}
	return why_set(why, EINVAL,
		       "'%s': expected CPU numbers and ranges such as 0-3,8",
		       list);
}

static int refuse_all(char **why, int error)
{
	return why_set(why, error, "%s",
		       error == ENODEV ?
			       "there is no CPU this process may use" :
			       strerror(error));
}

int placement_parse(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
		    const char *list, struct placement *out, char **why)
{
	struct pu_list usable, chosen = { 0 };
	int status = -1, error;

	*out = (struct placement){ 0 };
	*why = NULL;
	if (list_usable(topology, allowed, &usable) < 0)
		return refuse_all(why, errno);
	chosen.pu = calloc(usable.n, sizeof(*chosen.pu));
	if (!chosen.pu)
		why_set(why, ENOMEM, "%s", strerror(ENOMEM));
	else if (parse_list(&chosen, &usable, list, why) == 0)
		status = fill(out, &chosen);
	error = errno;
	free(chosen.pu);
	free(usable.pu);
	errno = error;
	return status;
}

/*
 * Load the topology of this machine, without what placement has no use for.
 * hwloc's x86 backend learns the topology by binding the thread to each CPU in
 * turn; with_cpuid is for where /sys is missing or hidden.
 */
static hwloc_topology_t load(bool with_cpuid)
{
	hwloc_topology_t topology;
	int error;

	if (hwloc_topology_init(&topology) < 0)
		return NULL;
	hwloc_topology_set_io_types_filter(topology,
					   HWLOC_TYPE_FILTER_KEEP_NONE);
	if (!with_cpuid)
		hwloc_topology_set_components(
			topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
			"x86");
	if (hwloc_topology_load(topology) == 0)
		return topology;
	error = errno;
	hwloc_topology_destroy(topology);
	errno = error;
	return NULL;
}

static hwloc_topology_t load_quietly(void)
{
	/* hwloc's value for "not even critical errors on stderr" */
	bool silenced = !getenv("HWLOC_HIDE_ERRORS") &&
			setenv("HWLOC_HIDE_ERRORS", "2", 0) == 0;
	hwloc_topology_t topology = load(false), better;
	int error = errno;

	if (topology && hwloc_topology_is_thissystem(topology) &&
	    hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) < 1) {
		better = load(true);
		if (better) {
			hwloc_topology_destroy(topology);
			topology = better;
		}
	}
	if (silenced)
		unsetenv("HWLOC_HIDE_ERRORS");
	errno = error;
	return topology;
}

/* hwloc asks for the affinity in a loop that ends only when it is told. */
static bool affinity_is_readable(void)
{
	return syscall(SYS_sched_getaffinity, 0, (size_t)0, NULL) >= 0 ||
	       errno == EINVAL;
}

/* The CPUs of cgroup and affinity; NULL with errno. */
static hwloc_bitmap_t read_allowed(hwloc_topology_t topology)
{
	hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
	int error;

	if (!allowed)
		return NULL;
	/* The process needs /proc; its threads have the same before binding. */
	if (hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) < 0 &&
	    hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_THREAD) < 0)
		goto failed;
	if (hwloc_bitmap_and(allowed, allowed,
			     hwloc_topology_get_allowed_cpuset(topology)) == 0)
		return allowed;
failed:
	error = errno;
	hwloc_bitmap_free(allowed);
	errno = error;
	return NULL;
}

static int open_on(hwloc_topology_t topology, struct placement *out,
		   const char *list, char **why)
{
	hwloc_bitmap_t allowed;
	int status, error;

	if (!hwloc_topology_is_thissystem(topology))
		return why_set(why, ENOTSUP,
			       "HWLOC_XMLFILE, HWLOC_SYNTHETIC or HWLOC_FSROOT "
			       "describes another machine");
	allowed = read_allowed(topology);
	if (!allowed) {
		error = errno == EINVAL ? EIO : errno;
		return why_set(why, error,
			       "the CPUs of this process cannot be read: %s",
			       strerror(error));
	}
	if (list) {
		status = placement_parse(topology, allowed, list, out, why);
	} else {
		status = placement_order(topology, allowed, out);
		if (status < 0)
			refuse_all(why, errno);
	}
	error = errno;
	hwloc_bitmap_free(allowed);
	errno = error;
	return status;
}

int placement_open(struct placement *out, const char *list, char **why)
{
	hwloc_topology_t topology;
	int error;

	*out = (struct placement){ 0 };
	*why = NULL;
	if (!affinity_is_readable()) {
		error = errno;
		return why_set(why, error,
			       "the CPUs of this process cannot be read: %s",
			       strerror(error));
	}
	topology = load_quietly();
	if (!topology) {
		/* EINVAL is for the list. */
		error = errno == ENOMEM ? ENOMEM : ENODEV;
		return why_set(why, error, "hwloc cannot read the topology");
	}
	if (open_on(topology, out, list, why) == 0) {
		out->topology = topology;
		return 0;
	}
	error = errno;
	hwloc_topology_destroy(topology);
	errno = error;
	return -1;
}

static int bind_to(hwloc_topology_t topology, unsigned int cpu,
		   hwloc_bitmap_t want, hwloc_bitmap_t got)
{
	if (hwloc_bitmap_only(want, cpu) < 0 ||
	    hwloc_set_cpubind(topology, want,
			      HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) <
		    0 ||
	    hwloc_get_cpubind(topology, got, HWLOC_CPUBIND_THREAD) < 0)
		return -1;
	/* Some sandboxes store the mask and don't follow it. */
	if (hwloc_bitmap_isequal(want, got) && sched_getcpu() == (int)cpu)
		return 0;
	errno = ENOTSUP;
	return -1;
}

int placement_bind(const struct placement *placement, unsigned int cpu)
{
	hwloc_topology_t topology = placement->topology;
	hwloc_bitmap_t want, got;
	int status = -1, error;

	if (!topology ||
	    !hwloc_bitmap_isset(hwloc_topology_get_complete_cpuset(topology),
				cpu)) {
		errno = EINVAL;
		return -1;
	}
	want = hwloc_bitmap_alloc();
	got = hwloc_bitmap_alloc();
	if (want && got)
		status = bind_to(topology, cpu, want, got);
	error = errno;
	hwloc_bitmap_free(want);
	hwloc_bitmap_free(got);
	errno = error;
	return status;
}

void placement_close(struct placement *placement)
{
	free(placement->cpu);
	free(placement->core);
	free(placement->kind);
	if (placement->topology)
		hwloc_topology_destroy(placement->topology);
	*placement = (struct placement){ 0 };
}
