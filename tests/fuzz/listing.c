/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs for ./stale --replay: what is printed of one reads as the same one,
 * and a simulated kernel without a fault does nothing that the model does not
 * allow, whatever the program.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "../simmachine.h"
#include "fuzz.h"
#include "judge.h"
#include "listing.h"

#define MOST 128 /* pages, steps: what is larger only takes longer */

const char *const fuzz_seeds[] = {
	"memory shared\nlayout across\npages 9\nactors 3\nat 0\n"
	"group\n0 write 0-8 from 0\n"
	"group\n1 write 0-8 from 3\n2 read 0-8 from 5\n"
	"group\n0 mprotect-r 2-6\n1 write 2-6 from 2 after 0 sleep\n"
	"2 read 0-8 from 4\n"
	"group\n0 truncate 4-8\n1 read 0-8 from 0\n2 write 3-7 after 0\n",
	"memory private\nlayout alone\npages 6\nactors 2\nat 0\n"
	"group\n0 write 0-5 from 0\n1 write 0-5 from 0\n"
	"group\n0 fork 0-5\n1 write 0-5 from 2 after 0\n"
	"group\n0 dontneed 0-2\n1 munmap 3-5\n1 read 0-2 after 0\n"
	"0 read 3-5 after 1\n"
	"group\n0 map-over 3-5\n1 write 3-5\n",
	"memory hugetlb\npages 4\nactors 2\nat 511\n"
	"group\n0 mremap 1-2\n1 read 1-2 after 0\n",
	NULL,
};

static void run(const struct program *program)
{
	struct simmachine *machine =
		simmachine_new(PLANT_NONE, VERBS, 5, program->steps);
	struct subject subject;
	struct finding finding;
	char *why;

	if (!machine)
		abort();
	subject = simmachine_subject(machine);
	if (judge(&subject, program, 1, &finding, &why) == VERDICT_STALE)
		abort();
	free(why);
	simmachine_free(machine);
}

static void print_and_parse(const struct program *program)
{
	char *text = listing_print(program), *again, *why;
	struct program copy;

	if (!text || listing_parse(text, &copy, &why) < 0)
		abort();
	again = listing_print(&copy);
	if (!again || strcmp(text, again) != 0)
		abort();
	free(again);
	free(text);
	program_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *why;
	struct program program;

	if (text && listing_parse(text, &program, &why) < 0) {
		if (!why)
			abort();
		free(why);
	} else if (text) {
		print_and_parse(&program);
		if (program.pages <= MOST && program.steps <= MOST)
			run(&program);
		program_free(&program);
	}
	free(text);
	return 0;
}
