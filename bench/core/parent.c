/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "parent.h"

bool parent_die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return getppid() == parent;
}
