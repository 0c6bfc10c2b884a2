/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evict: after it, every page that a busy process touches shows in its accessed
 * bits. Without it, those whose translation a CPU still has do not.
 */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evict.h"
#include "parent.h"
#include "tap.h"
#include "touched.h"

#define PAGE 4096
#define HOT 32
#define TIMES 25

/* Touch HOT pages in a loop, and tell how often. */
__attribute__((noreturn)) static void be_busy(pid_t parent,
					      volatile uint64_t *rounds)
{
	volatile char *hot = mmap(NULL, HOT * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
				  -1, 0);
	size_t i;

	if (!parent_die_with(parent) || hot == MAP_FAILED)
		_exit(1);
	for (;; ++*rounds)
		for (i = 0; i < HOT; i++)
			hot[i * PAGE]++;
}

/* Two more: one of them is whole. */
static void await_round(const volatile uint64_t *rounds)
{
	uint64_t now = *rounds;

	while (*rounds < now + 2)
		usleep(100);
}

/* How often, of TIMES, all HOT pages have shown after they were touched. */
static int count(struct evictor *evictor, pid_t process,
		 const volatile uint64_t *rounds)
{
	struct touched touched;
	int i, all = 0;

	for (i = 0; i < TIMES; i++) {
		if (touched_clear("", process) < 0 ||
		    (evictor && evict(evictor, "", process) < 0))
			return -1;
		await_round(rounds);
		if (touched_read("", process, &touched) < 0)
			return -1;
		all += touched.pages >= HOT;
	}
	return all;
}

int main(void)
{
	struct evictor *evictor = evict_open();
	volatile uint64_t *rounds = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid(), process;
	int without, with;

	if (rounds == MAP_FAILED)
		skip_all("no memory");
	process = fork();
	if (process == 0)
		be_busy(parent, rounds);
	await_round(rounds);
	without = count(NULL, process, rounds);
	if (without < 0)
		diag("cannot look: %s", strerror(errno));
	else
		diag("without eviction: all pages show %d of %d times", without,
		     TIMES);
	if (!evictor || without < 0) {
		skip(1, "no evictor, or no look at other processes");
	} else {
		with = count(evictor, process, rounds);
		diag("with it: %d", with);
		is_int(with, TIMES, "all that is touched shows, each time");
	}
	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
	if (evictor)
		ok(evict(evictor, "", process) < 0 && errno == ENOENT,
		   "a process that is gone");
	evict_close(evictor);
	evict_close(NULL);
	is_int(waitpid(-1, NULL, 0), -1, "no helper is left");
	return done();
}
