/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tap: see tap.h.
 *
 * Every line is flushed at once, so that it keeps its place among the output of
 * child processes, is not printed twice by them, and survives a crash.
 */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* The one exception to "no globals": a program is one sequence of tests. */
static struct {
	int run, failed;
} tap;

static void print_name(const char *format, va_list arguments)
	__attribute__((format(printf, 1, 0)));
static bool report(bool passed, const char *file, int line, const char *name,
		   va_list arguments) __attribute__((format(printf, 4, 0)));

/* Print a name that cannot be read as a directive or as another line. */
static void print_name(const char *format, va_list arguments)
{
	char *name;

	if (vasprintf(&name, format, arguments) < 0)
		abort();
	for (char *c = name; *c; c++)
		putchar(*c == '\n' || *c == '#' ? ' ' : *c);
	free(name);
}

static bool report(bool passed, const char *file, int line, const char *name,
		   va_list arguments)
{
	tap.run++;
	tap.failed += !passed;
	printf("%s %d - ", passed ? "ok" : "not ok", tap.run);
	print_name(name, arguments);
	putchar('\n');
	fflush(stdout);
	if (!passed)
		diag("test %d failed at %s:%d", tap.run, file, line);
	return passed;
}

bool tap_ok(bool passed, const char *file, int line, const char *name, ...)
{
	int saved = errno;
	va_list arguments;

	va_start(arguments, name);
	report(passed, file, line, name, arguments);
	va_end(arguments);
	errno = saved;
	return passed;
}

bool tap_is_double(double got, double want, double tolerance, const char *file,
		   int line, const char *name, ...)
{
	bool passed;
	va_list arguments;

	if (isnan(got) || isnan(want))
		passed = isnan(got) && isnan(want);
	else if (isinf(got) || isinf(want))
		passed = isinf(got) && isinf(want) &&
			 signbit(got) == signbit(want);
	else
		passed = fabs(got - want) <= tolerance;
	va_start(arguments, name);
	report(passed, file, line, name, arguments);
	va_end(arguments);
	if (!passed)
		diag("got %.17g, want %.17g within %g", got, want, tolerance);
	return passed;
}

bool tap_is_int(long long got, long long want, const char *file, int line,
		const char *name, ...)
{
	bool passed = got == want;
	va_list arguments;

	va_start(arguments, name);
	report(passed, file, line, name, arguments);
	va_end(arguments);
	if (!passed)
		diag("got %lld, want %lld", got, want);
	return passed;
}

bool tap_is_string(const char *got, const char *want, const char *file,
		   int line, const char *name, ...)
{
	bool passed = got && want ? strcmp(got, want) == 0 : got == want;
	va_list arguments;

	va_start(arguments, name);
	report(passed, file, line, name, arguments);
	va_end(arguments);
	if (!passed) {
		diag("got  '%s'", got ? got : "(NULL)");
		diag("want '%s'", want ? want : "(NULL)");
	}
	return passed;
}

void skip(int count, const char *reason, ...)
{
	while (count-- > 0) {
		va_list arguments;

		tap.run++;
		printf("ok %d # SKIP ", tap.run);
		va_start(arguments, reason);
		print_name(reason, arguments);
		va_end(arguments);
		putchar('\n');
	}
	fflush(stdout);
}

void skip_all(const char *reason, ...)
{
	va_list arguments;

	if (tap.run)
		abort(); /* too late: the plan would contradict the tests */
	fputs("1..0 # SKIP ", stdout);
	va_start(arguments, reason);
	print_name(reason, arguments);
	va_end(arguments);
	putchar('\n');
	exit(EXIT_SUCCESS);
}

void diag(const char *text, ...)
{
	int saved = errno;
	char *comment, *rest, *line;
	va_list arguments;

	fflush(stdout);
	va_start(arguments, text);
	if (vasprintf(&comment, text, arguments) < 0)
		abort();
	va_end(arguments);
	rest = comment;
	while ((line = strsep(&rest, "\n")))
		fprintf(stderr, "# %s\n", line);
	free(comment);
	errno = saved;
}

int done(void)
{
	printf("1..%d\n", tap.run);
	if (fflush(stdout) || ferror(stdout))
		return EXIT_FAILURE;
	if (tap.failed)
		diag("%d of %d failed", tap.failed, tap.run);
	return tap.failed || !tap.run ? EXIT_FAILURE : EXIT_SUCCESS;
}
