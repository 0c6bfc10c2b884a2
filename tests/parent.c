/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parent: a child dies with its parent; one whose parent died before the child
 * said so is told. The children here are grandchildren, which come to this
 * process when they are orphans.
 */
#include <config.h>

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/parent.h"
#include "tap.h"

/* How the child leaves. */
enum { TIED = 3, TOLD = 4 };

__attribute__((noreturn)) static void be_child(pid_t parent, bool late)
{
	while (late && getppid() == parent)
		usleep(1000);
	if (!parent_die_with(parent))
		_exit(TOLD);
	kill(parent, SIGKILL);
	sleep(20);
	_exit(TIED);
}

/* The status of a child whose parent dies before (late) or after it is tied. */
static int orphan(bool late)
{
	int status = -1;
	pid_t parent = fork(), child;

	if (parent == 0) {
		parent = getpid();
		if (fork() == 0)
			be_child(parent, late);
		while (!late)
			pause();
		_exit(0);
	}
	waitpid(parent, NULL, 0);
	child = waitpid(-1, &status, 0);
	return child > 0 ? status : -1;
}

int main(void)
{
	int status;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		skip_all("no subreapers");
	status = orphan(false);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	   "it is killed when its parent dies");
	status = orphan(true);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == TOLD,
	   "and told where that was before");
	return done();
}
