/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * models: the database of measured CPU models: list it, explain a record, look
 * this machine up, record this machine, and merge what others have measured.
 *
 * Measuring is left to tune, which is run from beside this program; a report
 * that it saved will do as well. Either way everything is derived again here,
 * so that all records are this version's reading of what was timed.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "derive.h"
#include "explain.h"
#include "machine.h"
#include "modeldb.h"
#include "modelfile.h"
#include "models.h"
#include "options.h"
#include "output.h"
#include "placement.h"
#include "report.h"
#include "saved.h"
#include "why.h"

extern char **environ;

enum action {
	ACTION_LIST,
	ACTION_SHOW,
	ACTION_LOOKUP,
	ACTION_RECORD,
	ACTION_MERGE,
};

static const char *const action_name[] = {
	[ACTION_LIST] = "list",	    [ACTION_SHOW] = "show",
	[ACTION_LOOKUP] = "lookup", [ACTION_RECORD] = "record",
	[ACTION_MERGE] = "merge",
};

/* The databases to read: of the package and of the user, or that of --db. */
struct sources {
	char *path[2];
	json_t *db[2];
	size_t n;
	json_t *all; /* what is better of each */
};

/*
 * What was asked for, and all that is allocated for it: input may turn out to
 * be bad at any depth, where the program ends.
 */
struct run {
	struct options_common common;
	enum action action;
	const char *id;	   /* of --show */
	const char *from;  /* a saved report, or NULL */
	const char *db;	   /* or NULL */
	const char *merge; /* a database */

	struct sources sources;
	char *path;	/* the database to write */
	json_t *tune;	/* the report of tune */
	json_t *new;	/* what is to be merged, a database */
	json_t *report; /* ours */
};

/* options --------------------------------------------------------------- */

enum { KEY_SHOW = 0x200, KEY_LOOKUP, KEY_RECORD, KEY_MERGE, KEY_FROM, KEY_DB };

static void choose(struct run *run, enum action action)
{
	if (run->action != ACTION_LIST)
		options_refuse("--%s and --%s: expected one of them",
			       action_name[run->action], action_name[action]);
	run->action = action;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run *run = state->input;

	switch (key) {
	case KEY_SHOW:
		choose(run, ACTION_SHOW);
		run->id = arg;
		return 0;
	case KEY_LOOKUP:
		choose(run, ACTION_LOOKUP);
		return 0;
	case KEY_RECORD:
		choose(run, ACTION_RECORD);
		return 0;
	case KEY_MERGE:
		choose(run, ACTION_MERGE);
		run->merge = arg;
		return 0;
	case KEY_FROM:
		run->from = arg;
		return 0;
	case KEY_DB:
		if (!*arg)
			options_refuse("--db: expected a file name, got ''");
		run->db = arg;
		return 0;
	case ARGP_KEY_END:
		if (run->from && run->action != ACTION_RECORD &&
		    run->action != ACTION_LOOKUP)
			options_refuse("--from: expected --record or --lookup "
				       "beside it");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option models_options[] = {
	{ "show", KEY_SHOW, "ID", 0, "explain the record with that ID", 1 },
	{ "lookup", KEY_LOOKUP, NULL, 0,
	  "find what is on file for this machine: by model, else by family; "
	  "with --from, for the machine of that report, and say how far its "
	  "costs agree",
	  1 },
	{ "record", KEY_RECORD, NULL, 0,
	  "measure this machine with tune, about 10 s, and file the result; a "
	  "worse measurement never replaces a better one",
	  1 },
	{ "merge", KEY_MERGE, "FILE", 0,
	  "file what is better in another database", 1 },
	{ "from", KEY_FROM, "FILE", 0,
	  "take a JSON report that tune has saved, measure nothing", 1 },
	{ "db", KEY_DB, "FILE", 0,
	  "the only database to read, or the one to write", 1 },
	{ 0 },
};

static void parse_options(int argc, char **argv, struct run *run)
{
	static const struct argp argp = {
		.options = models_options,
		.parser = parse,
		.doc = "List the CPU models whose TLB flushes have been "
		       "measured.\v"
		       "Without --db, records are read from the database that "
		       "came with tlbtune and from that of the user, "
		       "$XDG_DATA_HOME/tlbtune/cpus.json (by default in "
		       "~/.local/share), and written to the latter. "
		       "$TLBTUNE_DATADIR is where the former is, if elsewhere. "
		       "Exit status: 0 done, 1 failed, 2 bad usage or input, "
		       "77 cannot measure on this machine.",
	};

	*run = (struct run){ .action = ACTION_LIST };
	options_common_init(&run->common);
	options_parse_with(&argp, argc, argv, run, &options_common_argp,
			   &run->common);
}

/* End with the sentence of another part about bad input, NULL on ENOMEM. */
__attribute__((noreturn)) static void refuse(char *why)
{
	error(0, 0, "%s", why_text(why));
	free(why);
	exit(STATUS_USAGE);
}

/* reports of tune ------------------------------------------------------- */

/*
 * The program tune beside this one, which may be installed under another name:
 * tlb-models has a tlb-tune.
 */
static char *find_tune(void)
{
	char *self = realpath("/proc/self/exe", NULL);
	char *name = self ? strrchr(self, '/') : NULL;
	char *at = name ? strstr(name, "models") : NULL;
	char *tune;

	if (!at)
		options_refuse("cannot find tune: expected it beside this "
			       "program, which is '%s'; use --from",
			       self ? self : "unknown");
	if (asprintf(&tune, "%.*stune%s", (int)(at - self), self,
		     at + strlen("models")) < 0)
		error(STATUS_FAILED, ENOMEM, "tune");
	free(self);
	return tune;
}

/* Start tune with its report going into a pipe; *pid, and the end to read. */
static int start_tune(struct run *run, const char *tune, pid_t *pid)
{
	const char *argv[9];
	char seed[24];
	posix_spawn_file_actions_t actions;
	int argc = 0, status, fds[2];

	snprintf(seed, sizeof(seed), "%" PRIu64, run->common.seed);
	argv[argc++] = tune;
	argv[argc++] = "--format";
	argv[argc++] = "json";
	argv[argc++] = "--seed";
	argv[argc++] = seed;
	if (run->common.cpus) {
		argv[argc++] = "--cpus";
		argv[argc++] = run->common.cpus;
	}
	if (run->common.quick)
		argv[argc++] = "--quick";
	argv[argc] = NULL;
	if (pipe(fds) < 0)
		error(STATUS_FAILED, errno, "pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclose(&actions, fds[0]);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, fds[1]);
	status = posix_spawn(pid, tune, &actions, NULL, (char *const *)argv,
			     environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (status)
		error(STATUS_FAILED, status, "cannot run '%s'", tune);
	return fds[0];
}

/* Run tune and return its report. */
static json_t *measure(struct run *run)
{
	char *tune = find_tune();
	json_error_t at;
	json_t *report;
	pid_t pid;
	int status, fd = start_tune(run, tune, &pid);

	report = json_loadfd(fd, JSON_REJECT_DUPLICATES, &at);
	close(fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			error(STATUS_FAILED, errno, "%s", tune);
	if (WIFSIGNALED(status))
		error(STATUS_FAILED, 0, "%s: %s; nothing is recorded", tune,
		      strsignal(WTERMSIG(status)));
	/* It has said why. */
	if (WEXITSTATUS(status))
		exit(WEXITSTATUS(status));
	if (!report)
		error(STATUS_FAILED, 0, "%s:%d: %s", tune, at.line, at.text);
	free(tune);
	return report;
}

/* Derive everything again from what report, called name, has measured. */
static void derive_again(struct run *run, json_t *report, const char *name)
{
	const struct question question = {
		.seed = saved_seed(report, &run->common),
	};
	struct findings findings;
	struct record record;
	char *why = NULL;

	if (saved_record(report, name, &record, &why) < 0)
		refuse(why);
	if (derive(&record, &question, &findings) < 0) {
		if (errno == EINVAL)
			options_refuse("%s: record.search: expected timings of "
				       "at least 8 sizes",
				       name);
		error(STATUS_FAILED, errno, "derive");
	}
	if (explain_json(report, &record, &findings) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
	derive_free(&findings);
	record_free(&record);
}

/* The record of the report of --from, or of one measured now. */
static json_t *make_record(struct run *run)
{
	const char *name = run->from ? run->from : "tune";
	json_t *record;
	char *why = NULL;

	if (run->from)
		run->tune =
			saved_read(run->from, "a JSON report of tune", &why);
	else
		run->tune = measure(run);
	if (!run->tune)
		refuse(why);
	derive_again(run, run->tune, name);
	record = modeldb_record(run->tune, &why);
	if (!record) {
		error(0, 0, "%s: %s", name, why_text(why));
		free(why);
		exit(STATUS_USAGE);
	}
	return record;
}

/* What this machine is filed under; NULL if it is not known. */
static json_t *this_machine(struct run *run)
{
	struct placement placement;
	struct identity identity;
	json_t *environment, *machine;
	unsigned int cpu = 0;
	char *why = NULL;

	/* On the CPU that tune would measure: cores of a hybrid part differ. */
	if (placement_open(&placement, run->common.cpus, &why) == 0) {
		cpu = placement.cpu[0];
		placement_bind(&placement, cpu);
		placement_close(&placement);
	} else if (run->common.cpus) {
		error(0, 0, "--cpus: %s", why_text(why));
		free(why);
		exit(STATUS_USAGE);
	}
	free(why);
	identity_read(&identity_live, &identity);
	environment = machine_json("", cpu, &identity);
	why = NULL;
	machine = environment ? modeldb_machine(environment, &why) : NULL;
	free(why);
	json_decref(environment);
	return machine;
}

/* databases ------------------------------------------------------------- */

/* Merge all of from into to; rows tells what became of each. */
static void merge_all(json_t *to, const json_t *from, json_t *rows)
{
	static const char *const said[] = {
		[MODELDB_ADDED] = "added",
		[MODELDB_REPLACED] = "replaced",
		[MODELDB_KEPT] = "kept",
		[MODELDB_SAME] = "same",
	};
	const json_t *records = json_object_get(from, "records");
	enum modeldb_verdict verdict;
	const char *why;
	size_t i;

	for (i = 0; i < json_array_size(records); i++) {
		const json_t *record = json_array_get(records, i);

		if (modeldb_merge(to, record, &verdict, &why) < 0)
			error(STATUS_FAILED, ENOMEM, "database");
		if (rows)
			json_array_append_new(
				rows, json_pack("{s:O, s:s, s:s}", "id",
						json_object_get(record, "id"),
						"verdict", said[verdict], "why",
						why));
	}
}

/* Add one if it is there. path may be NULL and is taken over. */
static void add_source(struct sources *sources, char *path)
{
	char *why = NULL;
	json_t *db = path ? modelfile_read(path, &why) : NULL;

	if (!db)
		free(path);
	if (why)
		refuse(why);
	if (!db)
		return;
	sources->path[sources->n] = path;
	sources->db[sources->n++] = db;
	merge_all(sources->all, db, NULL);
}

static void open_sources(struct run *run, struct sources *sources)
{
	*sources = (struct sources){ .all = modeldb_new() };
	if (run->db) {
		add_source(sources, strdup(run->db));
		if (sources->n == 0)
			options_refuse("cannot read '%s': %s", run->db,
				       strerror(ENOENT));
		return;
	}
	add_source(sources, modelfile_of_package());
	add_source(sources, modelfile_of_user());
}

static void close_sources(struct sources *sources)
{
	while (sources->n > 0) {
		json_decref(sources->db[--sources->n]);
		free(sources->path[sources->n]);
	}
	json_decref(sources->all);
}

/* Which file has that very record. */
static const char *path_of(const struct sources *sources, const json_t *record)
{
	const char *id = json_string_value(json_object_get(record, "id"));
	size_t i;

	for (i = 0; i < sources->n; i++)
		if (json_equal(modeldb_get(sources->db[i], id), record))
			return sources->path[i];
	/* Merged of both. */
	return sources->path[sources->n - 1];
}

/* actions --------------------------------------------------------------- */

/* What every report of models has. */
static json_t *new_report(struct run *run)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:[]}", "schema", REPORT_SCHEMA,
			 "program", "models", "version", PACKAGE_VERSION,
			 "action", action_name[run->action], "results");
}

static void add(json_t *report, const char *key, json_t *value)
{
	if (!report || json_object_set_new(report, key, value) < 0)
		error(STATUS_FAILED, ENOMEM, "report");
}

static void list(struct run *run)
{
	const json_t *records = json_object_get(run->sources.all, "records");
	size_t i;

	for (i = 0; i < json_array_size(records); i++)
		json_array_append_new(json_object_get(run->report, "results"),
				      models_row(json_array_get(records, i)));
}

static void show(struct run *run)
{
	json_t *record = modeldb_get(run->sources.all, run->id);

	if (!record)
		options_refuse("--show: expected an ID that is on file, got "
			       "'%s'",
			       run->id);
	json_array_append_new(json_object_get(run->report, "results"),
			      models_row(record));
	add(run->report, "record", json_incref(record));
	add(run->report, "database",
	    json_string(path_of(&run->sources, record)));
}

/* IDs of the same model under conditions that are not the machine's. */
static json_t *other_conditions(const struct sources *sources,
				const json_t *machine)
{
	static const char *const same[] = { "vendor", "family", "model",
					    "core_type" };
	const json_t *records = json_object_get(sources->all, "records");
	const json_t *identity = json_object_get(machine, "identity");
	json_t *ids = json_array();
	size_t i, j;

	for (i = 0; i < json_array_size(records); i++) {
		const json_t *record = json_array_get(records, i);
		const json_t *of = json_object_get(record, "identity");

		for (j = 0; j < sizeof(same) / sizeof(*same); j++)
			if (!json_equal(json_object_get(of, same[j]),
					json_object_get(identity, same[j])))
				break;
		if (j == sizeof(same) / sizeof(*same) &&
		    !json_equal(json_object_get(record, "condition"),
				json_object_get(machine, "condition")))
			json_array_append(ids, json_object_get(record, "id"));
	}
	return ids;
}

/* The command that would record the machine, as the user typed ours. */
static json_t *record_command(const struct run *run)
{
	return json_pack("s++", program_invocation_name,
			 run->db ? " --record --db " : " --record",
			 run->db ? run->db : "");
}

/* The machine as a report has it, null for NULL. */
static json_t *machine_json_of(const json_t *machine)
{
	if (!machine)
		return json_null();
	return json_pack("{s:O, s:O, s:O}", "id",
			 json_object_get(machine, "id"), "identity",
			 json_object_get(machine, "identity"), "condition",
			 json_object_get(machine, "condition"));
}

static void lookup(struct run *run)
{
	json_t *here = run->from ? make_record(run) : NULL;
	json_t *machine = here ? json_incref(here) : this_machine(run);
	char *in = run->db ? strdup(run->db) : modelfile_of_package();
	json_t *report = run->report;
	enum modeldb_level level;
	const json_t *record;

	level = modeldb_find(run->sources.all, machine, &record);
	add(report, "level", json_string(modeldb_level_name[level]));
	add(report, "machine", machine_json_of(machine));
	add(report, "other_conditions",
	    other_conditions(&run->sources, machine));
	add(report, "looked_in", json_string(in));
	add(report, "record_command", record_command(run));
	if (record) {
		add(report, "record", json_deep_copy(record));
		add(report, "database",
		    json_string(path_of(&run->sources, record)));
	}
	if (record && here)
		add(report, "results", models_agreement(record, here));
	free(in);
	json_decref(machine);
	json_decref(here);
}

/* The database to write: that of --db, or the user's; malloc'ed. */
static char *path_to_write(struct run *run)
{
	char *path = run->db ? strdup(run->db) : modelfile_of_user();

	if (!path && errno == ENOENT)
		options_refuse("expected HOME or XDG_DATA_HOME to be set, or "
			       "--db FILE");
	if (!path)
		error(STATUS_FAILED, errno, "database");
	if (!run->db && modelfile_make_directory(path) < 0) {
		error(0, errno, "cannot write '%s'", path);
		free(path);
		exit(STATUS_USAGE);
	}
	return path;
}

/* Open the file to write, or refuse with what is wrong about it. */
static void open_to_write(const char *path, struct modelfile *file)
{
	char *why = NULL;

	if (modelfile_open(file, path, &why) < 0)
		refuse(why);
}

/* A database of the one record of --record. */
static json_t *recorded(struct run *run)
{
	json_t *record = make_record(run), *db = modeldb_new();

	if (!db ||
	    json_array_append_new(json_object_get(db, "records"), record) < 0)
		error(STATUS_FAILED, ENOMEM, "record");
	return db;
}

/* The database of --merge. */
static json_t *merged(struct run *run)
{
	char *why = NULL;
	json_t *db = modelfile_read(run->merge, &why);

	if (!db && !why)
		options_refuse("cannot read '%s': %s", run->merge,
			       strerror(ENOENT));
	if (!db)
		refuse(why);
	return db;
}

/* --record and --merge; the exit status. */
static int file_records(struct run *run)
{
	json_t *rows = json_object_get(run->report, "results"), *before;
	struct modelfile file;
	int status = STATUS_OK;

	run->path = path_to_write(run);
	/* What cannot be written is said before 10 s of measuring. */
	open_to_write(run->path, &file);
	modelfile_close(&file);
	if (output_check(run->path) < 0)
		return STATUS_USAGE;
	run->new = run->action == ACTION_MERGE ? merged(run) : recorded(run);

	open_to_write(run->path, &file);
	before = json_deep_copy(file.db);
	merge_all(file.db, run->new, rows);
	json_object_update_missing(file.db, run->new);
	if (!json_equal(before, file.db) && modelfile_write(&file) < 0)
		status = STATUS_FAILED;
	add(run->report, "database", json_string(run->path));
	add(run->report, "records",
	    json_integer((json_int_t)json_array_size(
		    json_object_get(file.db, "records"))));
	json_decref(before);
	modelfile_close(&file);
	return status;
}

/* The actions that only read. */
static void consult(struct run *run)
{
	open_sources(run, &run->sources);
	switch (run->action) {
	case ACTION_SHOW:
		show(run);
		break;
	case ACTION_LOOKUP:
		lookup(run);
		break;
	default:
		list(run);
		break;
	}
}

static void close_run(struct run *run)
{
	close_sources(&run->sources);
	free(run->path);
	json_decref(run->new);
	json_decref(run->tune);
	json_decref(run->report);
}

int main(int argc, char **argv)
{
	struct run run;
	int status = STATUS_OK;

	parse_options(argc, argv, &run);
	if (output_check(run.common.output) < 0)
		return STATUS_USAGE;
	run.report = new_report(&run);
	if (!run.report)
		error(STATUS_FAILED, ENOMEM, "report");
	if (run.action == ACTION_RECORD || run.action == ACTION_MERGE)
		status = file_records(&run);
	else
		consult(&run);
	if (status == STATUS_OK &&
	    report_write(run.report, &run.common, models_text) < 0)
		status = STATUS_FAILED;
	close_run(&run);
	return status;
}
