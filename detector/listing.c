/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "why.h"

static void print_step(const struct step *step, FILE *to)
{
	fprintf(to, "%u %s %u-%u", step->actor, verb_info[step->verb].name,
		step->first, step->first + step->count - 1);
	if (verb_accesses(step->verb))
		fprintf(to, " from %u", step->from);
	if (step->after >= 0)
		fprintf(to, " after %d", step->after);
	fputs(step->sleep ? " sleep\n" : "\n", to);
}

char *listing_print(const struct program *program)
{
	char *text = NULL;
	size_t size, i;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	fprintf(to, "memory %s\nlayout %s\npages %u\nactors %u\nat %u\n",
		memory_name[program->memory], layout_name[program->layout],
		program->pages, program->actors, program->at);
	for (i = 0; i < program->steps; i++) {
		if (i == 0 ||
		    program->step[i].group != program->step[i - 1].group)
			fputs("group\n", to);
		print_step(&program->step[i], to);
	}
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

/* parsing -------------------------------------------------------------- */

/* The words of one line, taken one after the other. */
struct line {
	char *rest;
	const char *wanted; /* what was expected where it went wrong */
};

static const char *next(struct line *line)
{
	char *word;

	do
		word = strsep(&line->rest, " \t\r");
	while (word && !*word);
	return word;
}

/* A decimal number of up to six digits that ends at one of the stops. */
static bool digits(const char **text, char stop, unsigned int *value)
{
	const char *c = *text;

	for (*value = 0; isdigit((unsigned char)*c) && c - *text < 6; c++)
		*value = *value * 10 + (unsigned int)(*c - '0');
	if (c == *text || *c != stop)
		return false;
	*text = c + 1;
	return true;
}

static bool number(struct line *line, unsigned int *value, const char *wanted)
{
	const char *word = next(line);

	if (word && digits(&word, '\0', value))
		return true;
	line->wanted = wanted;
	return false;
}

/* Index of a word in names[n], or -1. */
static int choice(const char *word, const char *const *names, int n)
{
	int i;

	for (i = 0; word && i < n; i++)
		if (!strcmp(word, names[i]))
			return i;
	return -1;
}

static int verb_choice(const char *word)
{
	int i;

	for (i = 0; word && i < VERBS; i++)
		if (!strcmp(word, verb_info[i].name))
			return i;
	return -1;
}

static bool parse_pages(struct line *line, struct step *step)
{
	const char *word = next(line);
	unsigned int last;

	line->wanted = "pages FIRST-LAST";
	if (!word || !digits(&word, '-', &step->first) ||
	    !digits(&word, '\0', &last) || last < step->first)
		return false;
	step->count = last - step->first + 1;
	step->from = step->first;
	return true;
}

/* What may follow the pages, in any order. */
static bool parse_rest(struct line *line, struct step *step)
{
	const char *word;
	unsigned int after;

	while ((word = next(line))) {
		if (!strcmp(word, "from") && verb_accesses(step->verb)) {
			if (!number(line, &step->from, "a page after 'from'"))
				return false;
		} else if (!strcmp(word, "after")) {
			if (!number(line, &after, "a step after 'after'"))
				return false;
			step->after = (int)after;
		} else if (!strcmp(word, "sleep")) {
			step->sleep = true;
		} else {
			line->wanted = "from (of an access), after or sleep";
			return false;
		}
	}
	return true;
}

static bool parse_step(struct line *line, const char *word,
		       struct program *program, unsigned int group)
{
	struct step step = { .group = group, .after = -1 };
	int verb;

	line->wanted =
		"memory, layout, pages, actors, at, group or a step that "
		"begins with its actor";
	if (!digits(&word, '\0', &step.actor))
		return false;
	verb = verb_choice(next(line));
	line->wanted = "the name of an access or operation";
	if (verb < 0)
		return false;
	step.verb = (enum verb)verb;
	if (!parse_pages(line, &step) || !parse_rest(line, &step))
		return false;
	line->wanted = "enough memory";
	return group > 0 && program_add(program, &step) == 0;
}

static bool parse_name(struct line *line, const char *const *names, int n,
		       const char *wanted, int *value)
{
	line->wanted = wanted;
	*value = choice(next(line), names, n);
	return *value >= 0;
}

/* The line that begins with word. */
static bool parse_line(struct line *line, const char *word,
		       struct program *program, unsigned int *group)
{
	int value;

	if (!strcmp(word, "pages"))
		return number(line, &program->pages, "a number of pages");
	if (!strcmp(word, "actors"))
		return number(line, &program->actors, "a number of actors");
	if (!strcmp(word, "at"))
		return number(line, &program->at, "a number from 0 to 511");
	if (!strcmp(word, "memory")) {
		if (!parse_name(line, memory_name, MEMORIES,
				"shared, private, thp or hugetlb", &value))
			return false;
		program->memory = (enum memory)value;
	} else if (!strcmp(word, "layout")) {
		if (!parse_name(line, layout_name, LAYOUTS,
				"start, across or alone", &value))
			return false;
		program->layout = (enum layout)value;
	} else if (!strcmp(word, "group")) {
		++*group;
	} else {
		if (*group == 0) {
			line->wanted = "memory, layout, pages, actors, at or "
				       "group before the first step";
			return false;
		}
		return parse_step(line, word, program, *group);
	}
	return true;
}

static int refuse(char **why, size_t number, const char *what)
{
	return why_set(why, 0, "%zu: %s", number, what);
}

static int refuse_word(char **why, size_t number, const char *wanted)
{
	char *what;

	if (asprintf(&what, "expected %s", wanted) < 0) {
		*why = NULL;
		return -1;
	}
	refuse(why, number, what);
	free(what);
	return -1;
}

/* The number of the line of a step, after parsing: *lines holds it. */
static int parse_lines(char *text, struct program *program, size_t **lines,
		       char **why)
{
	unsigned int group = 0;
	size_t n = 0, steps;
	char *rest = text, *each;

	while ((each = strsep(&rest, "\n"))) {
		struct line line = { .rest = each };
		const char *word;
		size_t *more;

		n++;
		each[strcspn(each, "#")] = '\0';
		word = next(&line);
		if (!word)
			continue;
		steps = program->steps;
		if (!parse_line(&line, word, program, &group))
			return refuse_word(why, n, line.wanted);
		if (next(&line))
			return refuse_word(why, n, "nothing more");
		if (steps == program->steps)
			continue;
		more = reallocarray(*lines, program->steps, sizeof(**lines));
		if (!more)
			return refuse(why, n, "out of memory");
		*lines = more;
		more[steps] = n;
	}
	if (program->steps == 0)
		return refuse(why, n, "no step");
	return 0;
}

int listing_parse(const char *text, struct program *program, char **why)
{
	char *copy = strdup(text);
	size_t *lines = NULL;
	const char *fault;
	size_t step;
	int status;

	*program = (struct program){ .actors = 1, .pages = 1 };
	*why = NULL;
	if (!copy)
		return -1;
	status = parse_lines(copy, program, &lines, why);
	if (status == 0) {
		fault = program_fault(program, &step);
		if (fault)
			status = refuse(why,
					lines[step < program->steps ?
						      step :
						      program->steps - 1],
					fault);
	}
	if (status < 0)
		program_free(program);
	free(lines);
	free(copy);
	return status;
}
