/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeldb.h"
#include "setting.h"

/* choosing -------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int conclude(
	struct setting *out, enum setting_verdict verdict, const char *format,
	...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&out->why, format, args);
	va_end(args);
	if (len < 0) {
		out->why = NULL;
		return -1;
	}
	out->verdict = verdict;
	if (verdict == SETTING_REFUSE)
		out->value.kind = KNOB_NONE;
	return 0;
}

static int whole(const json_t *json, const char *path)
{
	const json_t *value = modeldb_at(json, path);

	return json_is_integer(value) ? (int)json_integer_value(value) : -1;
}

/* The value that the choice of a report is for that kind of knob. */
static struct knob_value recommended(const json_t *choice, enum knob_kind kind)
{
	struct knob_value value = { .kind = kind };

	if (kind == KNOB_CEILING) {
		value.pages = whole(choice, "regret_best_pages.pages");
		return value;
	}
	value.factor =
		(int)json_integer_value(json_object_get(choice, "factor"));
	value.entries = whole(choice, "entries");
	value.pages = whole(choice, "pages");
	return value;
}

int setting_choose(const json_t *report, const struct knob *knob, bool force,
		   struct setting *out)
{
	const json_t *choice = json_object_get(report, "choice");
	const char *reason =
		json_string_value(json_object_get(choice, "reason"));
	enum knob_kind kind = knob->now.kind;
	const char *gain = kind == KNOB_CEILING ? "gain_best_pages" : "gain";
	const json_t *of = json_object_get(choice, gain);
	int measured = whole(choice, "measured_pages");

	*out = (struct setting){ .verdict = SETTING_WRITE };
	if (!knob->writable)
		return conclude(out, SETTING_REFUSE,
				"%s; what would lift "
				"that: %s",
				knob->why, knob->lift);
	if (reason || !json_is_integer(json_object_get(choice, "factor")))
		return conclude(out, SETTING_REFUSE, "there is no choice: %s",
				reason ? reason : "the report has none");
	out->value = recommended(choice, kind);
	if (force)
		return 0;
	if (json_is_true(json_object_get(report, "partial")))
		return conclude(out, SETTING_REFUSE,
				"the measuring was interrupted (--force writes "
				"it all the same)");
	if (json_is_true(json_object_get(of, "leave_it_alone")))
		return conclude(out, SETTING_LEAVE,
				"leave it alone: %d pages would gain %.1f %%, "
				"less than the %.0f %% by which runs differ",
				out->value.pages,
				100 * json_number_value(
					      json_object_get(of, "estimate")),
				100 * json_number_value(json_object_get(
					      choice, "gain_threshold")));
	if (out->value.pages > measured)
		return conclude(out, SETTING_REFUSE,
				"%d pages are outside of what was measured: "
				"page by page up to %d (--force writes it all "
				"the same)",
				out->value.pages, measured);
	return 0;
}

/* matching -------------------------------------------------------------- */

static char *differs(const char *what, const json_t *then, const json_t *now)
{
	char *a = json_dumps(then, JSON_ENCODE_ANY | JSON_COMPACT);
	char *b = json_dumps(now, JSON_ENCODE_ANY | JSON_COMPACT);
	char *text;

	if (asprintf(&text, "another %s: %s then, %s now", what,
		     a ? a : "unknown", b ? b : "unknown") < 0)
		text = NULL;
	free(a);
	free(b);
	return text;
}

/* A member that must be known and the same; the first of a group. */
static char *member_differs(const json_t *then, const json_t *now,
			    const char *path, const char *what)
{
	const json_t *a = modeldb_at(then, path), *b = modeldb_at(now, path);

	if (json_is_string(a) && json_equal(a, b))
		return NULL;
	return differs(what, a, b);
}

/* Two core types of one hybrid part: what is chosen there is for all CPUs. */
static bool are_core_types(const char *key, const json_t *a, const json_t *b)
{
	return !strcmp(key, "core_type") && json_is_string(a) &&
	       json_is_string(b);
}

/* The first member of identity or condition that is another. */
static char *group_differs(const json_t *then, const json_t *now,
			   const char *group)
{
	json_t *a = json_object_get(then, group);
	json_t *b = json_object_get(now, group);
	const char *key;
	json_t *value;

	json_object_foreach(a, key, value) {
		const json_t *other = json_object_get(b, key);

		if (!json_equal(value, other) &&
		    !are_core_types(key, value, other))
			return differs(key, value, other);
	}
	return NULL;
}

char *setting_mismatch(const json_t *then, const json_t *now)
{
	char *why = NULL;
	json_t *a = modeldb_machine(then, &why);
	json_t *b = a ? modeldb_machine(now, &why) : NULL;

	if (a && b) {
		why = group_differs(a, b, "identity");
		if (!why)
			why = group_differs(a, b, "condition");
		if (!why)
			why = member_differs(then, now, "kernel.release",
					     "kernel");
		if (!why && modeldb_at(then, "cpu.microcode") &&
		    !json_equal(modeldb_at(then, "cpu.microcode"),
				modeldb_at(now, "cpu.microcode")))
			why = differs("microcode",
				      modeldb_at(then, "cpu.microcode"),
				      modeldb_at(now, "cpu.microcode"));
	} else if (!why) {
		why = strdup("out of memory");
	}
	json_decref(a);
	json_decref(b);
	return why;
}

/* persisting ------------------------------------------------------------ */

const char *setting_path(enum knob_kind kind)
{
	return kind == KNOB_FACTOR ? "/etc/sysctl.d/60-tlbtune.conf" :
				     "/etc/tmpfiles.d/60-tlbtune.conf";
}

#define HEADER SETTING_MARK " " PACKAGE_VERSION "; tlb-tune --undo removes it."

char *setting_text(const struct knob_value *value)
{
	struct knob_write writes[KNOB_WRITES];
	size_t n = knob_writes(value, writes), i, size;
	char *text = NULL;
	FILE *to;

	to = open_memstream(&text, &size);
	if (!to)
		return NULL;
	fputs(HEADER "\n", to);
	if (value->kind == KNOB_FACTOR)
		fputs("# In this order. A '-' before a name: a kernel without "
		      "it boots all the same.\n",
		      to);
	for (i = 0; i < n; i++) {
		const char *path = knob_path[writes[i].file];

		if (value->kind == KNOB_FACTOR)
			fprintf(to, "-vm.%s = %d\n", strrchr(path, '/') + 1,
				writes[i].value);
		else
			fprintf(to, "w- %s - - - - %d\n", path,
				writes[i].value);
	}
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}
