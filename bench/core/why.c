/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "why.h"

int why_set(char **why, int error, const char *format, ...)
{
	int before = errno;
	va_list args;

	va_start(args, format);
	if (vasprintf(why, format, args) < 0)
		*why = NULL;
	va_end(args);
	errno = error ? error : before;
	return -1;
}

const char *why_text(const char *why)
{
	return why ? why : strerror(ENOMEM);
}
