/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "sysfile.h"
#include "sysjson.h"
#include "text.h"

#define CGROUP_FS "/sys/fs/cgroup"

/* A cgroup of this process in the hierarchy of one controller. */
struct place {
	const char *root;
	int version;
	char *dir;	  /* mount point and path, without root */
	size_t mount_len; /* of the mount point */
};

/* True if the list controllers[len], "cpu,cpuacct", names controller. */
static bool controls(const char *controllers, size_t len,
		     const char *controller)
{
	size_t n = strlen(controller);
	const char *end = controllers + len;

	while (controllers < end) {
		const char *comma =
			memchr(controllers, ',', (size_t)(end - controllers));
		size_t this = (size_t)((comma ? comma : end) - controllers);

		if (this == n && !memcmp(controllers, controller, n))
			return true;
		controllers += this + 1;
	}
	return false;
}

/*
 * Where a hierarchy is mounted, by convention: v1 under the names of its
 * controllers or, linked, of each; v2 alone, or as "unified" beside v1.
 */
static char *mount_point(const char *root, const char *controllers, size_t len,
			 const char *controller)
{
	char *path;

	if (!len)
		return strdup(sysjson_exists(root, CGROUP_FS "/unified") ?
				      CGROUP_FS "/unified" :
				      CGROUP_FS);
	if (asprintf(&path, CGROUP_FS "/%.*s", (int)len, controllers) < 0)
		return NULL;
	if (sysjson_exists(root, path))
		return path;
	free(path);
	if (asprintf(&path, CGROUP_FS "/%s", controller) < 0)
		return NULL;
	return path;
}

/* Fill *place from a line of /proc/self/cgroup, "ID:CONTROLLERS:/PATH". */
static bool place_parse(struct place *place, const char *line,
			const char *controller)
{
	const char *controllers = strchr(line, ':');
	const char *path;
	size_t len;
	char *mount;

	if (!controllers)
		return false;
	len = strcspn(++controllers, ":\n");
	path = controllers + len;
	if (path[0] != ':' || path[1] != '/')
		return false;
	if (len && !controls(controllers, len, controller))
		return false;
	path++;
	mount = mount_point(place->root, controllers, len, controller);
	if (!mount)
		return false;
	place->mount_len = strlen(mount);
	len = strcspn(path, "\n");
	/* Outside the namespace's root: of it, only the root is mounted here.
	 */
	if (len == 1 || strstr(path, "/.."))
		len = 0;
	free(place->dir);
	if (asprintf(&place->dir, "%s%.*s", mount, (int)len, path) < 0)
		place->dir = NULL;
	free(mount);
	return place->dir;
}

/* The hierarchy that has the controller: a v1 one that names it, else v2. */
static bool place_open(struct place *place, const char *root,
		       const char *controller)
{
	char *text = sysfile_read(root, "/proc/self/cgroup");
	const char *line = text;

	*place = (struct place){ .root = root, .version = -1 };
	while (line && place->version != 1) {
		bool v2 = !strncmp(line, "0::", 3);

		if (place_parse(place, line, controller))
			place->version = v2 ? 2 : 1;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	free(text);
	return place->dir;
}

/* Go to the parent; false where that is above the mount point. */
static bool place_up(struct place *place)
{
	char *slash = strrchr(place->dir, '/');

	if (strlen(place->dir) <= place->mount_len || !slash)
		return false;
	*slash = '\0';
	return true;
}

static void place_close(struct place *place)
{
	free(place->dir);
}

static char *place_read(const struct place *place, const char *name)
{
	char *path, *text;

	if (asprintf(&path, "%s/%s", place->dir, name) < 0)
		return NULL;
	text = sysfile_read(place->root, path);
	free(path);
	return text;
}

static double place_integer(const struct place *place, const char *name)
{
	char *text = place_read(place, name);
	double value = text_integer(text);

	free(text);
	return value;
}

/* A limit as it is written, and what it compares by: INFINITY is none. */
struct limit {
	char *text;
	double value; /* NAN: unknown */
};

/* Keep the tighter of both in *best; the other is freed. */
static void limit_tighten(struct limit *best, struct limit other)
{
	if (other.text && !isnan(other.value) &&
	    (!best->text || other.value < best->value)) {
		free(best->text);
		*best = other;
	} else {
		free(other.text);
	}
}

/* CPUs at most: "QUOTA PERIOD" or "max PERIOD" in us. */
static struct limit cpu_limit_v2(const struct place *place)
{
	struct limit limit = { place_read(place, "cpu.max"), NAN };
	const char *rest;
	double quota, period;

	if (!limit.text)
		return limit;
	if (!strncmp(limit.text, "max ", 4)) {
		quota = INFINITY;
		rest = limit.text + 4;
	} else {
		quota = text_number(limit.text, &rest);
	}
	period = text_integer(rest);
	if (quota > 0 && period > 0)
		limit.value = quota / period;
	return limit;
}

static struct limit cpu_limit_v1(const struct place *place)
{
	struct limit limit = { NULL, NAN };
	double quota = place_integer(place, "cpu.cfs_quota_us");
	double period = place_integer(place, "cpu.cfs_period_us");

	if (isnan(quota) || !(period > 0))
		return limit;
	limit.value = quota < 0 ? INFINITY : quota / period;
	if ((quota < 0 ? asprintf(&limit.text, "max %.0f", period) :
			 asprintf(&limit.text, "%.0f %.0f", quota, period)) < 0)
		limit.text = NULL;
	return limit;
}

static struct limit memory_limit_v2(const struct place *place)
{
	struct limit limit = { place_read(place, "memory.max"), NAN };

	if (limit.text && !strcmp(limit.text, "max"))
		limit.value = INFINITY;
	else
		limit.value = text_integer(limit.text);
	return limit;
}

/* Here no limit is the largest number of pages that the kernel can count. */
static struct limit memory_limit_v1(const struct place *place)
{
	struct limit limit = { place_read(place, "memory.limit_in_bytes"),
			       NAN };
	const char *rest;

	limit.value = text_integer(limit.text);
	if (!limit.text || !isnan(limit.value))
		return limit;
	text_number(limit.text, &rest);
	if (rest > limit.text && !*rest) {
		free(limit.text);
		limit.text = strdup("max");
		limit.value = INFINITY;
	}
	return limit;
}

/* The tightest on the way to the root of what v1 or v2 reads of a level. */
static char *tightest(struct place *place,
		      struct limit (*v1)(const struct place *place),
		      struct limit (*v2)(const struct place *place))
{
	struct limit best = { NULL, NAN };

	do
		limit_tighten(&best, (place->version == 1 ? v1 : v2)(place));
	while (place_up(place));
	return best.text;
}

void cgroup_read(const char *root, struct cgroup *out)
{
	struct place place;

	*out = (struct cgroup){ .cpu_version = -1 };
	if (place_open(&place, root, "cpu")) {
		out->cpu_version = place.version;
		out->cpu_max = tightest(&place, cpu_limit_v1, cpu_limit_v2);
	}
	place_close(&place);
	if (place_open(&place, root, "memory"))
		out->memory_max =
			tightest(&place, memory_limit_v1, memory_limit_v2);
	place_close(&place);
}

void cgroup_free(struct cgroup *cgroup)
{
	free(cgroup->cpu_max);
	free(cgroup->memory_max);
}

/* A number of the file memory.stat; 0 where there is none. */
static double memory_stat(const struct place *place, const char *name)
{
	char *stat = place_read(place, "memory.stat");
	char *field = stat ? text_field(stat, name) : NULL;
	double value = text_integer(field);

	free(field);
	free(stat);
	return isnan(value) ? 0 : value;
}

/* What one level leaves. */
static double left_at(const struct place *place)
{
	bool v1 = place->version == 1;
	struct limit limit = v1 ? memory_limit_v1(place) :
				  memory_limit_v2(place);
	double used = place_integer(place, v1 ? "memory.usage_in_bytes" :
						"memory.current");
	double cache = memory_stat(place, v1 ? "total_inactive_file" :
					       "inactive_file");

	free(limit.text);
	if (isnan(limit.value) || isinf(limit.value))
		return limit.value;
	return fmax(limit.value - fmax(used - cache, 0), 0);
}

double cgroup_memory_left(const char *root)
{
	struct place place;
	double left = NAN;

	if (place_open(&place, root, "memory")) {
		do
			left = fmin(left, left_at(&place)); /* not NAN */
		while (place_up(&place));
	}
	place_close(&place);
	return left;
}

double cgroup_throttled(const char *root)
{
	struct place place;
	double sum = NAN;

	if (place_open(&place, root, "cpu")) {
		do {
			char *stat = place_read(&place, "cpu.stat");
			char *field = stat ? text_field(stat, "nr_throttled") :
					     NULL;
			double count = text_integer(field);

			/* A level counts only what its own quota stopped. */
			if (!isnan(count))
				sum = isnan(sum) ? count : sum + count;
			free(field);
			free(stat);
		} while (place_up(&place));
	}
	place_close(&place);
	return sum;
}
