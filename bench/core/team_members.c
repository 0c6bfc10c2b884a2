/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parent.h"
#include "team_private.h"

/* Stack of a thread beyond the least the system allows, bytes. */
#define STACK 65536

/* End all processes that are left. */
static void kill_all(struct team *team)
{
	size_t i;

	for (i = 0; i < team->n; i++)
		if (team->member[i].pid)
			kill(team->member[i].pid, SIGKILL);
	for (i = 0; i < team->n; i++) {
		pid_t pid = team->member[i].pid;

		while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		team->member[i].pid = 0;
	}
}

bool team_members_live(struct team *team)
{
	size_t i;

	if (!team->processes || team->lost)
		return !team->lost;
	for (i = 0; i < team->n; i++) {
		if (waitpid(team->member[i].pid, NULL, WNOHANG) == 0)
			continue;
		team->member[i].pid = 0;
		team->lost = true;
	}
	if (team->lost)
		kill_all(team);
	return !team->lost;
}

__attribute__((noreturn)) static void run_process(struct member *member,
						  pid_t parent)
{
	if (parent_die_with(parent))
		team_member_run(member);
	/* What stdio has buffered is the parent's to write. */
	_exit(0);
}

/* Returns 0 or an errno value. */
static int start_process(struct member *member)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0)
		run_process(member, parent);
	member->pid = pid;
	return 0;
}

/* Returns 0 or an errno value, as pthread functions do. */
static int start_member(struct team *team, const pthread_attr_t *attr,
			size_t first)
{
	const struct placement *placement = team->placement;
	struct member *member = &team->member[team->n];
	int error;

	*member = (struct member){
		.team = team,
		.index = team->n,
		.cpu = placement->cpu[(first + team->n) % placement->n],
	};
	error = team->processes ? start_process(member) :
				  pthread_create(&member->thread, attr,
						 team_member_run, member);
	if (!error)
		team->n++;
	return error;
}

/*
 * New threads inherit the mask: what is sent to the process is for the caller.
 * A fault must still reach its handler.
 */
static void block_signals(sigset_t *saved)
{
	static const int faults[] = { SIGBUS,  SIGFPE,	SIGILL,
				      SIGSEGV, SIGTRAP, SIGSYS };
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&set, faults[i]);
	pthread_sigmask(SIG_BLOCK, &set, saved);
}

int team_members_start(struct team *team, size_t n, size_t first)
{
	pthread_attr_t attr;
	sigset_t saved;
	int error;

	error = pthread_attr_init(&attr);
	if (error)
		return error;
	error = pthread_attr_setstacksize(&attr,
					  (size_t)PTHREAD_STACK_MIN + STACK);
	block_signals(&saved);
	for (size_t i = 0; i < n && !error; i++)
		error = start_member(team, &attr, first);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	return error;
}

void team_members_join(struct team *team)
{
	size_t i;

	for (i = 0; i < team->n; i++) {
		pid_t pid = team->member[i].pid;

		if (!team->processes)
			pthread_join(team->member[i].thread, NULL);
		while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}
