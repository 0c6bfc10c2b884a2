/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cow: cost of writing to n pages that a child of fork shares, as in a database
 * that takes a snapshot of itself.
 *
 * Each write faults, copies the page and must drop the translation of the old
 * one from every TLB: n flushes of one page, whatever the ceiling. The child
 * only holds the pages and is stopped before anything is timed. Ending it and
 * forking another one, which flushes everything, happens outside the timed
 * window; then the working set, which the child does not get, is accessed again
 * so that it is in the TLB as after any other operation.
 */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/parent.h"
#include "operations.h"

/* Wait until the child has changed its state. 0, or -1 with errno. */
static int wait_for(pid_t child, int options, int *status)
{
	pid_t got;

	do
		got = waitpid(child, status, options);
	while (got < 0 && errno == EINTR);
	return got == child ? 0 : -1;
}

/* A child that shares the pages and does nothing; 0, or -1 with errno. */
static int share(struct bench_run *run)
{
	pid_t parent = getpid(), child = fork();
	int status;

	if (child < 0)
		return -1;
	if (child == 0) {
		if (parent_die_with(parent))
			raise(SIGSTOP);
		_exit(0);
	}
	run->own = (void *)(intptr_t)child;
	if (wait_for(child, WUNTRACED, &status) < 0)
		return -1;
	if (!WIFSTOPPED(status)) {
		run->own = NULL;
		errno = ECHILD;
		return -1;
	}
	access_pass(&run->access);
	return 0;
}

/* End the child. -1 with ECHILD if somebody else did: nothing was shared. */
static int unshare_pages(struct bench_run *run)
{
	pid_t child = (pid_t)(intptr_t)run->own;
	bool gone;
	int status;

	if (!child)
		return 0;
	run->own = NULL;
	gone = waitpid(child, &status, WNOHANG) != 0;
	if (!gone) {
		kill(child, SIGKILL);
		wait_for(child, 0, &status);
		return 0;
	}
	errno = ECHILD;
	return -1;
}

static int prepare(struct bench_run *run, char **why)
{
	const struct region *region = &run->region;

	if (madvise(region->set, region->set_pages * region->page,
		    MADV_DONTFORK) == 0 &&
	    share(run) == 0)
		return 0;
	*why = strdup(strerror(errno));
	errno = EAGAIN;
	return -1;
}

static int write_all(struct bench_run *run)
{
	region_dirty(&run->region);
	return 0;
}

static int share_again(struct bench_run *run)
{
	return unshare_pages(run) < 0 ? -1 : share(run);
}

static void finish(struct bench_run *run)
{
	unshare_pages(run);
}

const struct bench operation_cow = {
	.name = "mprotect",
	.operation = "copy on write",
	.small_only = true,
	.flushes = FLUSH_EACH,
	.prepare = prepare,
	.op = write_all,
	.reset = share_again,
	.finish = finish,
};
