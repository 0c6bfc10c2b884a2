/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knob: see knob.h.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "knob.h"

long knob_read(const char *path)
{
	char text[64];
	char *end;
	long value;
	ssize_t length;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return KNOB_UNKNOWN;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length <= 0)
		return KNOB_UNKNOWN;
	text[length] = '\0';
	value = strtol(text, &end, 10);
	return end == text ? KNOB_UNKNOWN : value;
}

int knob_write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		error = errno;
	close(fd);
	return error;
}

int knob_write(const char *path, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld\n", value);
	return knob_write_text(path, text);
}

int knob_set(long factor, long entries)
{
	int error = knob_write(KNOB_FACTOR, -2);

	if (!error)
		error = knob_write(KNOB_ENTRIES, entries);
	if (!error)
		error = knob_write(KNOB_FACTOR, factor);
	return error;
}

unsigned long knob_ceiling_halving(long factor, unsigned long entries)
{
	unsigned long pages = entries;

	if (factor == -2)
		return STOCK_CEILING;
	if (factor == -1)
		return 0;
	for (long i = 0; i < factor; i++)
		pages = (pages - pages % 2) / 2;
	if (pages < 1)
		pages = 1;
	return pages > 512 ? 512 : pages;
}
