/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <signal.h>
#include <ucontext.h>

#include "touch.h"

/* Leaf functions: at any of their instructions "ret" returns to the caller. */
__asm__(".text\n"
	".globl touch_load\n"
	".hidden touch_load\n"
	".type touch_load, @function\n"
	"touch_load:\n"
	"	testq %rdx, %rdx\n"
	"	je 2f\n"
	"1:	movq (%rdi), %rax\n"
	"	movq %rax, (%rsi)\n"
	"	addq $8, %rdi\n"
	"	addq $8, %rsi\n"
	"	decq %rdx\n"
	"	jne 1b\n"
	"2:	xorl %eax, %eax\n"
	"	ret\n"
	".size touch_load, . - touch_load\n"
	".globl touch_store\n"
	".hidden touch_store\n"
	".type touch_store, @function\n"
	"touch_store:\n"
	"	movq %rsi, (%rdi)\n"
	"	xorl %eax, %eax\n"
	"	ret\n"
	".size touch_store, . - touch_store\n"
	".globl touch_faulted\n"
	".hidden touch_faulted\n"
	".type touch_faulted, @function\n"
	"touch_faulted:\n"
	"	movl $-1, %eax\n"
	"	ret\n"
	".size touch_faulted, . - touch_faulted\n");

extern const char touch_faulted[];

static void handle(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	greg_t *at = &interrupted->uc_mcontext.gregs[REG_RIP];

	(void)info;
	if (*at >= (greg_t)(uintptr_t)touch_load &&
	    *at < (greg_t)(uintptr_t)touch_faulted) {
		*at = (greg_t)(uintptr_t)touch_faulted;
		return;
	}
	/* Not one of ours: let it happen again, and end the process. */
	signal(number, SIG_DFL);
}

void touch_catch(void)
{
	struct sigaction action = {
		.sa_sigaction = handle,
		.sa_flags = SA_SIGINFO,
	};

	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}
