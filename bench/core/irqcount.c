/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "irqcount.h"
#include "sysfile.h"
#include "text.h"

/* The header, "  CPU0  CPU4": which CPU each column is of. */
static int parse_header(const char *text, struct irqcount *out)
{
	size_t room = strcspn(text, "\n") / 4 + 1; /* "CPU0" */
	const char *at = text;

	out->cpu = calloc(room, sizeof(*out->cpu));
	out->count = calloc(room, sizeof(*out->count));
	if (!out->cpu || !out->count)
		return -1;
	for (at += strspn(at, " \t"); !strncmp(at, "CPU", 3);
	     at += strspn(at, " \t")) {
		double number = text_number(at + 3, &at);

		if (!(number >= 0 && number <= (unsigned int)-1))
			break;
		out->cpu[out->n++] = (unsigned int)number;
	}
	if (out->n && *at == '\n')
		return 0;
	errno = EINVAL;
	return -1;
}

/* One count a column, then what they count, or the row was cut short. */
static int parse_row(const char *row, struct irqcount *out)
{
	const char *at = row;
	size_t i;

	for (i = 0; i < out->n && at; i++) {
		out->count[i] = text_number(at, &at);
		if (!(out->count[i] >= 0))
			break;
	}
	if (i == out->n && at && *at == ' ')
		return 0;
	errno = EINVAL;
	return -1;
}

int irqcount_parse(const char *text, const char *row, struct irqcount *out)
{
	char *counts = text_field(text, row);
	int status;

	*out = (struct irqcount){ 0 };
	status = parse_header(text, out);
	if (status == 0 && !counts)
		errno = EINVAL;
	if (status == 0)
		status = counts ? parse_row(counts, out) : -1;
	free(counts);
	if (status < 0) {
		int error = errno;

		irqcount_free(out);
		errno = error;
	}
	return status;
}

int irqcount_read(const char *root, const char *row, struct irqcount *out)
{
	char *text = sysfile_read(root, "/proc/interrupts");
	int status;

	*out = (struct irqcount){ 0 };
	if (!text)
		return -1;
	status = irqcount_parse(text, row, out);
	free(text);
	return status;
}

double irqcount_of(const struct irqcount *counts, unsigned int cpu)
{
	size_t i;

	for (i = 0; i < counts->n; i++)
		if (counts->cpu[i] == cpu)
			return counts->count[i];
	return NAN;
}

double irqcount_sum(const struct irqcount *counts)
{
	double sum = counts->n ? 0 : NAN;
	size_t i;

	for (i = 0; i < counts->n; i++)
		sum += counts->count[i];
	return sum;
}

void irqcount_free(struct irqcount *counts)
{
	free(counts->cpu);
	free(counts->count);
	*counts = (struct irqcount){ 0 };
}
