#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./tune: derives the right answer from simulated kernels, and on this machine
# ends in an answer or in a reason, whatever machine this is.

. "${top_srcdir:-.}/tests/tap.sh"

tune=$top_builddir/tune
simulate=$top_builddir/tests/simulate
query=$top_builddir/tests/query
cd "$tmp" || exit 1

# derive KEY=NUMBER...: out.json is what tune makes of such a kernel.
derive() {
	"$simulate" "$@" >record.json &&
		"$tune" --from record.json --format json -o out.json
}

# get PATH: from out.json.
get() {
	"$query" out.json "$1"
}

# holds EXPRESSION NAME: an awk expression is true.
holds() {
	ok "$2" awk "BEGIN { exit !($1) }"
}

# covers PATH TRUTH NAME: the interval contains the truth.
covers() {
	holds "$(get "$1.ci95.0") <= $2 && $2 <= $(get "$1.ci95.1")" "$3"
}

# A stock kernel on a machine where INVLPG spares the rest of the TLB.
ok 'a simulated stock kernel' derive seed=3
is "$(get fit.ceiling.estimate)" 33 'its ceiling'
covers fit.a 1000 'a'
covers fit.b 15 'b'
covers fit.c_i 40 'c_i'
covers fit.c_f 215 'c_f'
is "$(get fit.page_flush_empties_tlb)" false 'INVLPG spares the TLB'
holds "($(get tlb.last_level_entries.estimate) - 2048) ^ 2 < 205 ^ 2" 'E'
# With no reuse n* = 215 / 40.
holds "($(get break_even.0.pages) - 5.375) ^ 2 < 0.1" 'break-even without reuse'
is "$(get choice.factor)" 4 'the factor of the least worst regret'
holds "$(get choice.regret_choice.worst) <= $(get choice.regret_in_force.worst)" \
	'is no worse than what is in force'
holds "$(get choice.regret_best_pages.worst) <= $(get choice.regret_choice.worst)" \
	'and no better than the best plain ceiling'
holds "$(get choice.bootstrap_agreement) > 0.9" 'and sure'

# Worth it or not, by the gain over what is in force.
is "$(get choice.gain.leave_it_alone)" false 'worth changing'
holds "$(get choice.gain.ci95.0) <= $(get choice.gain.estimate) && \
	$(get choice.gain.estimate) <= $(get choice.gain.ci95.1)" 'with an interval'
like "$("$tune" --from record.json)" 'Gain of factor 4: ' '... and said so'
text=$("$tune" --from record.json --objective latency)
like "$text" 'Leave it alone: factor 6 gains' 'by another objective it is not'
like "$text" 'minimises the mean' '... which is named'

# Derived again from its own report, everything is the same.
"$query" out.json fit.a.estimate fit.c_i.ci95.0 choice.factor choice.pages \
	choice.bootstrap_agreement break_even.7.pages >first
ok 'derived again' "$tune" --from out.json --format json -o again.json
"$query" again.json fit.a.estimate fit.c_i.ci95.0 choice.factor choice.pages \
	choice.bootstrap_agreement break_even.7.pages >second
ok 'and the same' cmp first second

# ... with the seed that it was derived with, unless told another.
"$tune" --from out.json --seed 7 --format json -o seven.json
"$tune" --from seven.json --format json -o seven-again.json
"$tune" --from seven.json --seed 1 --format json -o one.json
is "$("$query" seven-again.json options.seed)" 7 'the seed is that of the report'
paths='choice.ci95.0 choice.bootstrap_agreement choice.factor'
# shellcheck disable=SC2086 # words
is "$("$query" seven-again.json $paths)" "$("$query" seven.json $paths)" \
	'... and so is what is derived'
is "$("$query" one.json options.seed)" 1 '... unless another is given'

# INVLPG that empties the TLB and is no cheaper than a full flush.
ok 'single-page flushes that cost all' derive empties=1 c_i=100 c_f=30 a=1200
is "$(get fit.page_flush_empties_tlb)" true 'are recognised'
is "$(get choice.factor)" -1 'and never worth it'
holds "$(get break_even.0.pages) < 1" 'the break-even is below one page'
text=$("$tune" --from record.json)
like "$text" '<1' 'and printed as such'
like "$text" 'whole TLB' 'with the reason'

# Other ceilings.
for ceiling in 4 8 100 300; do
	derive ceiling=$ceiling seed=$ceiling
	is "$(get fit.ceiling.estimate)" $ceiling "a ceiling of $ceiling"
	holds "($(get fit.b.estimate) - 15) ^ 2 < 0.15 ^ 2" "ceiling $ceiling: b"
done
for ceiling in 1 2 3; do
	derive ceiling=$ceiling
	is "$(get choice.factor)" null "ceiling $ceiling: no factor"
	like "$(get fit.c_i.estimate)" 'none|null' "ceiling $ceiling: no c_i"
done

# No step.
derive ceiling=0
is "$(get fit.ceiling.step)" 'all flushes full' 'a ceiling of 0'
is "$(get choice.factor)" null '... gives no factor'
like "$(get choice.reason)" 'full' '... and says why'
derive ceiling=1000000
is "$(get fit.ceiling.step)" 'all flushes page by page' 'a huge ceiling'
is "$(get choice.factor)" null '... gives no factor'
derive ceiling=1000000 empties=1
is "$(get fit.ceiling.step)" none 'no step and a cold TLB after every flush'
is "$(get choice.factor)" null '... gives no factor'

# INVLPG too cheap for the bend to be told from others: no ceiling is invented.
for cost in 'c_i=5' 'c_i=7 b=40' 'c_i=0 c_f=2000'; do
	# Words to be split.
	# shellcheck disable=SC2086
	derive $cost
	like "$(get fit.ceiling.estimate)" '^(33|null)$' "$cost: no wrong ceiling"
done

# E unknown: the costs are there, the factor is not.
derive entries=0
is "$(get choice.factor)" null 'E unknown: no factor'
covers fit.c_i 40 '... but the costs'
is "$(get tlb.last_level_entries.estimate)" null '... and no E, not 0'

# With a knob: both ways at every size, and the estimate without it checked.
ok 'a simulated kernel with a knob' derive knob=1 seed=5
is "$(get both.verdict)" agrees 'the estimate without the knob agrees with it'
covers both.c_i 40 'c_i with the knob'
covers both.c_f 215 'c_f with the knob'
covers both.a 1000 'a with the knob'
covers both.b 15 'b with the knob'
holds "$(get choice.extrapolated) < 0.01" 'then no size is extrapolated'
like "$("$tune" --from record.json)" 'both ways at every size' 'and printed'
derive knob=1 knob_c_i=60 seed=5
is "$(get both.verdict)" disagrees 'a knob that shows other costs'
like "$("$tune" --from record.json)" 'DISAGREES.*c_i' '... is reported'
derive knob=2 seed=5
is "$(get both.verdict)" 'no effect' 'a knob that moves nothing'
covers fit.c_i 40 '... leaves the costs as they were'
is "$(get choice.factor)" 4 '... and the choice'
derive
is "$(get both)" null 'without a knob there is no such thing'
# A ceiling in force that cannot be measured at is set to another one first.
derive knob=1 in_force=0
is "$(get choice.regret_in_force.pages)" 0 'the ceiling in force, not that set'
holds "$(get choice.regret_in_force.worst) > $(get choice.regret_choice.worst)" \
	'its regret'

# Where timings alone show no step, a knob that acts says where it is; one that
# does not act says nothing.
derive c_i=5 seed=5
is "$(get fit.ceiling.estimate) $(get choice.factor)" 'null null' \
	'no step without a knob'
derive c_i=5 seed=5 knob=1 knob_ceiling=33
is "$(get fit.ceiling.estimate) $(get fit.ceiling.seen_by)" '33 knob' \
	'a ceiling that only the knob shows'
covers both.c_i 5 '... and what a page costs'
is "$(get choice.factor)" 0 '... so there is a choice'
like "$("$tune" --from record.json)" '33 pages .as the knob says' '... for people'
derive c_i=5 seed=5 knob=2 knob_ceiling=33
is "$(get fit.ceiling.estimate) $(get both.verdict)" 'null no effect' \
	'a knob without effect shows none'
derive knob=1 knob_ceiling=33 seed=5
is "$(get fit.ceiling.seen_by) $(get both.verdict)" 'timings agrees' \
	'where the timings show it the knob need not'
derive knob=1 knob_ceiling=64 seed=5
is "$(get fit.ceiling.estimate) $(get both.verdict)" '64 disagrees' \
	'a knob that acts is believed, and the costs then disagree'

# A hybrid part: one knob for two core types, costs and choice of each shown.
"$simulate" c_i=200 c_f=300 r=3 a=2000 seed=7 >slow.json
"$simulate" seed=3 >record.json
ok 'two core types' "$tune" --from record.json --also slow.json --format json \
	-o out.json
is "$(get core_types)" 2 'each is shown'
covers core_types.0.c_i 40 'the costs of one'
covers core_types.1.c_i 200 '... and of the other'
holds "$(get core_types.1.pages) < $(get choice.pages) && \
	$(get choice.pages) <= $(get core_types.0.pages)" \
	'the choice is between those for each alone'
holds "$(get core_types.1.best_pages) < $(get choice.regret_best_pages.pages) && \
	$(get choice.regret_best_pages.pages) < $(get core_types.0.best_pages)" \
	'and so is the ceiling'
like "$("$tune" --from record.json --also slow.json)" 'Core types: one knob' \
	'for people, too'

# CSV has as many fields in each line, whatever is unknown.
"$tune" --from record.json --format csv >out.csv
is "$(awk -F, '{ print NF }' out.csv | sort -u | wc -l)" 1 'CSV is a table'

# This machine.
"$tune" --quick --verify --format json -o live.json 2>live.err
status=$?
cp live.json out.json
if [ $status -eq 77 ]; then
	skip 8 "$(cat live.err)"
else
	# 1: the held-out check, too noisy in so short a run to be relied on.
	holds "$status <= 1" 'measures here'
	is "$(get partial)" false 'completely'
	is "$(get schema)" 1 'in a report'
	holds "$(get record.search) > 10" 'with what was measured'
	# A knob, or a reason that says what would lift it.
	if [ "$(get knob.writable)" = true ]; then
		like "$(get knob.kind)" ceiling\|factor 'with a knob'
	else
		like "$(get knob.why)" ... 'no knob to be moved, and why'
		like "$(get knob.lift)" ... '... and what would lift that'
	fi
	ceiling=$(get fit.ceiling.estimate)
	knob=/sys/kernel/debug/x86/tlb_single_page_flush_ceiling
	diag "ceiling $ceiling, c_i $(get fit.c_i.estimate)," \
		"factor $(get choice.factor), $(get choice.reason)"
	if [ "$ceiling" = 33 ]; then
		is "$ceiling" 33 'the stock ceiling'
	elif [ -r $knob ] && value=$(cat $knob 2>/dev/null); then
		is "$ceiling" "$value" 'the ceiling is what the kernel says'
	else
		skip 1 "ceiling $ceiling, and the kernel does not tell its own"
	fi
	if [ "$(get choice.factor)" = null ]; then
		like "$(get choice.reason)" ... 'no factor, but a reason'
		skip 2 "$(get choice.reason)"
	else
		holds "$(get choice.factor) >= -1" 'a factor'
		holds "$(get choice.regret_choice.worst) <= \
			$(get choice.regret_in_force.worst) + 1e-9" \
			'no worse than what is in force'
		holds "$(get fit.c_i.ci95.0) < $(get fit.c_i.ci95.1)" \
			'an interval'
	fi
	"$tune" --from live.json --format json -o again.json
	is "$("$query" again.json choice.factor choice.pages fit.c_i.estimate)" \
		"$("$query" out.json choice.factor choice.pages fit.c_i.estimate)" \
		'derived again from the file: the same'
fi

# Interrupted: what there is, called partial, and death by the signal.
"$tune" --format json -o partial.json 2>/dev/null &
pid=$!
started $pid
sleep 1.5
end_by INT $pid
status=$?
if [ $status -eq 77 ]; then
	skip 2 'cannot measure here'
else
	is $status 130 'SIGINT: dies of it'
	is "$("$query" partial.json partial)" true '... after a partial result'
fi

# Killed: no process is left behind.
"$tune" -o /dev/null &
pid=$!
started $pid
child=$(cat /proc/$pid/task/$pid/children 2>/dev/null)
kill -KILL $pid
wait $pid 2>/dev/null
none_left "$child" 'SIGKILL: no child is left'

# One CPU is enough.
if command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null; then
	taskset -c 0 "$tune" --quick --format json -o one.json
	status=$?
	ok 'on one CPU' [ $status -eq 0 ]
else
	skip 1 'no taskset to CPU 0'
fi

done_testing
