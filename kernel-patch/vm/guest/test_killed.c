/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * killed TIMES: a tune that is killed while it moves the knob has the value put
 * back by the next start, at whatever moment it died.
 */
#include <config.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "knob.h"
#include "tap.h"
#include "tuner.h"

#define LOG "/tmp/killed.log"
#define PATIENCE 10000 /* ms until the knob has to be on the move */
#define MOMENTS 300000 /* us from then on, until all is over in most runs */

/* Values that no tune would choose, so that each move shows. */
static void set_values(struct tuner_values *values)
{
	int error = tuner_has_factor() ? knob_set(7, 512) :
					 knob_write(KNOB_CEILING, 5);

	is_int(error, 0, "values to come back to");
	tuner_values(values);
}

/* Start one, and kill it at some moment from its journal on; false: it could
 * not be done. */
static bool kill_one(void)
{
	static const char *const argv[] = { "tune", "--quick", "-o",
					    "/dev/null", NULL };
	pid_t pid = tuner_start(LOG, argv);
	int waited = 0;

	if (pid < 0)
		return false;
	while (access(TUNER_JOURNAL, F_OK) < 0 && waited++ < PATIENCE)
		usleep(1000);
	usleep((useconds_t)(random() % MOMENTS));
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) == pid && waited <= PATIENCE;
}

int test_killed(int argc, char **argv)
{
	static const char *const knob[] = { "tune", "--knob", NULL };
	const int times = argc > 1 ? atoi(argv[1]) : 50;
	int killed = 0, journals = 0, moved = 0, restored = 0;
	struct tuner_values old, now;

	set_values(&old);
	srandom(7);
	for (int i = 0; i < times; i++) {
		killed += kill_one();
		journals += access(TUNER_JOURNAL, F_OK) == 0;
		tuner_values(&now);
		moved += !tuner_same(&now, &old);
		if (tuner_run(LOG, knob))
			break;
		tuner_values(&now);
		restored += tuner_same(&now, &old) &&
			    access(TUNER_JOURNAL, F_OK) < 0;
	}
	is_int(killed, times, "killed %d times after the journal was there",
	       times);
	ok(journals > times / 2, "%d of them left a journal", journals);
	ok(moved > times / 8, "%d of them left the knob moved", moved);
	is_int(restored, times, "the next start put the value back each time");
	return done();
}
