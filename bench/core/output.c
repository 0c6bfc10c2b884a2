/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

static void forget(struct output *output)
{
	free(output->path);
	free(output->temporary);
	*output = (struct output){ 0 };
}

static int complain(struct output *output, const char *path)
{
	error(0, errno, "cannot write '%s'", path);
	if (output->temporary)
		unlink(output->temporary);
	forget(output);
	return -1;
}

/* The mode of a new file. */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* A stream on a new file beside output->path. */
static FILE *open_temporary(struct output *output, mode_t mode)
{
	int fd;

	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		return NULL;
	}
	fd = mkostemp(output->temporary, 0);
	if (fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
		return NULL;
	}
	fchmod(fd, mode);
	return fdopen(fd, "w");
}

int output_open(struct output *output, const char *path)
{
	mode_t mode = usual_mode();
	struct stat st;

	*output = (struct output){ 0 };
	/* A file size limit is an error to report, not a way to die. */
	signal(SIGXFSZ, SIG_IGN);
	if (!path) {
		output->to = stdout;
		return 0;
	}
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode)) {
			errno = EISDIR;
			return complain(output, path);
		}
		if (!S_ISREG(st.st_mode)) {
			output->to = fopen(path, "we");
			return output->to ? 0 : complain(output, path);
		}
		/* Replace what a symbolic link points to, not the link. */
		output->path = realpath(path, NULL);
		mode = st.st_mode & 07777;
	} else if (errno == ENOENT && lstat(path, &st) < 0) {
		output->path = strdup(path);
	}
	if (!output->path)
		return complain(output, path);
	output->to = open_temporary(output, mode);
	return output->to ? 0 : complain(output, path);
}

int output_commit(struct output *output)
{
	const char *name = output->path ? output->path : "the result";

	if (fflush(output->to) || ferror(output->to))
		goto fail;
	if (output->path && fsync(fileno(output->to)) < 0)
		goto fail;
	if (output->to != stdout && fclose(output->to)) {
		output->to = NULL;
		goto fail;
	}
	output->to = NULL;
	if (output->path && rename(output->temporary, output->path) < 0)
		goto fail;
	forget(output);
	return 0;
fail:
	error(0, errno, "cannot write %s", name);
	output_abandon(output);
	return -1;
}

void output_abandon(struct output *output)
{
	if (output->to && output->to != stdout)
		fclose(output->to);
	if (output->temporary)
		unlink(output->temporary);
	forget(output);
}

int output_check(const char *path)
{
	struct output output;
	struct stat st;

	if (!path)
		return 0;
	/* Opening a FIFO would block, and closing it ends its reader. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode) && access(path, W_OK) == 0)
		return 0;
	if (output_open(&output, path) < 0)
		return -1;
	output_abandon(&output);
	return 0;
}
