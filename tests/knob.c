/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knob: what is found on made-up machines, why it cannot be written and what
 * would lift that; and what is written, in which order.
 */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "knobfile.h"
#include "knobjson.h"
#include "sysfile.h"
#include "tap.h"
#include "tree.h"

/* deciding -------------------------------------------------------------- */

/* Text, errno of reading, errno of writing. */
#define GONE                                                                   \
	{                                                                      \
		NULL, ENOENT, ENOENT                                           \
	}
#define DENIED(error)                                                          \
	{                                                                      \
		NULL, error, error                                             \
	}
#define OPEN(text)                                                             \
	{                                                                      \
		(char *)(text), 0, 0                                           \
	}
#define READ_ONLY(text, error)                                                 \
	{                                                                      \
		(char *)(text), 0, error                                       \
	}

struct machine {
	const char *name;
	struct knob_facts facts;
	enum knob_kind kind;
	bool writable;
	const char *why, *lift; /* parts of them */
};

static const struct machine machines[] = {
	{ "patched kernel, root",
	  { { OPEN("4"), OPEN("1536"), READ_ONLY("96", EACCES), OPEN("33") },
	    .root = true,
	    .debugfs = 1 },
	  KNOB_FACTOR,
	  true,
	  "",
	  NULL },
	{ "patched kernel, locked down",
	  { { OPEN("-2"), OPEN("0"), READ_ONLY("33", EACCES), DENIED(EPERM) },
	    .root = true,
	    .debugfs = 1,
	    .lockdown = true,
	    .level = (char *)"confidentiality" },
	  KNOB_FACTOR,
	  true,
	  "",
	  NULL },
	{ "patched kernel, not root",
	  { { READ_ONLY("4", EACCES), READ_ONLY("1536", EACCES),
	      READ_ONLY("96", EACCES), DENIED(EACCES) },
	    .debugfs = 1 },
	  KNOB_FACTOR,
	  false,
	  "root only",
	  "as root" },
	{ "patched kernel, read-only /proc",
	  { { READ_ONLY("4", EROFS), READ_ONLY("1536", EROFS),
	      READ_ONLY("96", EROFS), GONE },
	    .root = true },
	  KNOB_FACTOR,
	  false,
	  "read-only",
	  "read-write" },
	{ "patched kernel, container with a read-only /proc",
	  { { READ_ONLY("4", EROFS), READ_ONLY("1536", EROFS),
	      READ_ONLY("96", EROFS), GONE },
	    .root = true,
	    .container = (char *)"docker" },
	  KNOB_FACTOR,
	  false,
	  "docker",
	  "on the host" },
	{ "patched kernel, one of the sysctls denied",
	  { { OPEN("4"), READ_ONLY("1536", EPERM), READ_ONLY("96", EPERM),
	      GONE },
	    .root = true },
	  KNOB_FACTOR,
	  false,
	  "not permitted",
	  "security module" },
	{ "stock kernel, root",
	  { { GONE, GONE, GONE, OPEN("33") }, .root = true, .debugfs = 1 },
	  KNOB_CEILING,
	  true,
	  "",
	  NULL },
	{ "stock kernel, root, lockdown off",
	  { { GONE, GONE, GONE, OPEN("33") },
	    .root = true,
	    .debugfs = 1,
	    .level = (char *)"none" },
	  KNOB_CEILING,
	  true,
	  "",
	  NULL },
	{ "stock kernel, locked down",
	  { { GONE, GONE, GONE, DENIED(EPERM) },
	    .root = true,
	    .debugfs = 1,
	    .lockdown = true,
	    .level = (char *)"integrity" },
	  KNOB_NONE,
	  false,
	  "lockdown (integrity)",
	  "without lockdown" },
	{ "stock kernel, locked down, not root",
	  { { GONE, GONE, GONE, DENIED(EACCES) },
	    .debugfs = 1,
	    .lockdown = true,
	    .level = (char *)"integrity" },
	  KNOB_NONE,
	  false,
	  "lockdown (integrity)",
	  "without lockdown" },
	{ "stock kernel, locked down, level hidden",
	  { { GONE, GONE, GONE, DENIED(EPERM) }, .root = true, .debugfs = 1 },
	  KNOB_NONE,
	  false,
	  "lockdown (level unknown)",
	  "without lockdown" },
	{ "container on a kernel that is locked down, level hidden",
	  { { GONE, GONE, GONE, DENIED(EPERM) },
	    .root = true,
	    .debugfs = 1,
	    .container = (char *)"docker" },
	  KNOB_NONE,
	  false,
	  "lockdown (level unknown)",
	  "without lockdown" },
	{ "denied with lockdown off",
	  { { GONE, GONE, GONE, DENIED(EPERM) },
	    .root = true,
	    .debugfs = 1,
	    .level = (char *)"none" },
	  KNOB_NONE,
	  false,
	  "not permitted",
	  "security module" },
	{ "stock kernel, not root",
	  { { GONE, GONE, GONE, DENIED(EACCES) }, .debugfs = 1 },
	  KNOB_NONE,
	  false,
	  "root only",
	  "as root" },
	{ "stock kernel, debugfs not mounted",
	  { { GONE, GONE, GONE, GONE }, .root = true, .debugfs = 0 },
	  KNOB_NONE,
	  false,
	  "not mounted",
	  "mount -t debugfs" },
	{ "stock kernel, debugfs not mounted, not root",
	  { { GONE, GONE, GONE, GONE }, .debugfs = 0 },
	  KNOB_NONE,
	  false,
	  "not mounted",
	  "as root: mount" },
	{ "container",
	  { { GONE, GONE, GONE, GONE },
	    .root = true,
	    .debugfs = 0,
	    .container = (char *)"podman" },
	  KNOB_NONE,
	  false,
	  "podman",
	  "on the host" },
	{ "container that denies debugfs",
	  { { GONE, GONE, GONE, DENIED(EACCES) },
	    .root = true,
	    .debugfs = 1,
	    .container = (char *)"lxc" },
	  KNOB_NONE,
	  false,
	  "lxc",
	  "on the host" },
	{ "a kernel without either",
	  { { GONE, GONE, GONE, GONE }, .root = true, .debugfs = 1 },
	  KNOB_NONE,
	  false,
	  "neither",
	  "a kernel with" },
	{ "no number in debugfs",
	  { { GONE, GONE, GONE, OPEN("33 pages") },
	    .root = true,
	    .debugfs = 1 },
	  KNOB_NONE,
	  false,
	  "no number",
	  "a kernel" },
	{ "a negative ceiling",
	  { { GONE, GONE, GONE, OPEN("-1") }, .root = true, .debugfs = 1 },
	  KNOB_NONE,
	  false,
	  "no number",
	  "a kernel" },
	{ "a factor out of range, so the other knob",
	  { { OPEN("17"), OPEN("1536"), READ_ONLY("33", EACCES), OPEN("33") },
	    .root = true,
	    .debugfs = 1 },
	  KNOB_CEILING,
	  true,
	  "",
	  NULL },
	{ "a factor without E, so the other knob",
	  { { OPEN("4"), GONE, GONE, OPEN("33") }, .root = true, .debugfs = 1 },
	  KNOB_CEILING,
	  true,
	  "",
	  NULL },
	{ "an enormous ceiling",
	  { { GONE, GONE, GONE, OPEN("262144") }, .root = true, .debugfs = 1 },
	  KNOB_CEILING,
	  true,
	  "",
	  NULL },
};

static void test_decide(void)
{
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		const struct machine *m = &machines[i];
		struct knob knob;

		knob_decide(&m->facts, &knob);
		is_int(knob.now.kind, m->kind, "%s: the knob", m->name);
		is_int(knob.writable, m->writable, "%s: writable", m->name);
		ok(m->writable ? !*knob.why && !knob.lift :
				 strstr(knob.why, m->why) && knob.lift &&
					 strstr(knob.lift, m->lift),
		   "%s: '%s', '%s'", m->name, knob.why,
		   knob.lift ? knob.lift : "");
	}
}

/* writing --------------------------------------------------------------- */

static struct knob_value factor(int f, int entries)
{
	return (struct knob_value){ KNOB_FACTOR, f, entries, -1 };
}

static struct knob_value ceiling(int pages)
{
	return (struct knob_value){ .kind = KNOB_CEILING, .pages = pages };
}

static void test_fault(void)
{
	const struct {
		struct knob_value value;
		bool good;
	} values[] = {
		{ factor(-2, 0), true },
		{ factor(-1, 0), true },
		{ factor(0, 1), true },
		{ factor(16, KNOB_ENTRIES_MAX), true },
		{ factor(-3, 64), false },
		{ factor(17, 64), false },
		{ factor(0, 0), false },
		{ factor(4, -1), false },
		{ factor(4, KNOB_ENTRIES_MAX + 1), false },
		{ ceiling(0), true },
		{ ceiling(INT_MAX), true },
		{ ceiling(-1), false },
		{ { .kind = KNOB_NONE }, false },
	};
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		char text[KNOB_TEXT];

		knob_text(&values[i].value, text);
		is_int(!knob_fault(&values[i].value), values[i].good,
		       "may be written or not: %s", text);
	}
}

static void test_order(void)
{
	struct knob_write writes[KNOB_WRITES];
	struct knob_value value = factor(4, 1536);

	is_int(knob_writes(&value, writes), 3, "three writes");
	ok(writes[0].file == KNOB_FILE_FACTOR && writes[0].value == -2,
	   "first the factor -2, under which any E is taken");
	ok(writes[1].file == KNOB_FILE_ENTRIES && writes[1].value == 1536,
	   "then E");
	ok(writes[2].file == KNOB_FILE_FACTOR && writes[2].value == 4,
	   "then the factor");
	value = factor(-2, 0);
	is_int(knob_writes(&value, writes), 2, "-2 is not written twice");
	value = ceiling(7);
	is_int(knob_writes(&value, writes), 1, "one write for a ceiling");
	ok(writes[0].file == KNOB_FILE_CEILING && writes[0].value == 7,
	   "of the pages");
}

static void test_took(void)
{
	const struct {
		struct knob_value wrote, read;
		bool took;
		const char *name;
	} all[] = {
		{ factor(4, 1536), { KNOB_FACTOR, 4, 1536, 96 }, true, "96" },
		{ factor(4, 1536),
		  { KNOB_FACTOR, 4, 1536, 33 },
		  false,
		  "a ceiling the kernel made otherwise" },
		{ factor(4, 1536),
		  { KNOB_FACTOR, 4, 64, 96 },
		  false,
		  "another E" },
		{ factor(4, 1536),
		  { KNOB_FACTOR, 5, 1536, 96 },
		  false,
		  "another factor" },
		{ factor(0, 4096),
		  { KNOB_FACTOR, 0, 4096, 512 },
		  true,
		  "clamped" },
		{ factor(-2, 4096),
		  { KNOB_FACTOR, -2, 4096, 33 },
		  true,
		  "the stock rule" },
		{ factor(4, 1536),
		  { KNOB_FACTOR, 4, 1536, -1 },
		  true,
		  "hidden" },
		{ ceiling(9), { KNOB_CEILING, 0, 0, 9 }, true, "9" },
		{ ceiling(9), { KNOB_CEILING, 0, 0, 8 }, false, "8 for 9" },
		{ ceiling(9), { KNOB_NONE, 0, 0, -1 }, false, "gone" },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		is_int(knob_took(&all[i].wrote, &all[i].read), all[i].took,
		       "read back: %s", all[i].name);
}

/* a made-up tree ---------------------------------------------------------- */

/* The text of a file, for is_string. */
static void is_file(const char *root, enum knob_file file, const char *want)
{
	char *text = sysfile_read(root, knob_path[file]);

	is_string(text, want, "%s", knob_path[file]);
	free(text);
}

static void test_tree(void)
{
	struct knob_value value = ceiling(512);
	char *root = tree_open(), *why = NULL;
	struct knob knob;
	json_t *json;

	knobfile_find(root, &knob);
	is_int(knob.now.kind, KNOB_NONE, "an empty machine has no knob");
	json = knobjson_knob(&knob);
	ok(json_is_null(json_object_get(json, "kind")) &&
		   json_is_null(json_object_get(json, "pages")) &&
		   json_is_false(json_object_get(json, "writable")) &&
		   json_is_string(json_object_get(json, "why")),
	   "in JSON as well, with nulls");
	json_decref(json);
	ok(knobfile_write(root, &value, &why) < 0 && why &&
		   strstr(why, "No such file"),
	   "which cannot be written");
	free(why);

	tree_write(root, knob_path[KNOB_FILE_CEILING], "33\n");
	knobfile_find(root, &knob);
	is_int(knob.now.pages, 33, "a ceiling");
	is_int(knobfile_write(root, &value, &why), 0, "is written");
	is_file(root, KNOB_FILE_CEILING, "512");
	value = ceiling(7);
	is_int(knobfile_write(root, &value, &why), 0, "a shorter one");
	is_file(root, KNOB_FILE_CEILING, "7");

	tree_write(root, knob_path[KNOB_FILE_FACTOR], "-2\n");
	tree_write(root, knob_path[KNOB_FILE_ENTRIES], "0\n");
	knobfile_find(root, &knob);
	is_int(knob.now.kind, KNOB_FACTOR, "the sysctls are preferred");
	value = factor(4, 1536);
	is_int(knobfile_write(root, &value, &why), 0, "and written");
	is_file(root, KNOB_FILE_FACTOR, "4");
	is_file(root, KNOB_FILE_ENTRIES, "1536");
	is_file(root, KNOB_FILE_CEILING, "7");
	value = factor(4, 0);
	ok(knobfile_write(root, &value, &why) < 0 && strstr(why, "entries"),
	   "a value that the kernel would refuse is not tried");
	free(why);
	is_file(root, KNOB_FILE_FACTOR, "4");

	/* A kernel that makes another ceiling of it. */
	tree_write(root, knob_path[KNOB_FILE_PAGES], "33\n");
	value = factor(5, 1536);
	is_int(knobfile_write(root, &value, &why), -1,
	       "what is read back is compared");
	ok(strstr(why, "read back") && strstr(why, "33 pages"), "... %s", why);
	free(why);
	tree_close(root);
}

int main(void)
{
	test_decide();
	test_fault();
	test_order();
	test_took();
	test_tree();
	return done();
}
