/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal: a knob of a made-up machine comes back to its value whatever happens
 * to the process that moved it; two do not move it at once; and no file that
 * somebody else could have written decides what root writes.
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "journal.h"
#include "knobfile.h"
#include "random.h"
#include "sysfile.h"
#include "tap.h"
#include "tree.h"

#define KILLS 50
#define JOURNAL "/run/tlbtune/journal"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static void sleep_ns(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

/* A machine with the sysctls or with the ceiling in debugfs. */
static char *machine_open(enum knob_kind kind)
{
	char *root = tree_open();

	tree_write(root, BOOT_ID, "one\n");
	if (kind == KNOB_FACTOR) {
		tree_write(root, knob_path[KNOB_FILE_FACTOR], "3\n");
		tree_write(root, knob_path[KNOB_FILE_ENTRIES], "777\n");
	} else {
		tree_write(root, knob_path[KNOB_FILE_CEILING], "33\n");
	}
	return root;
}

static bool is_original(const char *root, enum knob_kind kind)
{
	struct knob knob;

	knobfile_find(root, &knob);
	if (kind == KNOB_FACTOR)
		return knob.now.kind == kind && knob.now.factor == 3 &&
		       knob.now.entries == 777;
	return knob.now.kind == kind && knob.now.pages == 33;
}

static struct knob_value at_random(enum knob_kind kind, uint64_t seed)
{
	struct knob_value value = { .kind = kind };

	value.factor = (int)(seed % 18) - 1;
	value.entries = 1 + (int)(seed / 32 % 4096);
	value.pages = (int)(seed / 32 % 513);
	return value;
}

/* Open or end the process with a message. */
static enum journal_found open_journal(struct journal *journal,
				       const char *root)
{
	enum journal_found found;
	char *why;

	if (journal_open(journal, root, NULL, &found, &why) < 0)
		error(1, 0, "%s", why ? why : strerror(errno));
	return found;
}

static void begin(struct journal *journal)
{
	struct knob knob;
	char *why;

	knobfile_find(journal->root, &knob);
	if (journal_begin(journal, &knob.now, &why) < 0)
		error(1, 0, "%s", why ? why : "journal_begin");
}

/* Move the knob until killed. */
__attribute__((noreturn)) static void move_forever(const char *root,
						   enum knob_kind kind,
						   uint64_t seed)
{
	uint64_t i;
	char *why;

	for (i = 0;; i++) {
		struct knob_value value =
			at_random(kind, random_stream(seed, i));

		if (knobfile_move(root, &value, &why) < 0)
			error(1, 0, "%s", why);
	}
}

/* As tune does: the moving is done by a child that dies with its parent. */
__attribute__((noreturn)) static void tuner(const char *root,
					    enum knob_kind kind, uint64_t seed,
					    int ready)
{
	struct journal journal;
	pid_t parent = getpid();

	/* Sometimes killed before there is anything to restore. */
	if (write(ready, "x", 1) != 1)
		_exit(1);
	open_journal(&journal, root);
	begin(&journal);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		move_forever(root, kind, seed);
	}
	move_forever(root, kind, seed + 1);
}

/* Kill a tuner at some moment; true if it had a journal by then. */
static bool kill_one(const char *root, enum knob_kind kind, uint64_t seed)
{
	struct journal journal;
	int ready[2], status;
	bool left;
	pid_t pid;
	char byte;

	if (pipe(ready) < 0)
		error(1, errno, "pipe");
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		tuner(root, kind, seed, ready[1]);
	close(ready[1]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		error(1, errno, "a tuner");
	close(ready[0]);
	sleep_ns((long)(random_stream(seed, 99) % 20000000));
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) < 0)
		error(1, errno, "waitpid");
	left = journal_is_there(root);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	   "a tuner is killed, knob %s", left ? "moved" : "not yet moved");
	is_int(open_journal(&journal, root),
	       left ? JOURNAL_RESTORED : JOURNAL_NONE,
	       "the next start says whether it restored");
	journal_close(&journal);
	/* Nobody is left who could move it again. */
	sleep_ns(1000000);
	ok(is_original(root, kind) && !journal_is_there(root),
	   "the value is back, the journal gone");
	return left;
}

static void test_kill(enum knob_kind kind)
{
	char *root = machine_open(kind);
	unsigned int i, moved = 0;

	for (i = 0; i < KILLS; i++)
		moved += kill_one(root, kind, 1000u * kind + i);
	ok(moved >= KILLS / 5, "%u of %d were killed while moving", moved,
	   KILLS);
	tree_close(root);
}

/* other ends -------------------------------------------------------------- */

static void test_end(void)
{
	char *root = machine_open(KNOB_FACTOR), *why;
	struct knob_value value = at_random(KNOB_FACTOR, 4711);
	struct journal journal;

	is_int(open_journal(&journal, root), JOURNAL_NONE, "nothing is left");
	begin(&journal);
	ok(journal_is_there(root), "there is a journal");
	ok(knobfile_write(root, &value, &why) == 0 &&
		   !is_original(root, KNOB_FACTOR),
	   "the knob is moved");
	is_int(journal_end(&journal, &why), 0, "the end");
	ok(is_original(root, KNOB_FACTOR) && !journal_is_there(root),
	   "restores it");
	begin(&journal);
	knobfile_write(root, &value, &why);
	journal_close(&journal);
	ok(is_original(root, KNOB_FACTOR) && !journal_is_there(root),
	   "so does closing without an end");
	tree_close(root);
}

/* exit() in the middle of it, and a child that leaves by _exit. */
static void test_exit(void)
{
	/* Static, so that no sanitizer takes what exit leaves for a leak. */
	static struct journal journal;
	static char *root;
	struct knob_value value = { .kind = KNOB_CEILING, .pages = 7 };
	int status;
	pid_t pid;

	root = machine_open(KNOB_CEILING);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		char *why;

		open_journal(&journal, root);
		begin(&journal);
		if (fork() == 0)
			_exit(0);
		wait(NULL);
		knobfile_write(root, &value, &why);
		fclose(stdout); /* what the test has printed stays its */
		exit(is_original(root, KNOB_CEILING) ? 1 : 3);
	}
	waitpid(pid, &status, 0);
	is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 3,
	       "exits with the knob moved");
	ok(is_original(root, KNOB_CEILING) && !journal_is_there(root),
	   "and it is restored at exit");
	tree_close(root);
}

/* The second one waits for the first. */
static void test_two(void)
{
	char *root = machine_open(KNOB_CEILING);
	struct journal journal;
	int status;
	pid_t pid;

	open_journal(&journal, root);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct journal second;

		/* What was inherited is not the second one's to hold. */
		close(journal.lock);
		freopen("/dev/null", "w", stderr);
		open_journal(&second, root);
		_exit(0);
	}
	sleep_ns(100000000);
	is_int(waitpid(pid, &status, WNOHANG), 0, "a second tuner waits");
	journal_close(&journal);
	is_int(waitpid(pid, &status, 0), pid, "until the first has finished");
	is_int(status, 0, "and then has the lock");
	tree_close(root);
}

/* hostile files ------------------------------------------------------------ */

#define CEILING_33 "\"kind\": \"tlb_single_page_flush_ceiling\", \"pages\": 33"
#define FACTOR "\"kind\": \"vm.tlb_flushall_factor\", "

static const struct {
	const char *text, *why;
} hostile[] = {
	{ "", "expected a file that tune wrote" },
	{ "\n\n", "expected a file that tune wrote" },
	{ "[]", "expected a file that tune wrote" },
	{ "not json", "expected a file that tune wrote" },
	{ "{\"schema\": 1", "expected a file that tune wrote" },
	{ "{\"schema\": 1, \"schema\": 1}", "expected a file that tune wrote" },
	{ "{\"schema\": 2, \"value\": {" CEILING_33 "}}", "schema 1" },
	{ "{\"schema\": \"1\", \"value\": {" CEILING_33 "}}", "schema 1" },
	{ "{\"value\": {" CEILING_33 "}}", "schema 1" },
	{ "{\"schema\": 1}", "kind" },
	{ "{\"schema\": 1, \"value\": 33}", "kind" },
	{ "{\"schema\": 1, \"value\": {\"kind\": \"vm.swappiness\"}}", "kind" },
	{ "{\"schema\": 1, \"value\": {\"kind\": 1}}", "kind" },
	{ "{\"schema\": 1, \"value\": {\"kind\": "
	  "\"tlb_single_page_flush_ceiling\"}}",
	  "pages" },
	{ "{\"schema\": 1, \"value\": {\"kind\": "
	  "\"tlb_single_page_flush_ceiling\", \"pages\": -1}}",
	  "pages" },
	{ "{\"schema\": 1, \"value\": {\"kind\": "
	  "\"tlb_single_page_flush_ceiling\", \"pages\": 4294967329}}",
	  "pages" },
	{ "{\"schema\": 1, \"value\": {\"kind\": "
	  "\"tlb_single_page_flush_ceiling\", \"pages\": 33.5}}",
	  "pages" },
	{ "{\"schema\": 1, \"value\": {\"kind\": "
	  "\"tlb_single_page_flush_ceiling\", \"pages\": \"33\"}}",
	  "pages" },
	{ "{\"schema\": 1, \"value\": {" FACTOR "\"entries\": 64}}", "factor" },
	{ "{\"schema\": 1, \"value\": {" FACTOR
	  "\"factor\": 17, \"entries\": 64}}",
	  "factor" },
	{ "{\"schema\": 1, \"value\": {" FACTOR "\"factor\": 4}}", "entries" },
	{ "{\"schema\": 1, \"value\": {" FACTOR
	  "\"factor\": 4, \"entries\": 0}}",
	  "entries" },
	{ "{\"schema\": 1, \"value\": {" FACTOR
	  "\"factor\": 4, \"entries\": 99999999}}",
	  "entries" },
};

/* Opening is refused with that reason, and nothing is written. */
static void refused(const char *root, const char *reason, const char *name)
{
	enum journal_found found;
	struct journal journal;
	char *why = NULL;

	ok(journal_open(&journal, root, NULL, &found, &why) < 0 && why &&
		   strstr(why, reason) && strstr(why, "/run/tlbtune"),
	   "refused: %s: %s", name, why ? why : "");
	ok(is_original(root, KNOB_CEILING), "and nothing written");
	free(why);
}

static char *below(const char *root, const char *path)
{
	char *name;

	if (asprintf(&name, "%s%s", root, path) < 0)
		error(1, errno, "asprintf");
	return name;
}

static void test_hostile(void)
{
	char *root = machine_open(KNOB_CEILING);
	char *name = below(root, JOURNAL), *other = below(root, "/other");
	char *directory = below(root, "/run/tlbtune");
	size_t i;

	for (i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		tree_write(root, JOURNAL, hostile[i].text);
		refused(root, hostile[i].why, hostile[i].text);
	}
	tree_write(root, "/other",
		   "{\"schema\": 1, \"value\": {\"kind\": "
		   "\"tlb_single_page_flush_ceiling\", \"pages\": 1}}");
	tree_remove(root, JOURNAL);
	if (symlink(other, name))
		error(1, errno, "%s", name);
	refused(root, "", "a symbolic link");
	unlink(name);
	if (mkfifo(name, 0600))
		error(1, errno, "%s", name);
	refused(root, "regular", "a FIFO");
	unlink(name);
	if (mkdir(name, 0700))
		error(1, errno, "%s", name);
	refused(root, "regular", "a directory");
	rmdir(name);
	if (link(other, name) || chmod(name, 0666))
		error(1, errno, "%s", name);
	refused(root, "only root", "writable for everyone");
	unlink(name);
	chmod(directory, 0777);
	refused(root, "nobody else", "a directory that anyone can write to");
	chmod(directory, 0755);
	free(name);
	free(other);
	free(directory);
	tree_close(root);
}

/* Values of another boot are gone already. */
static void test_stale(void)
{
	char *root = machine_open(KNOB_CEILING);
	struct journal journal;

	open_journal(&journal, root);
	journal_close(&journal);
	tree_write(root, JOURNAL,
		   "{\"schema\": 1, \"boot_id\": \"two\", \"value\": "
		   "{\"kind\": \"tlb_single_page_flush_ceiling\", "
		   "\"pages\": 7}}");
	is_int(open_journal(&journal, root), JOURNAL_STALE,
	       "a journal of another boot");
	ok(is_original(root, KNOB_CEILING) && !journal_is_there(root),
	   "is dropped");
	journal_close(&journal);
	tree_close(root);
}

int main(void)
{
	test_end();
	test_exit();
	test_two();
	test_hostile();
	test_stale();
	test_kill(KNOB_FACTOR);
	test_kill(KNOB_CEILING);
	return done();
}
