/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "knobfile.h"
#include "knobjson.h"
#include "options.h"
#include "persist.h"
#include "setting.h"
#include "why.h"

/* Say why (freed; NULL: it has been said) in a line; the exit status. */
static int refuse(char *why, int status)
{
	if (why)
		error(0, 0, "nothing written: %s", why);
	free(why);
	return status;
}

/* Add the member setting; takes over files. */
static void report_setting(json_t *report, const char *verdict,
			   const struct apply_options *options,
			   const struct knob_value *old,
			   const struct knob_value *new, json_t *files,
			   const char *why)
{
	const struct knob_value *of = new ? new : old;

	json_object_set_new(report, "setting",
			    json_pack("{s:s, s:s, s:o, s:o, s:o, s:s?, s:b}",
				      "verdict", verdict, "knob",
				      knob_name[of->kind], "old",
				      knobjson_value(old), "new",
				      new ? knobjson_value(new) : json_null(),
				      "files", files ? files : json_array(),
				      "why", why, "dry_run", options->dry_run));
}

/* True if value is in force already. */
static bool is_in_force(const struct knob *knob, const struct knob_value *value)
{
	return knob_took(value, &knob->now);
}

/* writing --------------------------------------------------------------- */

/* Into force and into the files; a failure leaves all as it was. */
static int write_all(const struct session *session,
		     const struct apply_options *options,
		     const struct knob_value *value, const json_t *environment)
{
	const struct knob_value *now = &session->knob.now;
	char *why = NULL, *again = NULL;
	bool saved = false;
	json_t *files;

	if (persist_save(session->root, now, options->force, &saved, &why) < 0)
		return refuse(why, STATUS_FAILED);
	if (knobfile_write(session->root, value, &why) == 0 &&
	    persist_write(session->root, value, &why) == 0 &&
	    persist_store(session->root, value, environment, &why) == 0)
		return STATUS_OK;
	if (knobfile_write(session->root, now, &again) < 0)
		error(0, 0, "%s", why_text(again));
	free(again);
	files = json_array();
	if (saved && persist_undo(session->root, files, &again) < 0) {
		error(0, 0, "%s", why_text(again));
		free(again);
	}
	json_decref(files);
	return refuse(why, STATUS_FAILED);
}

static int write_choice(const struct session *session,
			const struct apply_options *options, json_t *report,
			const struct knob_value *value)
{
	const struct knob_value *now = &session->knob.now;
	json_t *files;
	int status = STATUS_OK;

	if (is_in_force(&session->knob, value) &&
	    persist_is_written(session->root, value)) {
		report_setting(report, "unchanged", options, now, value, NULL,
			       NULL);
		return STATUS_OK;
	}
	if (!options->dry_run)
		status = write_all(session, options, value,
				   json_object_get(report, "environment"));
	if (status != STATUS_OK)
		return status;
	files = json_pack("[s]", setting_path(value->kind));
	report_setting(report, "written", options, now, value, files, NULL);
	return STATUS_OK;
}

int apply_choice(const struct session *session,
		 const struct apply_options *options, json_t *report,
		 const json_t *now)
{
	const json_t *then = json_object_get(report, "environment");
	struct setting setting;
	char *mismatch = now ? setting_mismatch(then, now) : NULL;
	int status = STATUS_OK;

	if (mismatch)
		return refuse(mismatch, STATUS_FAILED);
	if (setting_choose(report, &session->knob, options->force, &setting) <
	    0)
		error(STATUS_FAILED, ENOMEM, "setting");
	switch (setting.verdict) {
	case SETTING_WRITE:
		status = write_choice(session, options, report, &setting.value);
		break;
	case SETTING_LEAVE:
		report_setting(report, "left alone", options,
			       &session->knob.now, &setting.value, NULL,
			       setting.why);
		break;
	case SETTING_REFUSE:
		return refuse(setting.why, STATUS_FAILED);
	}
	free(setting.why);
	return status;
}

/* undoing --------------------------------------------------------------- */

/* Put the value back, if this kernel has that knob. */
static int undo_value(const struct session *session,
		      const struct knob_value *value)
{
	char *why = NULL;

	if (session->knob.now.kind != value->kind || !session->knob.writable) {
		error(0, 0,
		      "%s cannot be written here, so only files are restored",
		      knob_name[value->kind]);
		return STATUS_OK;
	}
	if (knobfile_write(session->root, value, &why) < 0)
		return refuse(why, STATUS_FAILED);
	return STATUS_OK;
}

int apply_undo(const struct session *session,
	       const struct apply_options *options, json_t *report)
{
	json_t *files = json_array();
	struct knob_value value;
	int status = STATUS_OK;
	char *why = NULL;

	if (persist_saved(session->root, &value, &why) < 0) {
		json_decref(files);
		return refuse(why, STATUS_FAILED);
	}
	if (value.kind == KNOB_NONE) {
		report_setting(report, "nothing to undo", options,
			       &session->knob.now, NULL, files, NULL);
		return STATUS_OK;
	}
	if (!options->dry_run)
		status = undo_value(session, &value);
	if (status == STATUS_OK && !options->dry_run &&
	    persist_undo(session->root, files, &why) < 0)
		status = refuse(why, STATUS_FAILED);
	if (status == STATUS_OK)
		report_setting(report, "undone", options, &session->knob.now,
			       &value, files, NULL);
	else
		json_decref(files);
	return status;
}

/* at boot --------------------------------------------------------------- */

int apply_stored(const struct session *session,
		 const struct apply_options *options, json_t *report,
		 const json_t *now)
{
	const struct knob *knob = &session->knob;
	struct knob_value value;
	json_t *environment;
	char *why = NULL;

	if (persist_stored(session->root, &value, &environment, &why) < 0)
		return refuse(why, STATUS_FAILED);
	if (!environment)
		return refuse(strdup("no choice is stored: tune "
				     "--write-sysctl stores one"),
			      STATUS_CANNOT_RUN);
	why = setting_mismatch(environment, now);
	json_decref(environment);
	if (!why && !knob->writable)
		why = strdup(knob->why);
	else if (!why && knob->now.kind != value.kind)
		why = strdup("this kernel has another knob");
	if (why)
		return refuse(why, STATUS_CANNOT_RUN);
	if (is_in_force(knob, &value)) {
		report_setting(report, "unchanged", options, &knob->now, &value,
			       NULL, NULL);
		return STATUS_OK;
	}
	if (!options->dry_run &&
	    knobfile_write(session->root, &value, &why) < 0)
		return refuse(why, STATUS_FAILED);
	report_setting(report, "applied", options, &knob->now, &value, NULL,
		       NULL);
	return STATUS_OK;
}

/* for people ------------------------------------------------------------ */

static void value_text(const json_t *json, char text[KNOB_TEXT])
{
	struct knob_value value;
	char *why = NULL;

	if (knobjson_read(json, &value, &why) < 0)
		value = (struct knob_value){ .kind = KNOB_NONE, .pages = -1 };
	else if (value.kind == KNOB_FACTOR &&
		 json_is_integer(json_object_get(json, "pages")))
		value.pages =
			(int)json_integer_value(json_object_get(json, "pages"));
	free(why);
	knob_text(&value, text);
}

void apply_text(const json_t *report, FILE *to)
{
	const json_t *setting = json_object_get(report, "setting");
	const json_t *files = json_object_get(setting, "files");
	const char *why = json_string_value(json_object_get(setting, "why"));
	bool dry_run = json_is_true(json_object_get(setting, "dry_run"));
	char old[KNOB_TEXT], new[KNOB_TEXT];
	size_t i;

	if (!setting)
		return;
	value_text(json_object_get(setting, "old"), old);
	value_text(json_object_get(setting, "new"), new);
	fprintf(to, "Setting: %s%s\n",
		json_string_value(json_object_get(setting, "verdict")),
		dry_run ? " (dry run: nothing is)" : "");
	if (why)
		fprintf(to, "  %s\n", why);
	fprintf(to, "  %s: old %s",
		json_string_value(json_object_get(setting, "knob")), old);
	if (json_is_object(json_object_get(setting, "new")))
		fprintf(to, ", new %s", new);
	fputc('\n', to);
	for (i = 0; i < json_array_size(files); i++)
		fprintf(to, "  file: %s\n",
			json_string_value(json_array_get(files, i)));
}
