/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * no-huge: run a command that gets no transparent huge pages, as on a kernel
 * without them or with fragmented memory.
 *
 *	no-huge COMMAND [ARGUMENT...]
 */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		error(2, 0, "usage: no-huge COMMAND [ARGUMENT...]");
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0)
		error(77, errno, "PR_SET_THP_DISABLE");
	execvp(argv[1], &argv[1]);
	error(127, errno, "%s", argv[1]);
}
