/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kunit: the kernel's own test of the policy has run at boot; its cases are
 * passed on.
 */
#include <config.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "guest.h"
#include "tap.h"

#define RESULTS "/sys/kernel/debug/kunit/*tlb*/results"

/* Report the cases: "ok 1 name" or "not ok 1 name", indented. */
static int report(FILE *file)
{
	char line[256];
	int cases = 0;

	while (fgets(line, sizeof(line), file)) {
		const char *text = line + strspn(line, " ");
		const bool failed = !strncmp(text, "not ok ", 7);
		int name = 0;

		if (text == line || (!failed && strncmp(text, "ok ", 3)))
			continue;
		text += failed ? 7 : 3;
		if (sscanf(text, "%*d %n", &name) == 0 && name) {
			line[strcspn(line, "\n")] = '\0';
			ok(!failed, "KUnit: %s", text + name);
			cases++;
		}
	}
	return cases;
}

int test_kunit(int argc, char **argv)
{
	glob_t found = { 0 };
	int cases = 0;

	(void)argc;
	(void)argv;
	if (glob(RESULTS, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			FILE *file = fopen(found.gl_pathv[i], "r");

			if (!file)
				continue;
			cases += report(file);
			fclose(file);
		}
	}
	globfree(&found);
	ok(cases > 0, "the KUnit suite of the policy has run: %d cases", cases);
	return done();
}
