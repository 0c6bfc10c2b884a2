/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"

#define FREQUENCY_PERCENT 3
#define NOISE_POINTS 5 /* percent of the time */

/* What differs from run to run and changes nothing, or is looked at below. */
static const char *const ignored[] = {
	"environment/container",
	"environment/frequency",
	"environment/loadavg",
	"environment/noise",
	"environment/tlb_single_page_flush_ceiling/why",
	"environment/uptime_s",
	"environment/warnings",
	/* how long and in which order, not what */
	"options/loops",
	"options/max_time",
	"options/quick",
	"options/seed",
	"options/verify",
};

/* What makes another machine; and every option not named here. */
static const char *const severe[] = {
	"environment/cpu/core_type",
	"environment/cpu/family",
	"environment/cpu/model",
	"environment/cpu/stepping",
	"environment/cpu/vendor",
	"environment/hypervisor/present",
	"environment/hypervisor/signature",
};

/* Only where the process ran; which CPU it was is in the environment. */
static const char *const mild_options[] = { "options/cpus" };

#define ITEMS(array) (sizeof(array) / sizeof(*(array)))

static bool is_one_of(const char *key, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(key, list[i]))
			return true;
	return false;
}

static bool is_severe(const char *key)
{
	if (!strncmp(key, "options/", strlen("options/")))
		return !is_one_of(key, mild_options, ITEMS(mild_options));
	return is_one_of(key, severe, ITEMS(severe));
}

static json_t *or_null(const json_t *value)
{
	return value ? json_incref((json_t *)value) : json_null();
}

/* Append a difference. 0 or -1. */
static int add(json_t *list, const char *key, const json_t *a, const json_t *b)
{
	json_t *known;
	size_t i;

	json_array_foreach(list, i, known)
		if (!strcmp(json_string_value(json_object_get(known, "key")),
			    key))
			return 0;
	return json_array_append_new(
		list,
		json_pack("{s:s, s:o, s:o, s:b}", "key", key, "a", or_null(a),
			  "b", or_null(b), "severe", is_severe(key)));
}

static int differ(const char *key, const json_t *a, const json_t *b,
		  json_t *list);

/* Go into the members of in, below key; of both, what b alone has as well. */
static int differ_below(const char *key, const json_t *in, const json_t *a,
			const json_t *b, json_t *list)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)in, name, value) {
		char *path;
		int status;

		if (in == b && json_object_get(a, name))
			continue;
		if (asprintf(&path, "%s/%s", key, name) < 0)
			return -1;
		status = differ(path, json_object_get(a, name),
				json_object_get(b, name), list);
		free(path);
		if (status < 0)
			return -1;
	}
	return 0;
}

static int differ(const char *key, const json_t *a, const json_t *b,
		  json_t *list)
{
	if (is_one_of(key, ignored, ITEMS(ignored)))
		return 0;
	if (json_is_object(a) && json_is_object(b)) {
		if (differ_below(key, a, a, b, list) < 0)
			return -1;
		return differ_below(key, b, a, b, list);
	}
	/* What an older version did not know, and what it knew as unknown. */
	if ((!a || json_is_null(a)) && (!b || json_is_null(b)))
		return 0;
	return json_equal(a, b) ? 0 : add(list, key, a, b);
}

static const json_t *at(const json_t *report, const char *part,
			const char *name)
{
	const json_t *environment = json_object_get(report, "environment");

	return json_object_get(json_object_get(environment, part), name);
}

/* Frequency and noise never are the same; they may be too far apart. */
static int differ_by_far(const json_t *a, const json_t *b, json_t *list)
{
	static const char *const noise[] = { "steal_percent",
					     "cpu_pressure_percent",
					     "sibling_busy_percent",
					     "others_busy_percent" };
	const json_t *ghz_a = at(a, "frequency", "before_ghz");
	const json_t *ghz_b = at(b, "frequency", "before_ghz");
	size_t i;

	if (ghz_a && ghz_b &&
	    fabs(json_number_value(ghz_a) / json_number_value(ghz_b) - 1) *
			    100 >
		    FREQUENCY_PERCENT &&
	    add(list, "environment/frequency/before_ghz", ghz_a, ghz_b) < 0)
		return -1;
	for (i = 0; i < ITEMS(noise); i++) {
		const json_t *noise_a = at(a, "noise", noise[i]);
		const json_t *noise_b = at(b, "noise", noise[i]);
		char key[64];

		snprintf(key, sizeof(key), "environment/noise/%s", noise[i]);
		if (json_is_number(noise_a) && json_is_number(noise_b) &&
		    fabs(json_number_value(noise_a) -
			 json_number_value(noise_b)) > NOISE_POINTS &&
		    add(list, key, noise_a, noise_b) < 0)
			return -1;
	}
	return 0;
}

int conditions_differ(const json_t *a, const json_t *b, json_t *list)
{
	static const char *const parts[] = { "options", "environment",
					     "version", "partial" };
	size_t i;

	for (i = 0; i < ITEMS(parts); i++)
		if (differ(parts[i], json_object_get(a, parts[i]),
			   json_object_get(b, parts[i]), list) < 0)
			return -1;
	return differ_by_far(a, b, list);
}

bool conditions_severe(const json_t *list)
{
	json_t *difference;
	size_t i;

	json_array_foreach(list, i, difference)
		if (json_is_true(json_object_get(difference, "severe")))
			return true;
	return false;
}

const char *conditions_text(const json_t *value, char *text)
{
	char *json = NULL, *c;

	if (json_is_real(value)) {
		snprintf(text, CONDITIONS_TEXT, "%.4g", json_real_value(value));
		return text;
	}
	if (!json_is_string(value))
		json = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	snprintf(text, CONDITIONS_TEXT, "%s",
		 json		       ? json :
		 json_is_string(value) ? json_string_value(value) :
					 "?");
	if (strlen(text) == CONDITIONS_TEXT - 1)
		memcpy(text + CONDITIONS_TEXT - 4, "...", 3);
	/* Nothing that would move the cursor of a terminal. */
	for (c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	free(json);
	return text;
}
