/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON, CSV and files that are replaced as a whole.
 */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "report.h"
#include "sysfile.h"
#include "tap.h"

static void test_numbers(void)
{
	struct estimate known = { 1.5, { 1, 2 } };
	struct estimate unknown = stats_unknown();
	json_t *json;

	json = report_number(NAN);
	ok(json_is_null(json), "NAN is null");
	json = report_number(INFINITY);
	ok(json_is_null(json), "infinity is null");
	json = report_number(0);
	ok(json_is_real(json) && json_real_value(json) == 0, "0 is 0");
	json_decref(json);

	json = report_estimate(&known);
	is_double(json_real_value(
			  json_array_get(json_object_get(json, "ci95"), 1)),
		  2, 0, "an interval is [lo, hi]");
	json_decref(json);
	json = report_estimate(&unknown);
	ok(json_is_null(json_object_get(json, "estimate")) &&
		   json_is_null(json_object_get(json, "ci95")),
	   "an unknown estimate is null, and so is its interval");
	json_decref(json);
}

static json_t *report_of_two(void)
{
	return json_pack("{s:b, s:[{s:s, s:i, s:{s:f}, s:[f, f]}, "
			 "{s:s, s:n, s:{s:n}, s:n}]}",
			 "partial", true, "results", "name", "a \"b\", c", "n",
			 3, "sub", "x", 0.5, "ci95", 1.0, 2.0, "name", "d", "n",
			 "sub", "x", "ci95");
}

static void test_get(void)
{
	json_t *json = json_pack("{s:i, s:f, s:n, s:s}", "i", 3, "f", 0.5,
				 "null", "text", "4");

	is_double(report_get(json, "i"), 3, 0, "an integer");
	is_double(report_get(json, "f"), 0.5, 0, "a fraction");
	is_double(report_get(json, "null"), NAN, 0, "null is unknown, not 0");
	is_double(report_get(json, "text"), NAN, 0, "so is what is text");
	is_double(report_get(json, "no"), NAN, 0, "and what is not there");
	is_double(report_get(NULL, "i"), NAN, 0, "in nothing, too");
	json_decref(json);
}

static void test_csv(void)
{
	json_t *report = report_of_two();
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	report_csv(report, to);
	fclose(to);
	is_string(text,
		  "name,n,sub.x,ci95.lo,ci95.hi,partial\r\n"
		  "\"a \"\"b\"\", c\",3,0.5,1,2,true\r\n"
		  "\"d\",,,,,true\r\n",
		  "CSV: flattened, quoted, unknown is empty");
	free(text);
	json_decref(report);
}

/* What compare needs is in the JSON and no column of the CSV. */
static void test_summaries(void)
{
	const double x[] = { 3, 1, 2 };
	struct summary summary;
	json_t *json, *report;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	stats_summarise(x, 3, &summary);
	json = report_summary(&summary, "ns");
	is_double(json_real_value(
			  json_array_get(json_object_get(json, "blocks"), 0)),
		  3, 0, "blocks in time order");
	is_int(json_array_size(json_object_get(json, "blocks")), 3,
	       "all of them");
	report = json_pack("{s:[o]}", "results", json);
	report_csv(report, to);
	fclose(to);
	ok(strstr(text, "ci95.hi,partial") && !strstr(text, "blocks"),
	   "CSV has no blocks");
	free(text);
	json_decref(report);
}

static void print_text(const json_t *report, FILE *to)
{
	(void)report;
	fputs("text\n", to);
}

/* The number of entries in the directory, without . and .. */
static int count_files(const char *directory)
{
	DIR *dir = opendir(directory);
	int n = -2;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* stderr of what is meant to fail is not for the log. */
static int hide_stderr(void)
{
	int old = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(null, STDERR_FILENO);
	close(null);
	return old;
}

static void show_stderr(int old)
{
	dup2(old, STDERR_FILENO);
	close(old);
}

static void test_files(const char *directory)
{
	struct options_common options = { .format = FORMAT_TEXT,
					  .output = "result" };
	json_t *report = report_of_two(), *back;
	struct output output;
	struct stat st;
	char *text;
	int old;

	if (chdir(directory) < 0) {
		skip(1, "%s", strerror(errno));
		return;
	}
	ok(report_write(report, &options, print_text) == 0, "a new file");
	text = sysfile_read("", "result");
	is_string(text, "text", "... has the text");
	free(text);
	options.format = FORMAT_JSON;
	ok(report_write(report, &options, print_text) == 0, "replaced");
	back = json_load_file("result", 0, NULL);
	ok(json_equal(report, back), "... by the JSON, which reads back alike");
	json_decref(back);
	is_int(count_files("."), 1, "no temporary file is left");
	ok(stat("result", &st) == 0 && (st.st_mode & 0777) == 0644,
	   "the usual mode");

	chmod("result", 0600);
	report_write(report, &options, print_text);
	ok(stat("result", &st) == 0 && (st.st_mode & 0777) == 0600,
	   "the mode of a file that was there stays");
	symlink("result", "link");
	options.output = "link";
	options.format = FORMAT_TEXT;
	report_write(report, &options, print_text);
	ok(lstat("link", &st) == 0 && S_ISLNK(st.st_mode),
	   "a symbolic link stays one");
	text = sysfile_read("", "result");
	is_string(text, "text", "... and what it points to is replaced");
	free(text);
	unlink("link");

	options.output = "/dev/null";
	ok(report_write(report, &options, print_text) == 0 &&
		   stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode),
	   "a device is written, not replaced");

	output_open(&output, "result");
	fputs("half", output.to);
	output_abandon(&output);
	text = sysfile_read("", "result");
	is_string(text, "text", "an abandoned file leaves the old one");
	free(text);
	is_int(count_files("."), 1, "... and nothing else");

	old = hide_stderr();
	options.output = "/dev/full";
	ok(report_write(report, &options, print_text) < 0,
	   "a full device is an error");
	ok(output_check("no/such/directory") < 0, "no such directory");
	ok(output_check(".") < 0, "a directory is not written to");
	symlink("nowhere", "dangling");
	ok(output_check("dangling") < 0 && lstat("dangling", &st) == 0 &&
		   S_ISLNK(st.st_mode),
	   "a dangling link is neither followed nor replaced");
	unlink("dangling");
	ok(output_check("/proc/no-such-file") < 0, "a read-only place");
	show_stderr(old);
	ok(output_check("new") == 0 && access("new", F_OK) < 0,
	   "checking makes no file");
	json_decref(report);
}

int main(void)
{
	char directory[] = "/tmp/tlbtune-report-XXXXXX";

	umask(022);
	test_numbers();
	test_get();
	test_csv();
	test_summaries();
	if (mkdtemp(directory)) {
		test_files(directory);
		unlink("result");
		rmdir(directory);
	}
	return done();
}
