/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tap: report test results in the Test Anything Protocol, for automake's
 * tap-driver.sh and for prove.
 *
 *	int main(void)
 *	{
 *		ok(list_empty(&list), "a new list is empty");
 *		is_int(list_length(&list), 0, "... and has length 0");
 *		return done();
 *	}
 *
 * The plan comes last, from done(): a test that crashes or returns early has no
 * plan, and that is a failure. What went wrong goes to stderr as a comment.
 */
#ifndef TLBTUNE_TAP_H
#define TLBTUNE_TAP_H

#include <stdbool.h>

/* Test that condition holds; true if it does. */
#define ok(condition, ...)                                                     \
	tap_ok(!!(condition), __FILE__, __LINE__, __VA_ARGS__)

/*
 * Test that got is want, within +-tolerance. Equal infinities are equal, and
 * NAN is wanted, and satisfied, by NAN only.
 */
#define is_double(got, want, tolerance, ...)                                   \
	tap_is_double(got, want, tolerance, __FILE__, __LINE__, __VA_ARGS__)

/* Test that two integers of any type that fits a long long are the same. */
#define is_int(got, want, ...)                                                 \
	tap_is_int(got, want, __FILE__, __LINE__, __VA_ARGS__)

/* Test that two strings are the same; NULL is the same as NULL only. */
#define is_string(got, want, ...)                                              \
	tap_is_string(got, want, __FILE__, __LINE__, __VA_ARGS__)

/* Count that many tests as skipped, for the reason given. */
void skip(int count, const char *reason, ...)
	__attribute__((format(printf, 2, 3)));

/* Skip the whole program, before its first test. Does not return. */
void skip_all(const char *reason, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* A comment for whoever reads the log, on stderr. */
void diag(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Print the plan. Returns the exit status of main: 0, or 1 if a test failed. */
int done(void);

/* What the macros above expand to; they add the place of the call. */
bool tap_ok(bool passed, const char *file, int line, const char *name, ...)
	__attribute__((format(printf, 4, 5)));
bool tap_is_double(double got, double want, double tolerance, const char *file,
		   int line, const char *name, ...)
	__attribute__((format(printf, 6, 7)));
bool tap_is_int(long long got, long long want, const char *file, int line,
		const char *name, ...) __attribute__((format(printf, 5, 6)));
bool tap_is_string(const char *got, const char *want, const char *file,
		   int line, const char *name, ...)
	__attribute__((format(printf, 5, 6)));

#endif
