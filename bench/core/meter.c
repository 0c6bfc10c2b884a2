/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "meter.h"

#define CLEAR "\033[K" /* from the cursor to the end of the line */

void meter_show(const char *format, ...)
{
	va_list args;

	if (!isatty(STDERR_FILENO))
		return;
	va_start(args, format);
	fputc('\r', stderr);
	vfprintf(stderr, format, args);
	fputs(CLEAR, stderr);
	va_end(args);
}

void meter_end(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r" CLEAR, stderr);
}
