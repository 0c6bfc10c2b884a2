/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfile.h"

#define SIZE_MAX_BYTES ((size_t)16 << 20)

/* All bytes of fd, with a NUL behind them; NULL with errno. */
static char *read_all(int fd, size_t *total)
{
	size_t size = 4096, used = 0;
	char *text = malloc(size);

	while (text) {
		ssize_t got = read(fd, text + used, size - used - 1);
		char *larger;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		used += (size_t)got;
		if (got == 0) {
			text[used] = '\0';
			*total = used;
			return text;
		}
		if (used < size - 1)
			continue;
		if (size >= SIZE_MAX_BYTES) {
			errno = EFBIG;
			break;
		}
		size *= 2;
		larger = realloc(text, size);
		if (!larger)
			break;
		text = larger;
	}
	free(text);
	return NULL;
}

char *sysfile_load(const char *root, const char *path, size_t *size)
{
	char *name, *text;
	int fd, error;

	if (asprintf(&name, "%s%s", root, path) < 0)
		return NULL;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	free(name);
	if (fd < 0)
		return NULL;
	text = read_all(fd, size);
	error = errno;
	close(fd);
	errno = error;
	return text;
}

char *sysfile_read(const char *root, const char *path)
{
	size_t len;
	char *text = sysfile_load(root, path, &len);

	if (!text)
		return NULL;
	len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}
