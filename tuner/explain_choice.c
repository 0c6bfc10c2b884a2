/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>

#include "explain.h"
#include "member.h"

static void print_regret(FILE *to, const char *name, const json_t *regret)
{
	const json_t *worst = json_object_get(regret, "worst_case");

	fprintf(to, "  %-22s", name);
	member_print(to, 6, 0, member_number(regret, "pages"));
	member_print(to, 10, 1, 100 * member_number(regret, "worst"));
	member_print(to, 8, 1, 100 * member_number(regret, "mean"));
	member_print(to, 9, 1, 100 * member_number(regret, "kernel_compile"));
	if (member_number(worst, "pages") > 0)
		fprintf(to, "   n=%.0f W=%.0f %s\n",
			member_number(worst, "pages"),
			member_number(worst, "working_set"),
			json_string_value(json_object_get(worst, "pattern")));
	else
		fputs("   none\n", to);
}

static const char *objective_text(const json_t *choice)
{
	const char *name =
		json_string_value(json_object_get(choice, "objective"));

	if (name && !strcmp(name, objective_name[OBJECTIVE_LATENCY]))
		return "the mean";
	if (name && !strcmp(name, objective_name[OBJECTIVE_THROUGHPUT]))
		return "the total time";
	return "the worst case";
}

/* What changing to the choice gains, or that it is better not done. */
static void print_gain(FILE *to, const json_t *choice, const char *key,
		       const char *what)
{
	const json_t *gain = json_object_get(choice, key);

	if (!gain)
		return;
	if (json_is_true(json_object_get(gain, "leave_it_alone")))
		fprintf(to, "  Leave it alone: %s gains", what);
	else
		fprintf(to, "  Gain of %s:", what);
	fprintf(to, " %.1f %% [%.1f, %.1f] over what is in force%s\n",
		100 * member_number(gain, "estimate"),
		100 * member_end(gain, 0), 100 * member_end(gain, 1),
		json_is_true(json_object_get(gain, "leave_it_alone")) ?
			",\n  less than the 3 % by which runs differ" :
			"");
}

void explain_choice_text(const json_t *report, FILE *to)
{
	const json_t *choice = json_object_get(report, "choice");
	char name[64];

	if (json_object_get(choice, "reason")) {
		fprintf(to, "No factor: %s.\n",
			json_string_value(json_object_get(choice, "reason")));
		return;
	}
	fprintf(to,
		"tlb_flushall_factor %.0f: page by page up to %.0f pages "
		"(E = %.0f)\n\n"
		"  regret, %%               pages     worst    mean  compile"
		"   worst case\n",
		member_number(choice, "factor"), member_number(choice, "pages"),
		member_number(choice, "entries"));
	snprintf(name, sizeof(name), "factor %.0f",
		 member_number(choice, "factor"));
	print_regret(to, name, json_object_get(choice, "regret_choice"));
	print_regret(to, "in force now",
		     json_object_get(choice, "regret_in_force"));
	print_regret(to, "stock constant",
		     json_object_get(choice, "regret_stock"));
	print_regret(to, "best plain ceiling",
		     json_object_get(choice, "regret_best_pages"));
	fputc('\n', to);
	print_gain(to, choice, "gain", name);
	print_gain(to, choice, "gain_best_pages", "the best plain ceiling");
	fprintf(to,
		"\n  Regret: cost over that of always knowing the cheaper way, "
		"for n = 1..512, reused\n  sets up to E/2 and three patterns; "
		"the factor minimises %s.\n"
		"  How sure: %.0f %% of %d resamples of the time blocks choose "
		"this factor, 95 %% of\n  them %.0f..%.0f pages. In %.0f %% of "
		"the cells page by page is extrapolated beyond the\n  ceiling "
		"in force, in the others the full flush below it.\n",
		objective_text(choice),
		100 * member_number(choice, "bootstrap_agreement"),
		DERIVE_BOOTSTRAPS, member_end(choice, 0), member_end(choice, 1),
		100 * member_number(choice, "extrapolated"));
}
