/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "tune_options.h"

#define MAX_TIME 10.0 /* seconds, the default of --max-time */
#define MAX_TIME_QUICK 3.0

enum {
	KEY_MAX_TIME = 0x200,
	KEY_FROM,
	KEY_VERIFY,
	KEY_KNOB,
	KEY_ROOT,
	KEY_OBJECTIVE,
	KEY_WRITE,
	KEY_DRY_RUN,
	KEY_UNDO,
	KEY_APPLY,
	KEY_FORCE,
	KEY_ENTRIES,
	KEY_REPORT,
	KEY_PLOT,
	KEY_ALSO,
	KEY_WORKLOAD,
	KEY_PID,
	KEY_ALL,
	KEY_SECONDS,
};

static const char *const action_name[] = {
	[ACTION_MEASURE] = "",
	[ACTION_KNOB] = "--knob",
	[ACTION_UNDO] = "--undo",
	[ACTION_APPLY] = "--apply",
};

static void set_action(struct tune_options *options, enum tune_action action)
{
	if (options->action != ACTION_MEASURE && options->action != action)
		options_refuse("%s: expected it without %s",
			       action_name[action],
			       action_name[options->action]);
	options->action = action;
}

static void set_root(struct tune_options *options, const char *root)
{
	struct stat st;

	if (stat(root, &st) < 0 || !S_ISDIR(st.st_mode))
		options_refuse("--root: expected a directory, got '%s'", root);
	options->root = strcmp(root, "/") ? root : "";
}

static enum objective parse_objective(const char *text)
{
	int i;

	for (i = 0; i < OBJECTIVES; i++)
		if (!strcmp(text, objective_name[i]))
			return (enum objective)i;
	options_refuse("--objective: expected minimax, latency or throughput, "
		       "got '%s'",
		       text);
}

/* What --workload watches, and for how long. */
static void check_workload(const struct tune_options *options)
{
	const struct workload_options *workload = &options->workload;
	int what = (workload->command != NULL) + (workload->process != 0) +
		   workload->all;

	if (!options->watches) {
		if (workload->command)
			options_refuse("expected no arguments without "
				       "--workload, got '%s'",
				       workload->command[0]);
		if (what || isfinite(workload->seconds))
			options_refuse("--pid, --all, --seconds: expected them "
				       "with --workload");
		return;
	}
	if (what != 1)
		options_refuse("--workload: expected one of -- COMMAND, --pid "
			       "and --all");
	if (!workload->command && !isfinite(workload->seconds))
		options_refuse("--workload: expected --seconds with --pid or "
			       "--all");
}

/* Options that cannot go together. */
static void check(const struct tune_options *options)
{
	if (options->from &&
	    (options->verify || options->common.cpus || options->common.quick ||
	     isfinite(options->max_time)))
		options_refuse("--from measures nothing: expected it without "
			       "--verify, --cpus, --quick and --max-time");
	check_workload(options);
	if (options->action == ACTION_MEASURE) {
		if (!options->write_sysctl &&
		    (options->apply.dry_run || options->apply.force))
			options_refuse("--dry-run, --force: expected them with "
				       "--write-sysctl, --undo or --apply");
		return;
	}
	if (options->from || options->write_sysctl || options->verify ||
	    options->report || options->plot || options->watches ||
	    options->also)
		options_refuse("%s: expected it without --from, --verify, "
			       "--also, --report, --plot, --workload and "
			       "--write-sysctl",
			       action_name[options->action]);
	if (options->action == ACTION_KNOB &&
	    (options->apply.dry_run || options->apply.force))
		options_refuse("--knob: expected it without --dry-run and "
			       "--force");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tune_options *options = state->input;

	switch (key) {
	case KEY_MAX_TIME:
		options->max_time = options_decimal("--max-time", arg, 3, 3600);
		return 0;
	case KEY_FROM:
		options->from = arg;
		return 0;
	case KEY_VERIFY:
		options->verify = true;
		return 0;
	case KEY_OBJECTIVE:
		options->objective = parse_objective(arg);
		return 0;
	case KEY_KNOB:
		set_action(options, ACTION_KNOB);
		return 0;
	case KEY_ALSO:
		options->also = arg;
		return 0;
	case KEY_REPORT:
		options->report = arg;
		return 0;
	case KEY_PLOT:
		options->plot = arg;
		return 0;
	case KEY_WORKLOAD:
		options->watches = true;
		return 0;
	case KEY_PID:
		options->workload.process =
			(pid_t)options_integer("--pid", arg, 1, INT_MAX);
		return 0;
	case KEY_ALL:
		options->workload.all = true;
		return 0;
	case KEY_SECONDS:
		options->workload.seconds =
			options_decimal("--seconds", arg, 0.1, 86400);
		return 0;
	case ARGP_KEY_ARGS:
		options->workload.command = state->argv + state->next;
		return 0;
	case KEY_WRITE:
		options->write_sysctl = true;
		return 0;
	case KEY_DRY_RUN:
		options->apply.dry_run = true;
		return 0;
	case KEY_FORCE:
		options->apply.force = true;
		return 0;
	case KEY_UNDO:
		set_action(options, ACTION_UNDO);
		return 0;
	case KEY_APPLY:
		set_action(options, ACTION_APPLY);
		return 0;
	case KEY_ENTRIES:
		options->entries = (unsigned int)options_integer(
			"--tlb-entries", arg, 1, KNOB_ENTRIES_MAX);
		return 0;
	case KEY_ROOT:
		set_root(options, arg);
		return 0;
	case ARGP_KEY_END:
		check(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option tune_options[] = {
	{ "max-time", KEY_MAX_TIME, "SECONDS", 0,
	  "measure about this long (default 10, with --quick 3; a "
	  "busy machine takes longer over a short run)",
	  1 },
	{ "from", KEY_FROM, "FILE", 0,
	  "derive everything again from a saved JSON report, measure nothing",
	  1 },
	{ "verify", KEY_VERIFY, NULL, 0,
	  "check the fit against working sets that it has not seen", 1 },
	{ "objective", KEY_OBJECTIVE, "NAME", 0,
	  "what the choice minimises: minimax (the largest regret, the "
	  "default), latency (the mean regret of a call) or throughput (the "
	  "total time)",
	  1 },
	{ "also", KEY_ALSO, "FILE", 0,
	  "choose for another core type as well, from a JSON report that was "
	  "measured there (--cpus)",
	  1 },
	{ "report", KEY_REPORT, "FILE.html", 0,
	  "write a page with pictures and tables as well, for a browser", 1 },
	{ "plot", KEY_PLOT, "FILE.svg", 0,
	  "write the picture of cost against pages as well; needs gnuplot", 1 },
	{ "workload", KEY_WORKLOAD, NULL, 0,
	  "watch the flushes of a program as well, and estimate the pages that "
	  "it reuses after one, which needs tracefs: of COMMAND, or of --pid "
	  "or --all for --seconds",
	  2 },
	{ "pid", KEY_PID, "PID", 0, "watch this process", 2 },
	{ "all", KEY_ALL, NULL, 0, "watch all processes", 2 },
	{ "seconds", KEY_SECONDS, "S", 0, "watch for so long", 2 },
	{ "knob", KEY_KNOB, NULL, 0,
	  "show which knob this kernel has and its value, restore what a tune "
	  "that was killed has left moved, measure nothing",
	  2 },
	{ "write-sysctl", KEY_WRITE, NULL, 0,
	  "bring the choice into force and keep it across reboots, in "
	  "/etc/sysctl.d or /etc/tmpfiles.d; as root",
	  2 },
	{ "tlb-entries", KEY_ENTRIES, "N", 0,
	  "choose and write for so many TLB entries (E), not for those measured",
	  2 },
	{ "force", KEY_FORCE, NULL, 0,
	  "write what was only extrapolated, interrupted or is better left "
	  "alone; replace a file that tune did not write",
	  2 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0,
	  "only show what --write-sysctl, --undo or --apply would do", 2 },
	{ "undo", KEY_UNDO, NULL, 0,
	  "restore the value and the files from before --write-sysctl", 2 },
	{ "apply", KEY_APPLY, NULL, 0,
	  "bring into force what --write-sysctl has stored, if CPU, kernel and "
	  "condition are those it was measured under; for boot",
	  2 },
	{ "root", KEY_ROOT, "DIR", 0,
	  "read and write the knob and its files below DIR, as in an image",
	  2 },
	{ 0 },
};

void tune_options_parse(int argc, char **argv, struct tune_options *options)
{
	static const struct argp argp = {
		.options = tune_options,
		.parser = parse,
		.args_doc = "[--workload -- COMMAND [ARGUMENT...]]",
		.doc = "Measure when flushing TLB entries page by page (INVLPG) "
		       "is cheaper than a full flush on this machine, and "
		       "derive the tlb_flushall_factor.\v"
		       "Needs no privileges; with them and a knob, both ways "
		       "are timed at every size, and the knob is put back. "
		       "Exit status: 0 done, 1 failed, 2 bad usage or input, "
		       "77 cannot run on this machine.",
	};

	*options = (struct tune_options){ .max_time = NAN,
					  .workload.seconds = NAN,
					  .root = "" };
	options_common_init(&options->common);
	options_parse_with(&argp, argc, argv, options, &options_common_argp,
			   &options->common);
	if (!isfinite(options->max_time))
		options->max_time = options->common.quick ? MAX_TIME_QUICK :
							    MAX_TIME;
}
