/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tuner: see tuner.h.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "knob.h"
#include "spinner.h"
#include "tap.h"
#include "tuner.h"

void tuner_values(struct tuner_values *values)
{
	*values = (struct tuner_values){
		.factor = knob_read(KNOB_FACTOR),
		.entries = knob_read(KNOB_ENTRIES),
		.pages = knob_read(KNOB_PAGES),
		.ceiling = knob_read(KNOB_CEILING),
	};
}

bool tuner_same(const struct tuner_values *a, const struct tuner_values *b)
{
	return a->factor == b->factor && a->entries == b->entries &&
	       a->pages == b->pages && a->ceiling == b->ceiling;
}

bool tuner_has_factor(void)
{
	return knob_read(KNOB_FACTOR) != KNOB_UNKNOWN;
}

const char *tuner_file(void)
{
	return tuner_has_factor() ? TUNER_SYSCTL_FILE : TUNER_TMPFILES_FILE;
}

pid_t tuner_start(const char *to, const char *const *argv)
{
	char path[256];
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	snprintf(path, sizeof(path), "/bin/%s", argv[0]);
	spinner_unpin();
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		_exit(126);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
	execv(path, (char *const *)argv);
	_exit(127);
}

void tuner_show(const char *name)
{
	char line[512];
	FILE *from = fopen(name, "r");

	while (from && fgets(line, sizeof(line), from))
		diag("%s", line);
	if (from)
		fclose(from);
}

bool tuner_says(const char *name, const char *text)
{
	char line[512];
	bool found = false;
	FILE *from = fopen(name, "r");

	while (from && !found && fgets(line, sizeof(line), from))
		found = strstr(line, text) != NULL;
	if (from)
		fclose(from);
	return found;
}

int tuner_run(const char *to, const char *const *argv)
{
	pid_t pid = tuner_start(to, argv);
	int status;

	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	status = WIFEXITED(status) ? WEXITSTATUS(status) :
				     128 + WTERMSIG(status);
	if (status)
		tuner_show(to);
	return status;
}
