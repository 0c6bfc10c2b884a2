/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuid: what was written in any format is read back, what is broken is
 * refused, and no record that was cut short makes another CPU of it.
 */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <error.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpuid.h"
#include "cpuid_types.h"
#include "sysfile.h"
#include "tap.h"
#include "tlb.h"
#include "tree.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* writing records -------------------------------------------------------- */

/* How a record differs from what its format usually looks like. */
struct variant {
	const char *name;
	bool upper, crlf, no_subleaves, no_headings;
};

struct writer {
	FILE *to;
	const struct variant *variant;
};

__attribute__((format(printf, 2, 3))) static void put_line(
	struct writer *writer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(writer->to, format, arguments);
	va_end(arguments);
	fputs(writer->variant->crlf ? "\r\n" : "\n", writer->to);
}

static void put_aida(struct writer *writer, unsigned int number,
		     const struct cpuid_leaf *leaf)
{
	const uint32_t *r = leaf ? leaf->reg : NULL;

	if (!leaf)
		put_line(writer,
			 "------[ CPUID Registers / Logical CPU #%u ]------",
			 number);
	else if (writer->variant->no_subleaves)
		put_line(writer, "CPUID %08x  \t%08x-%08x-%08x-%08x",
			 leaf->leaf, r[0], r[1], r[2], r[3]);
	else
		put_line(writer,
			 "CPUID %08x: %08x-%08x-%08x-%08x [x] [SL %02x] []",
			 leaf->leaf, r[0], r[1], r[2], r[3], leaf->subleaf);
}

static void put_raw(struct writer *writer, unsigned int number,
		    const struct cpuid_leaf *leaf)
{
	const uint32_t *r = leaf ? leaf->reg : NULL;

	if (!leaf)
		put_line(writer, "CPU %u:", number);
	else if (writer->variant->no_subleaves)
		put_line(writer,
			 "   0x%08x: eax=0x%08x ebx=0x%08x ecx=0x%08x "
			 "edx=0x%08x",
			 leaf->leaf, r[0], r[1], r[2], r[3]);
	else
		put_line(writer,
			 "   0x%08x 0x%02x: eax=0x%08x ebx=0x%08x ecx=0x%08x "
			 "edx=0x%08x",
			 leaf->leaf, leaf->subleaf, r[0], r[1], r[2], r[3]);
}

static void put_libcpuid(struct writer *writer, unsigned int number,
			 const struct cpuid_leaf *leaf)
{
	const uint32_t *r = leaf ? leaf->reg : NULL;
	const char *array = "basic_cpuid";
	uint32_t index;

	if (!leaf) {
		put_line(writer, "____ Logical CPU #%u ____", number);
		return;
	}
	index = leaf->leaf & 0x7fffffff;
	if (leaf->leaf == 4) {
		array = "intel_fn4";
		index = leaf->subleaf;
	} else if (leaf->leaf & 0x80000000) {
		array = "ext_cpuid";
	}
	put_line(writer, "%s[%u]=%08x %08x %08x %08x", array, index, r[0], r[1],
		 r[2], r[3]);
}

static void put_hwloc(struct writer *writer, unsigned int number,
		      const struct cpuid_leaf *leaf)
{
	const uint32_t *r = leaf ? leaf->reg : NULL;

	(void)number;
	if (!leaf)
		put_line(writer, "# mask e[abcd]x => e[abcd]x");
	else
		put_line(writer, "%x %x 0 %x 0 => %x %x %x %x",
			 leaf->subleaf ? 5 : 1, leaf->leaf, leaf->subleaf, r[0],
			 r[1], r[2], r[3]);
}

static const struct format {
	const char *name;
	/* A leaf, or the heading of a CPU. */
	void (*put)(struct writer *writer, unsigned int number,
		    const struct cpuid_leaf *leaf);
	bool one_cpu;
} formats[] = {
	{ "AIDA64", put_aida, false },
	{ "cpuid -r", put_raw, false },
	{ "libcpuid", put_libcpuid, false },
	{ "hwloc-gather-cpuid", put_hwloc, true },
};

/* The record of a machine, malloc'ed. */
static char *write_record(const struct format *format,
			  const struct variant *variant,
			  const struct cpuid_machine *machine)
{
	struct writer writer = { .variant = variant };
	char *text, *c;
	size_t size;

	writer.to = open_memstream(&text, &size);
	if (!writer.to)
		error(1, errno, "open_memstream");
	for (size_t i = 0; i < machine->n; i++) {
		const struct cpuid_cpu *cpu = &machine->cpu[i];

		if (!variant->no_headings)
			format->put(&writer, cpu->number, NULL);
		for (size_t k = 0; k < cpu->n; k++)
			format->put(&writer, cpu->number, &cpu->leaf[k]);
	}
	if (fclose(writer.to))
		error(1, errno, "open_memstream");
	for (c = text; variant->upper && *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return text;
}

/* machines --------------------------------------------------------------- */

static uint32_t random_word(unsigned short state[3])
{
	return (uint32_t)jrand48(state);
}

static void add_leaf(struct cpuid_cpu *cpu, uint32_t leaf, uint32_t subleaf,
		     unsigned short state[3])
{
	struct cpuid_leaf one = { leaf, subleaf, { 0 } };

	for (int i = 0; i < 4; i++)
		one.reg[i] = random_word(state) >> random_word(state) % 32;
	if (cpuid_add_leaf(cpu, &one) < 0)
		error(1, errno, "registers");
}

/* All registers random; sub-leaves of leaf 4 only, which all formats have. */
static void make_machine(struct cpuid_machine *machine, unsigned int cpus,
			 unsigned short state[3])
{
	static const uint32_t leaves[] = { 0,	      1,	  2,
					   0x18,      0x80000000, 0x80000006,
					   0x8000001e };

	*machine = (struct cpuid_machine){ 0 };
	for (unsigned int i = 0; i < cpus; i++) {
		struct cpuid_cpu *cpu;

		if (cpuid_add_cpu(machine, i) < 0)
			error(1, errno, "cpu");
		cpu = &machine->cpu[i];
		for (size_t k = 0; k < COUNT(leaves); k++) {
			add_leaf(cpu, leaves[k], 0, state);
			for (uint32_t s = 0; leaves[k] == 2 && s < 20; s++)
				add_leaf(cpu, 4, s, state);
		}
	}
}

static bool same_machine(const struct cpuid_machine *a,
			 const struct cpuid_machine *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (a->cpu[i].number != b->cpu[i].number ||
		    a->cpu[i].n != b->cpu[i].n)
			return false;
		if (memcmp(a->cpu[i].leaf, b->cpu[i].leaf,
			   a->cpu[i].n * sizeof(*a->cpu[i].leaf)) != 0)
			return false;
	}
	return true;
}

static void test_round_trip(void)
{
	static const struct variant variants[] = {
		{ .name = "as usual" },
		{ .name = "in upper case", .upper = true },
		{ .name = "with CRLF", .crlf = true },
		{ .name = "without sub-leaves", .no_subleaves = true },
		{ .name = "without headings", .no_headings = true },
	};
	unsigned short state[3] = { 2, 7, 1 };

	for (size_t f = 0; f < COUNT(formats); f++) {
		for (size_t v = 0; v < COUNT(variants); v++) {
			struct cpuid_machine machine, got;
			char *text, *why = NULL;

			make_machine(&machine, formats[f].one_cpu ? 1 : 3,
				     state);
			text = write_record(&formats[f], &variants[v],
					    &machine);
			if (cpuid_parse(text, &got, &why) < 0)
				diag("%s", why ? why : strerror(errno));
			ok(same_machine(&machine, &got), "%s %s is read back",
			   formats[f].name, variants[v].name);
			is_string(got.format, formats[f].name,
				  "... as of that format");
			free(why);
			free(text);
			cpuid_free(&machine);
			cpuid_free(&got);
		}
	}
}

static void test_lookup(void)
{
	char text[] = "CPUID 00000004: 00000001-00000000-00000000-00000000\n"
		      "CPUID 00000004: 00000002-00000000-00000000-00000000\n"
		      "CPUID 00000007: 00000003-00000000-00000000-00000000\n"
		      "CPUID 00000004: 00000004-00000000-00000000-00000000\n"
		      "CPUID 00000004: 00000005-00000000-00000000-00000000 "
		      "[SL 10]\n";
	struct cpuid_machine machine;
	struct identity_source source;
	uint32_t reg[4];
	char *why;

	if (cpuid_parse(text, &machine, &why) < 0)
		error(1, 0, "%s", why);
	source = cpuid_source(&machine.cpu[0]);
	is_int(source.read(source.context, 4, 0, reg), 0, "the first sub-leaf");
	is_int(reg[0], 1, "... of equal ones the first counts");
	is_int(source.read(source.context, 4, 1, reg), 0, "the second");
	is_int(reg[0], 2, "... counts up");
	is_int(source.read(source.context, 4, 16, reg), 0, "SL is hexadecimal");
	is_int(reg[0], 5, "... 0x10");
	is_int(source.read(source.context, 4, 2, reg), -1, "no other");
	is_int(source.read(source.context, 5, 0, reg), -1, "no other leaf");
	cpuid_free(&machine);
}

/* What tells the sub-leaf in the other formats. */
static void test_subleaves(void)
{
	static const struct {
		const char *text;
		uint32_t leaf, subleaf;
	} lines[] = {
		{ "5 18 0 3 0 => 1 2 3 4\n", 0x18, 3 },
		{ "1 18 0 3 0 => 1 2 3 4\n", 0x18, 0 },
		{ "0x00000018 0x00: eax=0x00000000 ebx=0x00000000 "
		  "ecx=0x00000000 edx=0x00000000\n"
		  "0x00000018 0x1f: eax=0x00000001 ebx=0x00000002 "
		  "ecx=0x00000003 edx=0x00000004\n",
		  0x18, 0x1f },
		{ "intel_fn11[3]=00000001 00000002 00000003 00000004\n", 0xb,
		  3 },
		{ "amd_fn8000001dh[3]=00000001 00000002 00000003 00000004\n",
		  0x8000001d, 3 },
		{ "basic_cpuid[24]=00000001 00000002 00000003 00000004\n", 0x18,
		  0 },
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		char *text = strdup(lines[i].text), *why = NULL;
		struct cpuid_machine machine;
		const struct cpuid_leaf *leaf;

		if (!text || cpuid_parse(text, &machine, &why) < 0)
			error(1, 0, "%s", why ? why : "no memory");
		leaf = &machine.cpu[0].leaf[machine.cpu[0].n - 1];
		is_int(leaf->leaf, lines[i].leaf, "the leaf of '%.20s'",
		       lines[i].text);
		is_int(leaf->subleaf, lines[i].subleaf, "... its sub-leaf");
		ok(leaf->reg[0] == 1 && leaf->reg[1] == 2 &&
			   leaf->reg[2] == 3 && leaf->reg[3] == 4,
		   "... its registers");
		cpuid_free(&machine);
		free(text);
	}
}

/* CPUs of a text with headings of all sorts. */
static void test_headings(void)
{
#define LEAF0 "CPUID 00000000: 00000001-00000000-00000000-00000000\n"
#define LEAF1 "CPUID 00000001: 00000001-00000000-00000000-00000000\n"
#define RAW                                                                    \
	"   0x00000000 0x00: eax=0x00000001 ebx=0x00000000 ecx=0x00000000 "    \
	"edx=0x00000000\n"
	static const struct {
		const char *text, *numbers;
	} headings[] = {
		{ LEAF0 LEAF1 LEAF0 LEAF1, "0 1 " },
		{ "CPU#000 AffMask: 0x0000000000000001\n" LEAF0
		  "CPU#001 AffMask: 0x0000000000000002\n" LEAF0,
		  "0 1 " },
		{ "CPUID Registers (CPU #1):\n" LEAF0
		  "CPUID Registers (CPU #1 Virtual):\n" LEAF0,
		  "1 2 " },
		{ "------[ Logical CPU #7 ]------\n" LEAF0
		  "------[ MSR Registers / Logical CPU #7 ]------\n" LEAF1
		  "------[ Logical CPU #9 ]------\n" LEAF0,
		  "7 9 " },
		{ "------[ Logical CPU #3 ]------\n" LEAF1
		  "------[ Logical CPU #5 ]------\n" LEAF1,
		  "3 5 " },
		{ "CPU #999999999999: no number\n" LEAF0, "0 " },
		{ "CPU 5:\n" RAW "CPU 7:\n" RAW, "5 7 " },
		{ "CPU:\n" RAW "CPU:\n" RAW, "0 1 " },
	};

	for (size_t i = 0; i < COUNT(headings); i++) {
		char *text = strdup(headings[i].text), *why;
		char numbers[64] = "";
		struct cpuid_machine machine;

		if (!text || cpuid_parse(text, &machine, &why) < 0)
			error(1, 0, "headings");
		for (size_t k = 0; k < machine.n; k++)
			sprintf(numbers + strlen(numbers), "%u ",
				machine.cpu[k].number);
		is_string(numbers, headings[i].numbers, "the CPUs of '%.30s'",
			  headings[i].text);
		cpuid_free(&machine);
		free(text);
	}
}

/* what is broken --------------------------------------------------------- */

static void is_refused(const char *given, const char *reason, const char *name)
{
	char *text = strdup(given), *why = NULL;
	struct cpuid_machine machine;

	if (!text)
		error(1, errno, "strdup");
	errno = 0;
	is_int(cpuid_parse(text, &machine, &why), -1, "%s: refused", name);
	is_int(errno, EINVAL, "... with EINVAL");
	is_int(machine.n, 0, "... and no CPU");
	if (!ok(why && strstr(why, reason), "... says '%s'", reason))
		diag("'%s'", why ? why : "");
	free(why);
	free(text);
	cpuid_free(&machine);
}

static void test_refused(void)
{
	static const struct {
		const char *name, *text, *reason;
	} bad[] = {
		{ "nothing", "", "no CPUID registers" },
		{ "a line feed", "\n", "no CPUID registers" },
		{ "prose", "CPUID is an instruction.\nCPU #0\n0x12 apples\n",
		  "no CPUID registers" },
		{ "a heading only", "------[ Logical CPU #0 ]------\n",
		  "no CPUID registers" },
		{ "AIDA64, three registers",
		  "CPUID 00000000: 00000001-00000000-00000000\n", "line 1:" },
		{ "AIDA64, a short one",
		  LEAF0 "CPUID 00000001: 0000001-00000000-00000000-00000000\n",
		  "line 2:" },
		{ "AIDA64, a long one",
		  "CPUID 00000001: 000000011-00000000-00000000-00000000\n",
		  "line 1:" },
		{ "AIDA64, no register", LEAF0 "\nCPUID 00000001: < FAILED >\n",
		  "line 3:" },
		{ "AIDA64, five registers",
		  "CPUID 00000000: 00000001-00000000-00000000-00000000-0\n",
		  "line 1:" },
		{ "AIDA64, cut short", LEAF0 "CPUID 00000001: 00000001-0000",
		  "line 2:" },
		{ "cpuid -r, no EDX",
		  "   0x00000000 0x00: eax=0x00000001 ebx=0x00000000 "
		  "ecx=0x00000000\n",
		  "line 1:" },
		{ "cpuid -r, in another order",
		  "   0x00000000 0x00: ebx=0x00000001 eax=0x00000000 "
		  "ecx=0x00000000 edx=0x00000000\n",
		  "line 1:" },
		{ "cpuid -r, no sub-leaf",
		  "   0x00000000 0xx: eax=0x00000001\n", "line 1:" },
		{ "libcpuid, no index", "basic_cpuid[]=0 0 0 0\n", "line 1:" },
		{ "libcpuid, three registers",
		  "basic_cpuid[0]=00000001 00000000 00000000\n", "line 1:" },
		{ "libcpuid, a huge index",
		  "basic_cpuid[9999999999]=00000001 00000000 00000000 0\n",
		  "line 1:" },
		{ "hwloc, three registers", "1 0 0 0 0 => 1 2 3\n", "line 1:" },
		{ "hwloc, five registers", "1 0 0 0 0 => 1 2 3 4 5\n",
		  "line 1:" },
		{ "hwloc, none", "# mask\n1 0 0 0 0\n", "line 2:" },
		{ "hwloc, without the line feed", "1 0 0 0 0 => 1 2 3 4",
		  "ends within" },
		{ "hwloc, a mask of five bits", "10 0 0 0 0 => 1 2 3 4\n",
		  "no CPUID registers" },
		{ "hwloc, nine digits", "1 0 0 0 0 => 1 2 3 123456789\n",
		  "line 1:" },
	};

	for (size_t i = 0; i < COUNT(bad); i++)
		is_refused(bad[i].text, bad[i].reason, bad[i].name);
}

/* A message stays one short line, whatever is quoted. */
static void test_message(void)
{
	char text[1000] = "CPUID 00000000: \033[31m\001\377\tx ";
	struct cpuid_machine machine;
	bool printable = true;
	char *why;

	memset(text + strlen(text), 'x', sizeof(text) - strlen(text) - 1);
	is_int(cpuid_parse(text, &machine, &why), -1, "a line of noise");
	for (char *c = why; *c; c++)
		printable = printable && isprint((unsigned char)*c);
	ok(printable, "... is quoted in print");
	ok(strlen(why) < 200, "... and in part");
	free(why);
}

/* 8192 CPUs are read, and one more is not. */
static void test_too_many(void)
{
	for (size_t n = CPUID_MAX_CPUS; n <= CPUID_MAX_CPUS + 1; n++) {
		char *text = calloc(n, sizeof(LEAF0)), *why = NULL;
		struct cpuid_machine machine;
		int status;

		if (!text)
			error(1, errno, "calloc");
		for (size_t i = 0; i < n; i++)
			memcpy(text + i * strlen(LEAF0), LEAF0, strlen(LEAF0));
		status = cpuid_parse(text, &machine, &why);
		if (n == CPUID_MAX_CPUS)
			is_int(machine.n, n, "as many CPUs as there can be");
		else
			ok(status < 0 && why && strstr(why, "8192"),
			   "one more is refused");
		free(why);
		free(text);
		cpuid_free(&machine);
	}
}

/* Megabytes of what is and isn't a record. */
static void test_noise(void)
{
	static const size_t size = 8 << 20;
	unsigned short state[3] = { 1, 8, 2 };
	struct cpuid_machine machine;
	char *text = malloc(size + 1), *why = NULL;

	if (!text)
		error(1, errno, "malloc");
	for (size_t i = 0; i < size; i++)
		text[i] = (char)(1 + random_word(state) % 255);
	text[size] = '\0';
	is_int(cpuid_parse(text, &machine, &why), -1, "8 MiB of noise");
	free(why);
	memset(text, '0', size);
	is_int(cpuid_parse(text, &machine, &why), -1, "a line of 8 MiB");
	free(why);
	memset(text, '\n', size);
	is_int(cpuid_parse(text, &machine, &why), -1, "8 million empty lines");
	free(why);
	for (size_t i = 0; i + strlen(LEAF1) <= size; i += strlen(LEAF1))
		memcpy(text + i, LEAF1, strlen(LEAF1));
	is_int(cpuid_parse(text, &machine, &why), 0, "8 MiB of one CPU");
	is_int(machine.n, 1, "... is one CPU");
	cpuid_free(&machine);
	free(text);
}

/* records of machines ---------------------------------------------------- */

static const struct {
	const char *name;
	size_t cpus;
	/* The types of its cores. */
	size_t types;
	int entries[2];
	enum tlb_confidence confidence;
} machines[] = {
	{ "haswell.txt", 1, 1, { 1024 }, TLB_DECODED },
	{ "hybrid.txt", 2, 2, { 2048, 2048 }, TLB_DECODED },
	{ "intel-guest", 2, 1, { -1 }, TLB_UNKNOWN },
	{ "silvermont.txt", 2, 1, { 128 }, TLB_DECODED },
	{ "zen5-guest", 2, 1, { 4096 }, TLB_INFERRED },
};

static char *path_of(const char *name)
{
	const char *top = getenv("top_srcdir");
	char *path;

	if (asprintf(&path, "%s/tests/machines/%s", top ? top : ".", name) < 0)
		error(1, errno, "asprintf");
	return path;
}

static void test_machines(void)
{
	for (size_t i = 0; i < COUNT(machines); i++) {
		const char *name = machines[i].name;
		char *path = path_of(name), *why = NULL;
		struct cpuid_machine machine;
		struct cpuid_types types;

		if (cpuid_read_record(path, &machine, &why) < 0)
			diag("%s", why);
		is_int(machine.n, machines[i].cpus, "%s: its CPUs", name);
		if (cpuid_types_find(&machine, &types) < 0)
			error(1, errno, "types");
		is_int(types.n, machines[i].types, "... their types");
		for (size_t k = 0; k < types.n && k < 2; k++) {
			is_int(types.type[k].tlb.entries,
			       machines[i].entries[k], "... E");
			is_int(types.type[k].tlb.confidence,
			       machines[i].confidence, "... confidence");
		}
		if (types.n == 2) {
			is_string(types.type[0].id.core_type, "performance",
				  "... the first type");
			is_string(types.type[1].id.core_type, "efficiency",
				  "... the second");
			ok(hwloc_bitmap_isequal(types.type[0].cpus,
						types.type[1].cpus) == 0 &&
				   hwloc_bitmap_isset(types.type[1].cpus, 1),
			   "... with their CPUs");
		}
		cpuid_types_free(&types);
		cpuid_free(&machine);
		free(why);
		free(path);
	}
}

/* The types of the CPUs in a record that has been changed. */
static void is_of_types(const char *file, const char *from, const char *to,
			size_t types_wanted, const char *name)
{
	char *path = path_of(file), *text, *at, *why = NULL;
	struct cpuid_machine machine;
	struct cpuid_types types;
	size_t size;

	text = sysfile_load("", path, &size);
	at = text ? strstr(text, from) : NULL;
	if (!at)
		error(1, 0, "%s: no '%s'", path, from);
	memcpy(at, to, strlen(to));
	if (cpuid_parse(text, &machine, &why) < 0)
		error(1, 0, "%s: %s", path, why);
	if (cpuid_types_find(&machine, &types) < 0)
		error(1, errno, "types");
	is_int(types.n, types_wanted, "%s", name);
	cpuid_types_free(&types);
	cpuid_free(&machine);
	free(text);
	free(path);
}

static void test_types(void)
{
	is_of_types("silvermont.txt", "version", "version", 1,
		    "two CPUs alike are of one type");
	is_of_types("silvermont.txt", "=00030673", "=00030674", 2,
		    "another stepping is another type");
	is_of_types("silvermont.txt", "=61b3a001", "=61b3a000", 2,
		    "registers that make no sense are another type");
	is_of_types("hybrid.txt", "40000001", "20000001", 2,
		    "cores of one name with other TLBs are another type");
}

/* The E of each CPU is one that the whole record has, or unknown. */
static bool knows_nothing_new(const struct cpuid_machine *machine, int entries)
{
	struct cpuid_types types;
	bool known = true;

	if (cpuid_types_find(machine, &types) < 0)
		error(1, errno, "types");
	for (size_t i = 0; i < types.n; i++)
		if (types.type[i].tlb.entries != -1 &&
		    types.type[i].tlb.entries != entries)
			known = false;
	cpuid_types_free(&types);
	return known;
}

/* A record that ends anywhere. */
static void test_cut_short(void)
{
	static const char *const files[] = { "haswell.txt", "hybrid.txt",
					     "silvermont.txt",
					     "zen5-guest/pu0" };
	static const int entries[] = { 1024, 2048, 128, 4096 };

	for (size_t i = 0; i < COUNT(files); i++) {
		char *path = path_of(files[i]);
		size_t size, read = 0, refused = 0, wrong = 0;
		char *text = sysfile_load("", path, &size);

		for (size_t len = 0; text && len < size; len++) {
			char *start = strndup(text, len), *why = NULL;
			struct cpuid_machine machine;

			if (!start)
				error(1, errno, "strndup");
			if (cpuid_parse(start, &machine, &why) < 0)
				refused++;
			else
				read++;
			if (!knows_nothing_new(&machine, entries[i])) {
				diag("after %zu bytes", len);
				wrong++;
			}
			cpuid_free(&machine);
			free(why);
			free(start);
		}
		ok(text && wrong == 0 && read && refused,
		   "%s, cut anywhere: no other E (%zu read, %zu refused)",
		   files[i], read, refused);
		free(text);
		free(path);
	}
}

/* files and directories -------------------------------------------------- */

static void is_no_record(const char *root, const char *name, int number,
			 const char *reason)
{
	struct cpuid_machine machine;
	char *path, *why = NULL;

	if (asprintf(&path, "%s/%s", root, name) < 0)
		error(1, errno, "asprintf");
	is_int(cpuid_read_record(path, &machine, &why), -1, "%s: refused",
	       name);
	is_int(errno, number, "... errno");
	if (!ok(why && strstr(why, reason) && strstr(why, name),
		"... says '%s' and where", reason))
		diag("'%s'", why ? why : "");
	is_int(machine.n, 0, "... and no CPU");
	free(why);
	free(path);
}

static void test_files(void)
{
#define PU "1 0 0 0 0 => 1 0 0 0\n"
	static const char nul[] = LEAF0 "\0" LEAF1;
	char *root = tree_open(), *path, *why, *big;
	struct cpuid_machine machine;

	is_no_record(root, "absent", ENOENT, "No such file");
	tree_write(root, "/empty", "");
	is_no_record(root, "empty", EINVAL, "no CPUID registers");
	tree_put(root, "/nul", nul, sizeof(nul) - 1);
	is_no_record(root, "nul", EINVAL, "NUL");
	big = calloc(1, 17 << 20);
	if (!big)
		error(1, errno, "calloc");
	tree_put(root, "/big", big, 17 << 20);
	free(big);
	is_no_record(root, "big", EFBIG, "large");
	tree_write(root, "/none/hwloc-cpuid-info", "Architecture: x86\n");
	is_no_record(root, "none", EINVAL, "pu0");
	tree_write(root, "/two/pu0", PU PU);
	is_no_record(root, "two", EINVAL, "one CPU, got 2");
	tree_write(root, "/bad/pu0", PU);
	tree_write(root, "/bad/pu1", "1 0 0 0 0 => 1 0\n");
	is_no_record(root, "bad", EINVAL, "pu1");

	tree_write(root, "/good/pu0", PU);
	tree_write(root, "/good/pu2", PU);
	tree_write(root, "/good/pu10", PU);
	tree_write(root, "/good/pu", "x");
	tree_write(root, "/good/pu0~", "x");
	tree_write(root, "/good/pux", "x");
	if (asprintf(&path, "%s/good", root) < 0)
		error(1, errno, "asprintf");
	is_int(cpuid_read_record(path, &machine, &why), 0, "a directory");
	ok(machine.n == 3 && machine.cpu[0].number == 0 &&
		   machine.cpu[1].number == 2 && machine.cpu[2].number == 10,
	   "... of three CPUs, in order");
	cpuid_free(&machine);
	free(path);
	if (geteuid() != 0) {
		if (asprintf(&path, "%s/good/pu0", root) < 0 || chmod(path, 0))
			error(1, errno, "chmod");
		is_no_record(root, "good/pu0", EACCES, "Permission");
		free(path);
	} else {
		skip(4, "root can read everything");
	}
	tree_close(root);
}

/* this machine ----------------------------------------------------------- */

/* A source that counts. */
static int read_counted(void *context, uint32_t leaf, uint32_t subleaf,
			uint32_t reg[4])
{
	(*(unsigned int *)context)++;
	return identity_live.read(NULL, leaf, subleaf, reg);
}

static void test_capture(void)
{
	unsigned int reads = 0;
	struct identity_source source = { read_counted, &reads };
	struct cpuid_machine machine = { 0 };
	struct identity live, kept;
	bool equal = true, once = true;

	if (cpuid_capture(&machine, 5, &source) < 0)
		error(1, errno, "cpuid_capture");
	is_int(machine.cpu[0].number, 5, "a CPU is captured");
	for (size_t i = 0; i < machine.cpu[0].n; i++)
		for (size_t k = 0; k < i; k++)
			once = once && memcmp(&machine.cpu[0].leaf[i],
					      &machine.cpu[0].leaf[k], 8) != 0;
	ok(once && reads == machine.cpu[0].n, "... each leaf once");
	source = cpuid_source(&machine.cpu[0]);
	identity_read(&source, &kept);
	identity_read(&identity_live, &live);
	equal = !strcmp(kept.vendor, live.vendor) &&
		!strcmp(kept.brand, live.brand) && kept.family == live.family &&
		kept.model == live.model && kept.stepping == live.stepping &&
		kept.guest == live.guest && kept.invlpgb == live.invlpgb &&
		!strcmp(kept.hypervisor, live.hypervisor);
	ok(equal, "... with its identity");
	cpuid_free(&machine);
}

static void test_live(void)
{
	struct placement placement;
	struct cpuid_machine machine;
	bool same = true;
	char *why = NULL;

	if (placement_open(&placement, NULL, &why) < 0) {
		skip(2, "%s", why ? why : "no placement");
		free(why);
		return;
	}
	if (cpuid_read_live(&placement, &machine) < 0)
		error(1, errno, "cpuid_read_live");
	is_int(machine.n, placement.n, "every CPU of this machine");
	for (size_t i = 0; i < machine.n; i++)
		same = same && machine.cpu[i].number == placement.cpu[i] &&
		       machine.cpu[i].n > 0;
	ok(same, "... by its number");
	cpuid_free(&machine);
	placement_close(&placement);
}

int main(void)
{
	test_round_trip();
	test_lookup();
	test_subleaves();
	test_headings();
	test_refused();
	test_message();
	test_too_many();
	test_noise();
	test_machines();
	test_types();
	test_cut_short();
	test_files();
	test_capture();
	test_live();
	return done();
}
