/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * offline: a CPU goes offline while mprotect measures, the one of the thread
 * beside the caller or the caller's own, for good or for a moment. That ends in
 * an error; nothing is written and nobody is left.
 */
#include <config.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "knob.h"
#include "tap.h"
#include "tuner.h"

#define ONLINE "/sys/devices/system/cpu/cpu1/online"
#define PROGRAM "mprotect"
#define LOG "/tmp/offline.log"
#define RESULT "/tmp/offline.json"
#define PATIENCE 600 /* tenths of a second: an emulator is slow */
#define TENTH 100000 /* us */
#define MEASURING 10 /* tenths from its second thread on */
#define AWAY 500000  /* us, of a CPU that comes back */

/* What a program has said, in one line; its length. */
static size_t read_log(char *text, size_t size)
{
	FILE *from = fopen(LOG, "r");
	size_t len = from ? fread(text, 1, size - 1, from) : 0;

	text[len] = '\0';
	if (from)
		fclose(from);
	return len;
}

static int threads_of(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	int threads = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		threads += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return threads;
}

/* Processes of that name, zombies too. */
static int count_processes(const char *name)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;
	int n = 0;

	while (all && (entry = readdir(all))) {
		char path[300], comm[32] = "";
		FILE *from;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		from = fopen(path, "r");
		if (!from)
			continue;
		if (fgets(comm, sizeof(comm), from))
			comm[strcspn(comm, "\n")] = '\0';
		fclose(from);
		n += !strcmp(comm, name);
	}
	if (all)
		closedir(all);
	return n;
}

/* Its second thread is there, and has been for a while. */
static bool measures(pid_t pid)
{
	int waited = 0;

	while (threads_of(pid) < 2 && waited++ < PATIENCE)
		usleep(TENTH);
	for (int i = 0; i < MEASURING; i++)
		usleep(TENTH);
	return waited <= PATIENCE && threads_of(pid) == 2;
}

/* The exit status, or -1 where it had to be killed. */
static int end_of(pid_t pid)
{
	int status, waited = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (waited++ < PATIENCE) {
			usleep(TENTH);
			continue;
		}
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_one(const char *cpus, bool back, const char *name)
{
	/* A row takes 3 s. */
	const char *const argv[] = { PROGRAM,  "-t", "1,1,1,1,1,1,1,1,1,1",
				     "--cpus", cpus, "--format",
				     "json",   "-o", RESULT,
				     NULL };
	pid_t pid = tuner_start(LOG, argv);
	char said[512];
	size_t len;

	ok(pid > 0 && measures(pid), "%s: it measures", name);
	is_int(knob_write_text(ONLINE, "0"), 0, "%s: CPU 1 goes offline", name);
	/* A thread that is asleep all the while is not moved. */
	if (back) {
		usleep(AWAY);
		is_int(knob_write_text(ONLINE, "1"), 0,
		       "%s: ... and comes back", name);
	}
	is_int(end_of(pid), 1, "%s: ends with an error", name);
	len = read_log(said, sizeof(said));
	diag("%.*s", (int)strcspn(said, "\n"), said);
	ok(strstr(said, "CPU 1 ") && strstr(said, "offline"), "%s: says why",
	   name);
	ok(len && strchr(said, '\n') == said + len - 1, "%s: in one line",
	   name);
	ok(access(RESULT, F_OK) < 0, "%s: nothing is written", name);
	is_int(count_processes(PROGRAM), 0, "%s: nobody is left", name);
	if (!back)
		is_int(knob_write_text(ONLINE, "1"), 0, "%s: online again",
		       name);
}

int test_offline(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (access(ONLINE, W_OK) < 0)
		skip_all("there is no CPU 1 that can go offline");
	test_one("0,1", false, "a thread's CPU");
	test_one("1,0", false, "the caller's CPU");
	test_one("0,1", true, "a thread's CPU for a moment");
	return done();
}
