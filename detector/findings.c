/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "listing.h"

#define BARE_METAL                                                             \
	"run it on bare metal as well: ./stale --seconds 600 && ./stale "      \
	"--random 600"

int findings_threshold(const json_t *environment)
{
	const json_t *sysctl = json_object_get(environment, "sysctl");
	const json_t *pages = json_object_get(sysctl, "vm.tlb_flushall_pages");

	if (!json_is_integer(pages))
		pages = json_object_get(
			json_object_get(environment,
					"tlb_single_page_flush_ceiling"),
			"pages");
	if (!json_is_integer(pages) || json_integer_value(pages) < 0)
		return -1;
	return json_integer_value(pages) > THRESHOLD_MOST ?
		       THRESHOLD_MOST :
		       (int)json_integer_value(pages);
}

/* limits --------------------------------------------------------------- */

static bool is_emulator(const json_t *hypervisor)
{
	const char *name =
		json_string_value(json_object_get(hypervisor, "signature"));

	return name && !strncmp(name, "TCG", 3);
}

json_t *findings_limits(const json_t *environment)
{
	const json_t *hypervisor = json_object_get(environment, "hypervisor");
	json_t *limits = json_array();
	const char *guest = NULL;

	if (is_emulator(hypervisor))
		guest = "an emulator (QEMU TCG) has neither PCID nor INVPCID, "
			"no paging-structure caches and no speculation, and "
			"an INVLPG inside a huge page that it tracks empties "
			"its whole TLB: none of these can be shown here";
	else if (json_is_true(json_object_get(hypervisor, "present")))
		guest = "under a hypervisor one INVLPG or an exit may empty "
			"more of the TLB than was asked for, and flushes may "
			"be the hypervisor's: faults can stay hidden";
	if (guest)
		json_array_append_new(limits, json_string(guest));
	if (json_is_false(json_object_get(environment, "pcid")))
		json_array_append_new(
			limits,
			json_string("the kernel uses no PCID here: every "
				    "switch of address spaces empties the TLB, "
				    "and what is kept across one was not "
				    "tested"));
	if (json_array_size(limits) > 0)
		json_array_append_new(limits, json_string(BARE_METAL));
	return limits;
}

/* results -------------------------------------------------------------- */

static const char *status(const struct session *session,
			  const struct tally *tally)
{
	if (session->stale && session->where == tally)
		return "stale";
	if (tally->programs > 0)
		return "clean";
	return tally->reason ? "skipped" : "not reached";
}

static json_t *size_or_null(size_t n)
{
	return n > 0 ? json_integer((json_int_t)n) : json_null();
}

static json_t *tally_json(const struct session *session,
			  const struct tally *tally)
{
	return json_pack("{s:s, s:s, s:s, s:s?, s:I, s:o, s:I, s:o, s:o, s:I}",
			 "operation", tally->name, "memory",
			 memory_name[tally->memory], "status",
			 status(session, tally), "reason", tally->reason,
			 "programs", (json_int_t)tally->programs,
			 "different_programs", size_or_null(tally->all),
			 "operations", (json_int_t)tally->operations,
			 "pages_least", size_or_null(tally->least),
			 "pages_most", size_or_null(tally->most),
			 "without_effect", (json_int_t)tally->nothing);
}

/* How the actor of a step held its translations before. */
static const char *held(const struct program *program, size_t step,
			unsigned int page)
{
	const struct step *steps = program->step;
	size_t i = step;

	while (i-- > 0)
		if (steps[i].actor == steps[step].actor &&
		    verb_accesses(steps[i].verb) &&
		    step_affects(&steps[i], page))
			return verb_info[steps[i].verb].name;
	return "nothing";
}

static json_t *operation_json(const struct session *session)
{
	const struct finding *finding = &session->finding;
	const struct step *step;

	if (finding->operation < 0)
		return json_null();
	step = &session->program.step[finding->operation];
	return json_pack("{s:s, s:i, s:i, s:i, s:i}", "name",
			 verb_info[step->verb].name, "first", step->first,
			 "pages", step->count, "actor", step->actor, "cpu",
			 finding->initiator_cpu);
}

static json_t *hex(uint64_t value)
{
	return json_sprintf("0x%llx", (unsigned long long)value);
}

static json_t *stale_json(const struct session *session)
{
	const struct finding *finding = &session->finding;
	const struct step *step;
	char *listing;
	json_t *json;

	if (!session->stale)
		return json_null();
	step = &session->program.step[finding->step];
	listing = listing_print(&session->program);
	json = json_pack(
		"{s:s, s:s, s:o, s:i, s:s, s:i, s:i, s:s, s:b, s:o, s:o, s:b, "
		"s:s?}",
		"what", finding_text[finding->kind], "operation",
		session->where->name, "changed_by", operation_json(session),
		"page", finding->page, "access", verb_info[step->verb].name,
		"actor",
		finding->kind == FINDING_READ ? step->actor : finding->actor,
		"cpu", finding->cpu, "held_by",
		held(&session->program, finding->step, finding->page), "slept",
		step->sleep, "got", hex(finding->got), "wanted",
		hex(finding->wanted), "shrunk", session->shrunk, "program",
		listing);
	free(listing);
	return json;
}

int findings_json(json_t *report, const struct session *session)
{
	const json_t *environment = json_object_get(report, "environment");
	int known = findings_threshold(environment);
	json_t *results = json_array();
	int failed = 0;
	size_t i;

	for (i = 0; i < session->tallies; i++)
		failed |= json_array_append_new(
			results, tally_json(session, &session->tally[i]));
	failed |= json_object_set_new(
		report, "threshold",
		json_pack("{s:o, s:i, s:i}", "kernel",
			  known < 0 ? json_null() : json_integer(known),
			  "tested", session->bounds.threshold, "threads",
			  session->bounds.threads));
	failed |= json_object_set_new(report, "results", results);
	failed |= json_object_set_new(report, "stale", stale_json(session));
	failed |= json_object_set_new(report, "limits",
				      findings_limits(environment));
	return failed ? -1 : 0;
}
