/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <signal.h>
#include <stddef.h>

#include "interrupt.h"

/* The one variable that a signal handler can reach. */
static volatile int caught;

static void handle(int number)
{
	caught = number;
}

void interrupt_catch(void)
{
	/* No SA_RESTART: a blocking call returns so that the flag is seen. */
	struct sigaction action = { .sa_handler = handle };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

const volatile int *interrupt_flag(void)
{
	return &caught;
}

void interrupt_die(void)
{
	if (!caught)
		return;
	signal(caught, SIG_DFL);
	raise(caught);
}
