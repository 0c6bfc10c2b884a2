/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "affinity.h"
#include "environment.h"
#include "machine.h"
#include "report.h"
#include "settings.h"
#include "sysfile.h"
#include "warnings.h"

struct environment {
	struct environment_source source;
	char *root;
	unsigned int cpu;
	json_t *machine;
	char *siblings; /* CPUs that share the core of cpu, a list; NULL */
	double before_ghz, after_ghz;
	double drift_ppm;
	struct noise_reading before;
	struct noise noise;
	bool finished;
};

static double monotonic_seconds(void *context)
{
	struct timespec now;

	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int usage(void *context, int who, struct rusage *usage)
{
	(void)context;
	return getrusage(who, usage);
}

/* Bind the calling thread to cpu; 0 or -1. */
static int affinity_narrow(const struct affinity *affinity, unsigned int cpu)
{
	cpu_set_t *one = CPU_ALLOC(8 * affinity->size);
	int failed;

	if (!one)
		return -1;
	CPU_ZERO_S(affinity->size, one);
	CPU_SET_S(cpu, affinity->size, one);
	failed = sched_setaffinity(0, affinity->size, one);
	CPU_FREE(one);
	return failed;
}

static void affinity_restore(struct affinity *affinity)
{
	sched_setaffinity(0, affinity->size, affinity->set);
	CPU_FREE(affinity->set);
}

/* The CPU's identity, unless id is NULL, and its frequency in GHz. */
static double look_at_cpu(const struct environment *env,
			  const struct clock *clock, struct identity *id)
{
	struct affinity before;
	bool saved = env->source.bind && !affinity_get(&before);
	bool there = !env->source.bind ||
		     (saved && !affinity_narrow(&before, env->cpu));
	double ghz;

	if (id)
		identity_read(&env->source.cpuid, id);
	/* On another CPU, of a hybrid part maybe, these are that one's. */
	if (id && !there)
		id->core_type = NULL;
	ghz = there ? env->source.core_ghz(clock) : NAN;
	if (saved)
		affinity_restore(&before);
	return ghz;
}

/* The part of the record that does not change during a run. */
static json_t *describe(const struct environment *env,
			const struct identity *id)
{
	json_t *json = machine_json(env->root, env->cpu, id);
	json_t *settings = settings_json(env->root, env->cpu);

	if (!json || !settings || json_object_update(json, settings)) {
		json_decref(json);
		json = NULL;
	}
	json_decref(settings);
	return json;
}

static char *read_siblings(const char *root, unsigned int cpu)
{
	char *path, *text;

	if (asprintf(&path,
		     "/sys/devices/system/cpu/cpu%u/topology/"
		     "thread_siblings_list",
		     cpu) < 0)
		return NULL;
	text = sysfile_read(root, path);
	free(path);
	return text;
}

struct environment *environment_open_with(
	const struct environment_source *source, const struct clock *clock,
	unsigned int cpu)
{
	struct environment *env = calloc(1, sizeof(*env));
	struct identity id;

	if (!env)
		return NULL;
	env->source = *source;
	env->root = strdup(source->counters.root);
	env->source.counters.root = env->root;
	env->cpu = cpu;
	env->after_ghz = NAN;
	env->drift_ppm = NAN;
	if (!env->root) {
		environment_close(env);
		return NULL;
	}
	env->before_ghz = look_at_cpu(env, clock, &id);
	env->machine = describe(env, &id);
	if (!env->machine) {
		environment_close(env);
		return NULL;
	}
	env->siblings = read_siblings(env->root, cpu);
	noise_read(&env->source.counters, &env->before);
	return env;
}

struct environment *environment_open(const char *root,
				     const struct clock *clock,
				     unsigned int cpu)
{
	const struct environment_source live = {
		.counters = { .root = root,
			      .seconds = monotonic_seconds,
			      .usage = usage },
		.cpuid = identity_live,
		.core_ghz = clock_core_ghz,
		.bind = true,
	};

	return environment_open_with(&live, clock, cpu);
}

void environment_finish(struct environment *env, struct clock *clock)
{
	struct noise_reading after;

	/* First, so that what follows is not part of it. */
	noise_read(&env->source.counters, &after);
	noise_between(&env->before, &after, env->cpu, env->siblings,
		      &env->noise);
	noise_free(&after);
	env->after_ghz = look_at_cpu(env, clock, NULL);
	if (isnan(clock->drift_ppm))
		clock_finish(clock);
	env->drift_ppm = clock->drift_ppm;
	env->finished = true;
}

json_t *environment_json(const struct environment *env)
{
	const struct noise *noise = env->finished ? &env->noise : NULL;
	json_t *json = json_deep_copy(env->machine);
	int failed = json_object_set_new(
		json, "frequency",
		json_pack("{s:o, s:o}", "before_ghz",
			  report_number(env->before_ghz), "after_ghz",
			  report_number(env->after_ghz)));

	failed |= json_object_set_new(json, "noise", noise_json(noise));
	failed |= json_object_set_new(json, "warnings",
				      warnings_json(json, noise, env->cpu,
						    env->drift_ppm));
	if (failed) {
		json_decref(json);
		return NULL;
	}
	return json;
}

void environment_close(struct environment *env)
{
	if (!env)
		return;
	noise_free(&env->before);
	free(env->siblings);
	json_decref(env->machine);
	free(env->root);
	free(env);
}
