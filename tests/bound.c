/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bound: a thread or process that is moved from its CPU is noticed, and why. */
#include <config.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/affinity.h"
#include "core/bound.h"
#include "core/placement.h"
#include "core/team.h"
#include "tap.h"
#include "tree.h"

#define MEMBERS 3

/* Where each member can be found; shared with processes. */
struct where {
	atomic_int tid[MEMBERS];
};

static void leave_tid(void *context, size_t index)
{
	struct where *where = context;

	atomic_store(&where->tid[index], gettid());
}

/* Let a thread run on every CPU of the mask that this process began with. */
static void widen(pid_t tid, const struct affinity *all)
{
	if (sched_setaffinity(tid, all->size, all->set) < 0)
		diag("sched_setaffinity: %s", strerror(errno));
}

static void is_lost(const char *online, unsigned int cpu, const char *want,
		    const char *name)
{
	char *root = tree_open(), *why = NULL;

	if (online)
		tree_write(root, "/sys/devices/system/cpu/online", online);
	errno = 0;
	is_int(bound_lost(root, cpu, &why), -1, "%s: lost", name);
	is_int(errno, ECANCELED, "%s: errno", name);
	ok(why && strstr(why, want), "%s: says '%s'", name,
	   why ? why : "nothing");
	free(why);
	tree_close(root);
}

static void test_why(void)
{
	is_lost("0\n", 1, "CPU 1 went offline", "offline");
	is_lost("0-1,3-7\n", 2, "CPU 2 went offline", "offline between others");
	is_lost("0-3\n", 2, "affinity", "online");
	is_lost("\n", 0, "affinity", "an empty list");
	is_lost("none\n", 0, "affinity", "no list");
	is_lost(NULL, 0, "affinity", "no file");
}

static void test_caller(const struct placement *placement,
			const struct affinity *all)
{
	unsigned int cpu = placement->cpu[1], other = placement->cpu[0];
	char *why = NULL;

	ok(!bound_to(cpu), "not bound at first");
	is_int(placement_bind(placement, cpu), 0, "bind");
	ok(bound_to(cpu), "bound");
	ok(!bound_to(other), "and to no other");
	is_int(bound_check("", cpu, &why), 0, "checked");
	widen(0, all);
	ok(!bound_to(cpu), "may run on others");
	is_int(bound_check("", cpu, &why), -1, "and that is an error");
	free(why);
}

/* The member that is moved, MEMBERS: none. */
static void test_team(const struct placement *placement,
		      const struct affinity *all, bool processes, int moved)
{
	const char *kind = processes ? "processes" : "threads";
	struct where *where = mmap(NULL, sizeof(*where), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct team *team = (processes ? team_open_processes : team_open)(
		MEMBERS, placement, 0, leave_tid, where);
	char *why = NULL;

	if (!ok(team && team_run(team, NULL) == 0, "%s run", kind))
		return;
	team_park(team);
	is_int(team_bound(team, "", &why), 0, "%s are bound", kind);
	team_run(team, NULL);
	if (moved < MEMBERS)
		widen(atomic_load(&where->tid[moved]), all);
	team_park(team);
	is_int(team_bound(team, "", &why), moved < MEMBERS ? -1 : 0,
	       "%s, %d moved", kind, moved);
	team_run(team, NULL);
	team_park(team);
	free(why);
	is_int(team_bound(team, "", &why), moved < MEMBERS ? -1 : 0,
	       "%s: nor later", kind);
	free(why);
	team_close(team);
	munmap(where, sizeof(*where));
}

int main(void)
{
	struct placement placement;
	struct affinity all;
	char *why;
	int i;

	test_why();
	if (affinity_get(&all) < 0 ||
	    placement_open(&placement, NULL, &why) < 0) {
		skip(1, "cannot bind threads here");
		return done();
	}
	if (placement.n < 2) {
		skip(1, "one CPU only: no thread can be moved");
	} else {
		test_caller(&placement, &all);
		for (i = 0; i <= MEMBERS; i++) {
			test_team(&placement, &all, false, i);
			test_team(&placement, &all, true, i);
		}
	}
	placement_close(&placement);
	CPU_FREE(all.set);
	return done();
}
