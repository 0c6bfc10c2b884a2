/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzz target without libFuzzer: TARGET SECONDS [SEED] runs it on mutations
 * of its seeds, without looking at what code they reach. The input that is
 * being tried is in TARGET.input, which is left behind when the target crashes
 * or hangs; TARGET FILE runs it on that once more.
 */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "sysfile.h"

#define MAX_SIZE ((size_t)64 << 10)
#define HANG_SECONDS 20

struct input {
	uint8_t *data; /* MAX_SIZE bytes, shared with the file */
	size_t size;
};

/* The state of jrand48. */
struct random {
	unsigned short x[3];
};

static size_t below(struct random *random, size_t limit)
{
	return (uint32_t)jrand48(random->x) % limit;
}

/* Replace len bytes at at with with[0..with_len). */
static void replace(struct input *input, size_t at, size_t len,
		    const uint8_t *with, size_t with_len)
{
	size_t tail = input->size - at - len;

	if (input->size - len + with_len > MAX_SIZE)
		return;
	memmove(input->data + at + with_len, input->data + at + len, tail);
	memcpy(input->data + at, with, with_len);
	input->size = at + with_len + tail;
}

/* A piece of the input itself, elsewhere: lines doubled, columns mixed. */
static void copy_piece(struct input *input, struct random *random)
{
	uint8_t piece[512];
	size_t from = below(random, input->size);
	size_t len = below(random, sizeof(piece));

	if (len > input->size - from)
		len = input->size - from;
	memcpy(piece, input->data + from, len);
	replace(input, below(random, input->size), 0, piece, len);
}

static void mutate(struct input *input, struct random *random)
{
	static const char *const words[] = {
		"\n", "\r\n", " ",  "0",  "f", "ffffffff", "00000000",
		"\t", "[SL ", "=>", "0x", ":", "CPU #0",   "CPUID 00000000: ",
		"-",  "]",    "\0",
	};
	const char *word = words[below(random, sizeof(words) / sizeof(*words))];
	uint8_t byte = (uint8_t)below(random, 256);
	size_t at, len;

	if (input->size == 0) {
		replace(input, 0, 0, (const uint8_t *)word, strlen(word));
		return;
	}
	at = below(random, input->size);
	len = below(random, below(random, 4) ? 4 : 200);
	if (len > input->size - at)
		len = input->size - at;
	switch (below(random, 7)) {
	case 0:
		input->data[at] ^= (uint8_t)(1u << below(random, 8));
		break;
	case 1:
		replace(input, at, len, &byte, 1);
		break;
	case 2: /* a digit for a digit, so that registers stay registers */
	case 3:
		if (isxdigit(input->data[at]))
			input->data[at] =
				(uint8_t) "0123456789abcdef"[below(random, 16)];
		break;
	case 4:
		replace(input, at, 0, (const uint8_t *)word, strlen(word));
		break;
	case 5:
		copy_piece(input, random);
		break;
	default:
		if (below(random, 8))
			replace(input, at, len, &byte, 0);
		else
			input->size = at;
		break;
	}
}

static void take_seed(struct input *input, struct random *random)
{
	const char *seed;
	size_t n = 0;

	while (fuzz_seeds[n])
		n++;
	seed = fuzz_seeds[below(random, n)];
	input->size = 0;
	replace(input, 0, 0, (const uint8_t *)seed, strlen(seed));
}

/* Memory that a crash leaves in the file. */
static uint8_t *map_file(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	uint8_t *data;

	if (fd < 0 || ftruncate(fd, MAX_SIZE) < 0)
		error(1, errno, "%s", name);
	data = mmap(NULL, MAX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		error(1, errno, "%s", name);
	close(fd);
	return data;
}

static void run(const char *program, double seconds, uint64_t seed)
{
	unsigned long inputs = 0;
	time_t end = time(NULL) + (time_t)seconds;
	struct random random = { { 0x330e, (unsigned short)seed,
				   (unsigned short)(seed >> 16) } };
	struct input input;
	char *name;

	if (asprintf(&name, "%s.input", program) < 0)
		error(1, errno, "asprintf");
	input.data = map_file(name);
	do {
		size_t changes = 1 + below(&random, 8);

		take_seed(&input, &random);
		while (changes-- > 0)
			mutate(&input, &random);
		/* The target sees no more than what is its own. */
		memset(input.data + input.size, 0, MAX_SIZE - input.size);
		alarm(HANG_SECONDS);
		LLVMFuzzerTestOneInput(input.data, input.size);
		inputs++;
	} while (time(NULL) < end);
	alarm(0);
	printf("%s: %lu inputs, seed %llu\n", program, inputs,
	       (unsigned long long)seed);
	munmap(input.data, MAX_SIZE);
	unlink(name);
	free(name);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "10";
	char *end;
	double seconds = strtod(what, &end);
	size_t size;
	char *text;

	if (!*end) {
		run(argv[0], seconds,
		    argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
		return 0;
	}
	text = sysfile_load("", what, &size);
	if (!text)
		error(1, errno, "%s", what);
	LLVMFuzzerTestOneInput((const uint8_t *)text, size);
	free(text);
	return 0;
}
