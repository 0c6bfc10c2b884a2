/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * init: process 1 of the guest; see guest.h.
 *
 * The kernel logs to the first serial line, tests speak on the second, so that
 * neither cuts the other's lines in two. The last line of the second is the end
 * of a run that ran to its end; whatever hangs or panics does not get there.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "spinner.h"

#define TESTS_TTY "/dev/ttyS1"

static const struct {
	const char *name;
	guest_test *run;
} tests[] = {
	{ "batch", test_batch },     { "boot", test_boot },
	{ "cost", test_cost },	     { "count", test_count },
	{ "debugfs", test_debugfs }, { "kept", test_kept },
	{ "killed", test_killed },   { "kunit", test_kunit },
	{ "offline", test_offline }, { "policy", test_policy },
	{ "probe", test_probe },     { "put", test_put },
	{ "race", test_race },	     { "record", test_record },
	{ "regret", test_regret },   { "set", test_set },
	{ "stock", test_stock },     { "stride", test_stride },
	{ "sysctl", test_sysctl },   { "write", test_write },
};

/* Run a test in this process, or become a program of /bin. */
static int run(int argc, char **argv)
{
	char path[256];

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		if (!strcmp(argv[0], tests[i].name))
			return tests[i].run(argc, argv);
	snprintf(path, sizeof(path), "/bin/%s", argv[0]);
	spinner_unpin();
	execv(path, argv);
	fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
	return 127;
}

/* The exit status of the command as a shell has it. */
static int run_child(int argc, char **argv)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return 126;
	if (!pid)
		exit(run(argc, argv));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void run_all(int argc, char **argv)
{
	int begin = 0;

	for (int i = 0; i <= argc; i++) {
		if (i < argc && strcmp(argv[i], ","))
			continue;
		if (i > begin) {
			const double start = now();
			int status;

			printf("begin %s\n", argv[begin]);
			argv[i] = NULL;
			status = run_child(i - begin, argv + begin);
			printf("# %s: %.1f s, from %.1f s on\n", argv[begin],
			       now() - start, start);
			printf("end %s %d\n", argv[begin], status);
		}
		begin = i + 1;
	}
}

static void mount_all(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/tmp", 01777);
	mkdir("/dev", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sys", "/sys", "sysfs", 0, NULL);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("tmp", "/tmp", "tmpfs", 0, NULL);
	mount("debug", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("tracing", "/sys/kernel/tracing", "tracefs", 0, NULL);
	mkdir("/dev/shm", 01777);
	mount("shm", "/dev/shm", "tmpfs", 0, NULL);
}

/* Lines as they are printed: without it each \n becomes \r\n. */
static void make_raw(int fd)
{
	struct termios terminal;

	if (tcgetattr(fd, &terminal) == 0) {
		cfmakeraw(&terminal);
		tcsetattr(fd, TCSANOW, &terminal);
	}
}

static void use_tests_tty(void)
{
	int fd = open(TESTS_TTY, O_RDWR | O_NOCTTY);

	if (fd < 0) {
		printf("init: %s: %s\n", TESTS_TTY, strerror(errno));
		return;
	}
	make_raw(fd);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	if (getpid() != 1)
		return argc > 1 ? run(argc - 1, argv + 1) : 2;
	mount_all();
	use_tests_tty();
	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("HOME", "/tmp", 1);
	/* An address space that was on one CPU only is flushed there alone. */
	spinner_pin(0);
	run_all(argc - 1, argv + 1);
	printf("end of all commands\n");
	fflush(NULL);
	tcdrain(STDOUT_FILENO);
	reboot(RB_AUTOBOOT);
	return 1;
}
