/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement on this machine: what the process may use is found, binding takes
 * effect or fails, and hostile surroundings lead to errors, not to noise.
 */
#include <config.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/placement.h"
#include "tap.h"

/* The argument with which this program binds itself and exits with errno, */
#define BIND "--bind"
/* plus this if the failure was one of placement_open. */
#define NOT_OPENED 100

static int bind_first(void)
{
	struct placement placement;
	int error = 0;
	char *why;

	if (placement_open(&placement, NULL, &why) < 0) {
		error = NOT_OPENED + errno;
		free(why);
		return error;
	}
	if (placement_bind(&placement, placement.cpu[0]) < 0)
		error = errno;
	placement_close(&placement);
	return error;
}

/* Run a shell command that prints nothing and exits with that status. */
static void runs(const char *command, int want, const char *what)
{
	FILE *from = popen(command, "r");
	char output[256];
	int status;

	if (!from)
		abort();
	output[fread(output, 1, sizeof(output) - 1, from)] = '\0';
	status = pclose(from);
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)) {
		skip(3, "%s: %s", what, output);
		return;
	}
	ok(WIFEXITED(status), "%s: does not crash", what);
	is_int(WEXITSTATUS(status), want, "%s: status", what);
	is_string(output, "", "%s: prints nothing", what);
}

static void test_hostile_machines(const char *self)
{
	char empty[] = "/tmp/bind-XXXXXX";

	setenv("SELF", self, 1);
	runs("\"$SELF\" " BIND " 2>&1", 0, "this machine");
	runs("\"${SELF%/*}/deny\" sched_setaffinity -- \"$SELF\" " BIND " 2>&1",
	     EPERM, "sched_setaffinity denied");
	runs("\"${SELF%/*}/deny\" sched_getaffinity -- \"$SELF\" " BIND " 2>&1",
	     NOT_OPENED + EPERM, "sched_getaffinity denied");
	if (!mkdtemp(empty)) {
		skip(3, "no temporary directory");
		return;
	}
	setenv("EMPTY", empty, 1);
	runs("HWLOC_THISSYSTEM=1 HWLOC_FSROOT=\"$EMPTY\" \"$SELF\" " BIND
	     " 2>&1",
	     0, "no /sys");
	rmdir(empty);
}

static void is_refused(const char *list, int want, const char *what)
{
	struct placement placement;
	char *why = NULL;

	errno = 0;
	ok(placement_open(&placement, list, &why) < 0, "%s is refused", what);
	is_int(errno, want, "%s: errno", what);
	ok(why && *why, "%s: says why", what);
	free(why);
	placement_close(&placement);
}

/* Told to describe another machine, hwloc would pretend to bind. */
static void test_other_machine(void)
{
	setenv("HWLOC_SYNTHETIC", "pack:1 core:4 pu:1", 1);
	is_refused(NULL, ENOTSUP, "another machine");
	is_refused("0", ENOTSUP, "a CPU of another machine");
	unsetenv("HWLOC_SYNTHETIC");
	setenv("HWLOC_XMLFILE", "/dev/null", 1);
	is_refused(NULL, ENODEV, "an empty description");
	unsetenv("HWLOC_XMLFILE");
}

static void test_lists(const struct placement *all)
{
	struct placement one;
	char *why = NULL, *list;

	is_refused("0-", EINVAL, "a bad list");
	is_refused("4000000000", EINVAL, "a CPU that does not exist");
	if (asprintf(&list, "%u", all->cpu[all->n - 1]) < 0)
		abort();
	if (ok(placement_open(&one, list, &why) == 0, "the last CPU alone")) {
		is_int(one.n, 1, "one CPU");
		is_int(one.cpu[0], all->cpu[all->n - 1], "the last");
		is_int(one.core[0], all->core[all->n - 1], "its core");
		ok(!why, "no complaint");
		placement_close(&one);
	}
	free(why);
	free(list);
}

static void test_no_such_cpu(const struct placement *placement)
{
	struct placement no_machine = *placement;
	unsigned int above = 0;

	for (size_t i = 0; i < placement->n; i++)
		if (placement->cpu[i] > above)
			above = placement->cpu[i];
	/* further than any kernel has room for */
	above += 1 << 20;
	errno = 0;
	ok(placement_bind(placement, above) < 0, "CPU %u does not exist",
	   above);
	is_int(errno, EINVAL, "errno");
	no_machine.topology = NULL;
	errno = 0;
	ok(placement_bind(&no_machine, placement->cpu[0]) < 0,
	   "an order without a machine cannot be bound to");
	is_int(errno, EINVAL, "errno");
}

/* The affinity of this thread, by other means than those of the code. */
static void is_bound_to(unsigned int cpu)
{
	FILE *status = fopen("/proc/thread-self/status", "re");
	char *line = NULL, *want;
	bool found = false;
	size_t size = 0;

	if (!status || asprintf(&want, "Cpus_allowed_list:\t%u\n", cpu) < 0)
		abort();
	while (getline(&line, &size, status) > 0)
		found |= !strcmp(line, want);
	ok(found, "the kernel says CPU %u", cpu);
	is_int(sched_getcpu(), cpu, "runs there");
	fclose(status);
	free(line);
	free(want);
}

/* Leaves this thread bound to the last CPU. */
static void test_bind(const struct placement *placement)
{
	struct placement again;
	char *why;

	for (size_t i = 0; i < placement->n && i < 16; i++) {
		ok(placement_bind(placement, placement->cpu[i]) == 0,
		   "binds to CPU %u", placement->cpu[i]);
		is_bound_to(placement->cpu[i]);
	}
	if (ok(placement_open(&again, NULL, &why) == 0, "opens again")) {
		is_int(again.n, 1, "an affinity of one CPU is respected");
		is_int(again.cpu[0], sched_getcpu(), "that CPU");
		placement_close(&again);
	}
	free(why);
}

int main(int argc, char **argv)
{
	struct placement placement;
	char *why = NULL;

	if (argc == 2 && !strcmp(argv[1], BIND))
		return bind_first();
	test_hostile_machines(argv[0]);
	test_other_machine();
	if (!ok(placement_open(&placement, NULL, &why) == 0, "opens")) {
		diag("%s", why ? why : strerror(errno));
		free(why);
		return done();
	}
	ok(placement.n >= 1 &&
		   (long)placement.n <= sysconf(_SC_NPROCESSORS_ONLN),
	   "at most the CPUs that are online");
	ok(!getenv("HWLOC_HIDE_ERRORS"), "the environment is as it was");
	test_lists(&placement);
	test_no_such_cpu(&placement);
	test_bind(&placement);
	placement_close(&placement);
	placement_close(&placement);
	return done();
}
