/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lock.h"

static int take(int fd, int operation, const volatile int *stop)
{
	while (flock(fd, operation) < 0)
		if (errno != EINTR || (stop && *stop))
			return -1;
	return 0;
}

/* True if fd is still what path means; false with errno 0 if not. */
static bool is_current(int fd, const char *path)
{
	struct stat locked, there;

	if (fstat(fd, &locked) < 0)
		return false;
	errno = 0;
	return stat(path, &there) == 0 && locked.st_ino == there.st_ino &&
	       locked.st_dev == there.st_dev;
}

static int lock(const char *path, int operation, const volatile int *stop)
{
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			      0666);
		int error;

		if (fd < 0)
			return -1;
		if (take(fd, operation, stop) == 0) {
			if (is_current(fd, path))
				return fd;
			close(fd);
			continue;
		}
		error = errno;
		close(fd);
		errno = error;
		return -1;
	}
}

int lock_wait(const char *path, const volatile int *stop)
{
	return lock(path, LOCK_EX, stop);
}

int lock_try(const char *path)
{
	return lock(path, LOCK_EX | LOCK_NB, NULL);
}
