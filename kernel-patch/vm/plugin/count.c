/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count: a plugin of QEMU that counts the INVLPG instructions and the loads of
 * CR3 that each CPU of the guest executes between two markers.
 *
 *	qemu-system-x86_64 -accel tcg -plugin count.so,out=FILE ...
 *
 * It knows nothing of the kernel, and so is an independent witness of what the
 * kernel's counters say. The markers are the NOPs of guest/test_count.c. FILE
 * gets a line for each pair of them:
 *
 *	NUMBER invlpg CPU0 CPU1 cr3 CPU0 CPU1
 *
 * Distributions do not ship QEMU's header for plugins; what is used of its
 * version 1 is declared here.
 */
#include <config.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS 2 /* that are told about */
#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

void qemu_plugin_register_vcpu_tb_trans_cb(
	qemu_plugin_id_t id,
	void (*callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(
	const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_cb(
	struct qemu_plugin_insn *instruction,
	void (*callback)(unsigned int cpu, void *data),
	enum qemu_plugin_cb_flags flags, void *data);

extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
			       char **argv);

EXPORT int qemu_plugin_version = 1;

/* A callback at translation is given no pointer of ours. */
static struct {
	FILE *out;
	unsigned long number;
	uint64_t invlpg[CPUS], cr3[CPUS];
} seen;

enum instruction { OTHER, INVLPG, LOAD_CR3, BEGIN, END };

/* Prefixes are skipped: of segment, of size, of repetition, REX. */
static enum instruction classify(const unsigned char *code, size_t size)
{
	static const unsigned char begin[] = { 0x80, 0x01, 0x62, 0x6c, 0x74 };
	static const unsigned char end[] = { 0x80, 0x02, 0x62, 0x6c, 0x74 };

	while (size &&
	       (memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3", *code, 10) ||
		(*code & 0xf0) == 0x40)) {
		code++;
		size--;
	}
	if (size < 3 || code[0] != 0x0f)
		return OTHER;
	if (code[1] == 0x01 && (code[2] & 0x38) == 0x38 && code[2] < 0xc0)
		return INVLPG;
	if (code[1] == 0x22 && (code[2] & 0x38) == 0x18)
		return LOAD_CR3;
	if (size == 7 && code[1] == 0x1f && !memcmp(code + 2, begin, 5))
		return BEGIN;
	if (size == 7 && code[1] == 0x1f && !memcmp(code + 2, end, 5))
		return END;
	return OTHER;
}

static void add(uint64_t *counters, unsigned int cpu)
{
	if (cpu < CPUS)
		__atomic_fetch_add(counters + cpu, 1, __ATOMIC_RELAXED);
}

static void count_invlpg(unsigned int cpu, void *data)
{
	(void)data;
	add(seen.invlpg, cpu);
}

static void count_cr3(unsigned int cpu, void *data)
{
	(void)data;
	add(seen.cr3, cpu);
}

/* The other CPU is idle or waits for ours here: it has nothing to count. */
static void begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	memset(seen.invlpg, 0, sizeof(seen.invlpg));
	memset(seen.cr3, 0, sizeof(seen.cr3));
}

static void end(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	fprintf(seen.out,
		"%lu invlpg %" PRIu64 " %" PRIu64 " cr3 %" PRIu64 " %" PRIu64
		"\n",
		seen.number++, seen.invlpg[0], seen.invlpg[1], seen.cr3[0],
		seen.cr3[1]);
	fflush(seen.out);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static void (*const callbacks[])(unsigned int cpu, void *data) = {
		[INVLPG] = count_invlpg,
		[LOAD_CR3] = count_cr3,
		[BEGIN] = begin,
		[END] = end,
	};
	const size_t count = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *instruction =
			qemu_plugin_tb_get_insn(tb, i);
		const enum instruction kind =
			classify(qemu_plugin_insn_data(instruction),
				 qemu_plugin_insn_size(instruction));

		if (kind != OTHER)
			qemu_plugin_register_vcpu_insn_exec_cb(
				instruction, callbacks[kind],
				QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
			char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fputs("count.so: needs out=FILE\n", stderr);
		return -1;
	}
	seen.out = fopen(argv[0] + 4, "w");
	if (!seen.out) {
		perror(argv[0] + 4);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
