/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deny: run a command in which some system calls fail with EPERM.
 *
 *	deny SYSCALL... -- COMMAND [ARGUMENT...]
 *
 * This is what a container's seccomp policy does to a program: the calls exist,
 * the kernel has them, and yet they fail. The exit status is the command's; 77
 * where no filter can be installed, 2 for a usage error, 126 or 127 where the
 * command cannot be run, as for a shell.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/*
 * With a mask only the calls are denied that have one of its bits set in the
 * argument: the others are needed to start any program.
 */
struct denial {
	const char *name;
	int number;
	unsigned int argument; /* from 0 */
	unsigned int mask;     /* 0: all calls */
};

static const struct denial denials[] = {
	/* a new thread; processes can still be made */
	{ "clone", SYS_clone, 0, CLONE_THREAD },
	/* all: its flags are in memory; the C library takes it for threads */
	{ "clone3", SYS_clone3, 0, 0 },
	{ "madvise", SYS_madvise, 0, 0 },
	/* to age pages, and more that few ask for */
	{ "madvise-cold", SYS_madvise, 2, 1u << 4 },
	{ "membarrier", SYS_membarrier, 0, 0 },
	{ "mlock", SYS_mlock, 0, 0 },
	{ "move_pages", SYS_move_pages, 0, 0 },
	/* to make writable; the loader makes what it relocated read-only */
	{ "mprotect", SYS_mprotect, 2, PROT_WRITE },
	/* of 64 KiB and its odd multiples; what the loader asks for is less */
	{ "mprotect-64k", SYS_mprotect, 1, 1u << 16 },
	{ "munmap", SYS_munmap, 0, 0 },
	{ "munmap-64k", SYS_munmap, 1, 1u << 16 },
	/* for writing; the loader reads libraries */
	{ "openat", SYS_openat, 2, O_WRONLY | O_RDWR },
	{ "perf_event_open", SYS_perf_event_open, 0, 0 },
	{ "sched_getaffinity", SYS_sched_getaffinity, 0, 0 },
	{ "sched_setaffinity", SYS_sched_setaffinity, 0, 0 },
	{ "set_mempolicy", SYS_set_mempolicy, 0, 0 },
};

struct program {
	struct sock_filter *code;
	size_t n;
};

#define HEAD_LENGTH 3
#define DENIAL_LENGTH 5
#define TAIL_LENGTH 1

/* Load 32 bits of struct seccomp_data. */
static void load(struct program *program, size_t offset)
{
	program->code[program->n++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset);
}

/* Go on with the next instruction if op holds for value, or skip some. */
static void test(struct program *program, unsigned short op, unsigned int value,
		 unsigned char skip)
{
	program->code[program->n++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | op | BPF_K, value, 0, skip);
}

static void verdict(struct program *program, unsigned int action)
{
	program->code[program->n++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
}

/* Numbers mean other calls on another architecture: nothing to go on with. */
static void emit_head(struct program *program)
{
	load(program, offsetof(struct seccomp_data, arch));
	program->code[program->n++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	verdict(program, SECCOMP_RET_KILL_PROCESS);
}

static void emit_denial(struct program *program, const struct denial *denial)
{
	load(program, offsetof(struct seccomp_data, nr));
	test(program, BPF_JEQ, (unsigned int)denial->number,
	     denial->mask ? 3 : 1);
	if (denial->mask) {
		/* the low half, where the flags are: x86 is little-endian */
		load(program, offsetof(struct seccomp_data, args) +
				      8 * denial->argument);
		test(program, BPF_JSET, denial->mask, 1);
	}
	verdict(program, SECCOMP_RET_ERRNO | EPERM);
}

static const struct denial *find_denial(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(denials); i++)
		if (!strcmp(denials[i].name, name))
			return &denials[i];
	return NULL;
}

static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr, "usage: deny SYSCALL... -- COMMAND [ARGUMENT...]\n"
			"SYSCALL is one of:");
	for (size_t i = 0; i < ARRAY_SIZE(denials); i++)
		fprintf(stderr, " %s", denials[i].name);
	fputc('\n', stderr);
	exit(2);
}

/* Translate the names up to "--"; returns the index of the command. */
static int translate(int argc, char **argv, struct program *program)
{
	int i;

	emit_head(program);
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const struct denial *denial = find_denial(argv[i]);

		if (!denial)
			usage();
		emit_denial(program, denial);
	}
	verdict(program, SECCOMP_RET_ALLOW);
	/* at least one call, "--" and a command */
	if (i == 1 || i + 1 >= argc)
		usage();
	return i + 1;
}

static int install(const struct program *program)
{
	struct sock_fprog filter = {
		.len = (unsigned short)program->n,
		.filter = program->code,
	};

	/* without it only root may install a filter */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

int main(int argc, char **argv)
{
	struct program program = { 0 };
	int command;

	program.code =
		calloc(HEAD_LENGTH + DENIAL_LENGTH * (size_t)argc + TAIL_LENGTH,
		       sizeof(*program.code));
	if (!program.code) {
		perror("deny");
		return 1;
	}
	command = translate(argc, argv, &program);
	if (install(&program) < 0) {
		perror("deny: seccomp");
		return 77;
	}
	execvp(argv[command], &argv[command]);
	fprintf(stderr, "deny: %s: %s\n", argv[command], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
