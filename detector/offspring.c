/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offspring: a forked child that answers what it sees in its memory.
 *
 * It was forked from a process with threads: it calls nothing but system calls.
 */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_parts.h"
#include "touch.h"

#define MAX_ACTORS 64

struct answer {
	int status; /* 0, or -1: the page is not mapped */
	uint64_t slot[MAX_ACTORS];
};

/* Pipes: a small kernel has no sockets. */
static bool receive(int pipe, void *data, size_t size)
{
	char *to = data;

	while (size > 0) {
		ssize_t got = read(pipe, to, size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		size -= (size_t)got;
	}
	return true;
}

__attribute__((noreturn)) static void serve(const struct live *live, int from,
					    int to)
{
	struct answer answer;
	unsigned int page;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (receive(from, &page, sizeof(page))) {
		answer.status =
			touch_load(live_slots(live, live_page(live, page)),
				   answer.slot, live->program->actors);
		if (write(to, &answer, sizeof(answer)) !=
		    (ssize_t)sizeof(answer))
			break;
	}
	_exit(0);
}

static void close_both(const int pipe[2])
{
	close(pipe[0]);
	close(pipe[1]);
}

int offspring_fork(struct live *live)
{
	int question[2], answer[2];
	pid_t pid;

	offspring_end(live);
	if (pipe(question) < 0)
		return -1;
	if (pipe(answer) < 0) {
		close_both(question);
		return -1;
	}
	pid = fork();
	if (pid == 0) {
		close(question[1]);
		close(answer[0]);
		serve(live, question[0], answer[1]);
	}
	if (pid < 0) {
		close_both(question);
		close_both(answer);
		return -1;
	}
	close(question[0]);
	close(answer[1]);
	live->offspring = (struct offspring){ pid, question[1], answer[0] };
	return 0;
}

int offspring_read(struct live *live, unsigned int page, uint64_t *slot)
{
	const struct offspring *child = &live->offspring;
	struct answer answer;
	unsigned int i;

	if (child->pid == 0 ||
	    write(child->question, &page, sizeof(page)) !=
		    (ssize_t)sizeof(page) ||
	    !receive(child->answer, &answer, sizeof(answer)) ||
	    answer.status < 0)
		return -1;
	for (i = 0; i < live->program->actors; i++)
		slot[i] = answer.slot[i];
	return 0;
}

void offspring_end(struct live *live)
{
	if (live->offspring.pid == 0)
		return;
	kill(live->offspring.pid, SIGKILL);
	close(live->offspring.question);
	close(live->offspring.answer);
	while (waitpid(live->offspring.pid, NULL, 0) < 0 && errno == EINTR)
		;
	live->offspring = (struct offspring){ 0 };
}
