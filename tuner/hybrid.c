/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "explain.h"
#include "hybrid.h"
#include "member.h"
#include "modeldb.h"
#include "report.h"
#include "saved.h"
#include "why.h"

int hybrid_open(struct hybrid *hybrid, const char *file,
		const struct question *question, char **why)
{
	*hybrid = (struct hybrid){ .record = RECORD_EMPTY };
	*why = NULL;
	hybrid->report = saved_read(file, "a JSON report of tune", why);
	if (!hybrid->report ||
	    saved_record(hybrid->report, file, &hybrid->record, why) < 0)
		return -1;
	if (derive(&hybrid->record, question, &hybrid->findings) < 0)
		return why_set(why, 0, "%s: nothing can be derived: %s", file,
			       strerror(errno));
	if (hybrid->findings.reason)
		return why_set(why, EINVAL, "%s: expected costs and E: %s",
			       file, hybrid->findings.reason);
	return 0;
}

void hybrid_close(struct hybrid *hybrid)
{
	derive_free(&hybrid->findings);
	record_free(&hybrid->record);
	json_decref(hybrid->report);
	*hybrid = (struct hybrid){ .record = RECORD_EMPTY };
}

/* What core types of one machine have in common. */
static int check_machine(const json_t *one, const json_t *other, char **why)
{
	static const char *const paths[] = {
		"environment.kernel.release",
		"environment.cpu.vendor",
		"environment.pti",
		"environment.pcid",
		"environment.hypervisor.signature",
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const json_t *a = modeldb_at(one, paths[i]);
		const json_t *b = modeldb_at(other, paths[i]);

		if (a && b && !json_equal(a, b))
			return why_set(why, EINVAL,
				       "expected the same machine, but %s is "
				       "another",
				       paths[i]);
	}
	return 0;
}

/*
 * One type: its costs, and what would be chosen for it alone, with the E of the
 * choice for all, as the kernel has one.
 */
static json_t *type_json(const json_t *report, const struct findings *type,
			 const struct findings *all)
{
	struct cost_model alone = type->model;
	struct choice choice;
	struct regret regret;
	const json_t *name = modeldb_at(report, "environment.cpu.core_type");

	alone.next = NULL;
	choice = choice_make(&alone, &all->grid, all->entries);
	regret = choice_regret(&alone, &all->grid, all->choice.pages);
	return json_pack("{s:O, s:o, s:o, s:o, s:o, s:I, s:i, s:I, s:I, s:o, "
			 "s:o}",
			 "core_type", name ? name : json_null(), "a",
			 report_estimate(&type->costs.a), "b",
			 report_estimate(&type->costs.b), "c_i",
			 report_estimate(&type->costs.c_i), "c_f",
			 report_estimate(&type->costs.c_f), "entries",
			 (json_int_t)type->entries, "factor", choice.factor,
			 "pages", (json_int_t)choice.pages, "best_pages",
			 (json_int_t)choice.best_pages, "regret_alone",
			 explain_regret_json(&choice.regret, choice.pages),
			 "regret_choice",
			 explain_regret_json(&regret, all->choice.pages));
}

int hybrid_json(const struct hybrid *hybrid, const struct findings *findings,
		json_t *report, char **why)
{
	if (check_machine(report, hybrid->report, why) < 0)
		return -1;
	if (findings->reason)
		return 0;
	if (json_object_set_new(
		    report, "core_types",
		    json_pack("[o, o]", type_json(report, findings, findings),
			      type_json(hybrid->report, &hybrid->findings,
					findings))) < 0)
		return why_set(why, ENOMEM, "%s", strerror(ENOMEM));
	return 0;
}

static double estimate(const json_t *type, const char *cost)
{
	return member_number(json_object_get(type, cost), "estimate");
}

static void print_type(const json_t *type, FILE *to)
{
	const char *name =
		json_string_value(json_object_get(type, "core_type"));

	fprintf(to, "  %-12s", name ? name : "unknown");
	member_print(to, 8, 1, estimate(type, "a"));
	member_print(to, 7, 1, estimate(type, "b"));
	member_print(to, 8, 1, estimate(type, "c_i"));
	member_print(to, 8, 1, estimate(type, "c_f"));
	member_print(to, 6, 0, member_number(type, "entries"));
	member_print(to, 7, 0, member_number(type, "factor"));
	member_print(to, 6, 0, member_number(type, "pages"));
	member_print(to, 8, 1,
		     100 * member_number(json_object_get(type, "regret_alone"),
					 "worst"));
	member_print(to, 8, 1,
		     100 * member_number(json_object_get(type, "regret_choice"),
					 "worst"));
	fputc('\n', to);
}

void hybrid_text(const json_t *report, FILE *to)
{
	const json_t *list = json_object_get(report, "core_types");
	size_t i;

	if (!list)
		return;
	fputs("\n  Core types: one knob, so the choice above is for all of "
	      "them, and so are the\n  resamples. Alone: what would be chosen "
	      "for that type, and its worst regret, %;\n  chosen: the worst "
	      "regret of the choice above on that type.\n"
	      "  type              a      b     c_i     c_f     E alone: f "
	      "pages  regret  chosen\n",
	      to);
	for (i = 0; i < json_array_size(list); i++)
		print_type(json_array_get(list, i), to);
}
