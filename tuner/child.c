/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "parent.h"
#include "why.h"

void *child_share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void child_unshare(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

__attribute__((noreturn)) static void run(int (*work)(void *context),
					  void *context, pid_t parent)
{
	if (!parent_die_with(parent))
		_exit(1);
	/* _exit: what stdio has buffered is the parent's to write. */
	_exit(work(context));
}

int child_run(int (*work)(void *context), void *context, char **why)
{
	pid_t parent = getpid();
	int status;
	pid_t pid;

	/* Ignored (it can be inherited), no child could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	pid = fork();

	if (pid < 0)
		return why_set(why, 0, "cannot fork: %s", strerror(errno));
	if (pid == 0)
		run(work, context, parent);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return why_set(why, 0,
				       "a measuring process is lost: %s",
				       strerror(errno));
		/* The signal may have been for this process alone. */
		kill(pid, SIGTERM);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return why_set(why, 0, "a measuring process was killed: %s%s",
		       strsignal(WTERMSIG(status)),
		       WTERMSIG(status) == SIGKILL ? " (out of memory?)" : "");
}
