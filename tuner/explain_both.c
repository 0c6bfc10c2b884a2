/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <string.h>

#include "explain.h"
#include "member.h"
#include "report.h"

json_t *explain_both_json(const struct both *both)
{
	if (both->n_blocks == 0)
		return json_null();
	return json_pack(
		"{s:I, s:o, s:o, s:o, s:o, s:s, s:s?}", "blocks",
		(json_int_t)both->n_blocks, "a", report_estimate(&both->a), "b",
		report_estimate(&both->b), "c_i", report_estimate(&both->c_i),
		"c_f", report_estimate(&both->c_f), "verdict",
		both_verdict_name[both->verdict], "worst", both->worst);
}

static void print_cost(FILE *to, const json_t *both, const char *name)
{
	const json_t *cost = json_object_get(both, name);

	fprintf(to, "  %-4s%9.1f  [%.1f, %.1f]\n", name,
		member_number(cost, "estimate"), member_end(cost, 0),
		member_end(cost, 1));
}

void explain_both_text(const json_t *both, FILE *to)
{
	const char *verdict =
		json_string_value(json_object_get(both, "verdict"));
	const char *worst = json_string_value(json_object_get(both, "worst"));

	if (!verdict)
		return; /* no knob */
	fprintf(to,
		"The same with the knob: both ways at every size (%.0f time "
		"blocks)\n",
		member_number(both, "blocks"));
	print_cost(to, both, "a");
	print_cost(to, both, "b");
	print_cost(to, both, "c_i");
	print_cost(to, both, "c_f");
	if (!strcmp(verdict, both_verdict_name[BOTH_AGREES]))
		fputs("  The intervals of all four overlap those above. The "
		      "choice rests on these.\n\n",
		      to);
	else if (!strcmp(verdict, both_verdict_name[BOTH_NO_EFFECT]))
		fputs("  Moving the knob changed nothing: it is not what "
		      "decides here. The choice rests\n  on the costs above.\n"
		      "\n",
		      to);
	else if (!strcmp(verdict, both_verdict_name[BOTH_ALONE]))
		fputs("  There are no costs without the knob to compare them "
		      "with.\n\n",
		      to);
	else
		fprintf(to,
			"  DISAGREES with the costs above, most in %s. The "
			"choice rests on these.\n\n",
			worst ? worst : "one of them");
}
