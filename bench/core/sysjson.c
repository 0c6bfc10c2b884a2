/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sysfile.h"
#include "sysjson.h"
#include "text.h"

json_t *sysjson_text(const char *root, const char *path)
{
	char *text = sysfile_read(root, path);
	json_t *json = text_json(text && *text ? text : NULL);

	free(text);
	return json;
}

static double read_integer(const char *root, const char *path)
{
	char *text = sysfile_read(root, path);
	double value = text_integer(text);

	free(text);
	return value;
}

json_t *sysjson_integer(const char *root, const char *path)
{
	return text_count_json(read_integer(root, path));
}

int sysjson_truth(const char *root, const char *path)
{
	double value = read_integer(root, path);

	return value == 0 ? 0 : value == 1 ? 1 : -1;
}

json_t *sysjson_choice(const char *root, const char *path)
{
	char *text = sysfile_read(root, path);
	char *choice = text ? text_bracketed(text) : NULL;
	json_t *json = text_json(choice);

	free(choice);
	free(text);
	return json;
}

json_t *sysjson_list(const char *root, const char *path)
{
	char *text = sysfile_read(root, path);
	json_t *json = text_json(text);

	free(text);
	return json;
}

json_t *sysjson_field(const char *root, const char *path, const char *name)
{
	char *text = sysfile_read(root, path);
	char *field = text ? text_field(text, name) : NULL;
	json_t *json = text_json(field);

	free(field);
	free(text);
	return json;
}

bool sysjson_exists(const char *root, const char *path)
{
	char *name;
	bool found;

	if (asprintf(&name, "%s%s", root, path) < 0)
		return false;
	found = !access(name, F_OK);
	free(name);
	return found;
}

json_t *sysjson_cpu(const char *root, unsigned int cpu, const char *name)
{
	json_t *json;
	char *path;

	if (asprintf(&path, "/sys/devices/system/cpu/cpu%u/%s", cpu, name) < 0)
		return NULL;
	json = sysjson_text(root, path);
	free(path);
	return json;
}
