#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./access: the curve is whole and rises where a level of the TLB is full, in
# text, JSON and CSV; without huge pages and when interrupted it says so.

. "${top_srcdir:-.}/tests/tap.sh"

access=$top_builddir/access
query=$top_builddir/tests/query
no_huge=$top_builddir/tests/no-huge
cd "$tmp" || exit 1

# get PATH: from out.json.
get() {
	"$query" out.json "$1"
}

# holds EXPRESSION NAME: an awk expression is true.
holds() {
	ok "$2" awk "BEGIN { exit !($1) }"
}

# column NAME: its number in the table of out.csv.
column() {
	head -n 1 out.csv | tr -d '\r' | tr ',' '\n' | grep -nx "$1" |
		cut -d : -f 1
}

# curve WHAT: pages and median of the chase over 4 KiB pages, from out.csv.
curve() {
	awk -F, -v what="\"$1\"" -v pages="$(column pages)" \
		-v median="$(column median)" '
		$1 == "\"4K\"" && $2 == "\"chase\"" && $3 == what {
			print $pages, $median
		}' out.csv
}

"$access" --quick >text 2>err
status=$?
if [ $status -eq 77 ]; then
	skip_all "$(cat err)"
fi
is $status 0 'runs without options'
is "$(cat err)" '' 'and is silent on stderr'
like "$(cat text)" '^  pages +chase +excess' 'a table'
like "$(cat text)" '^TLB, measured, 4 KiB pages' 'what was measured'
like "$(cat text)" '^TLB, as CPUID has it' 'beside it CPUID'
like "$(cat text)" 'splintered by a hypervisor: (yes|no|in part|unknown \(.+\))' \
	'splintered or not, or why it is unknown'

ok 'JSON' "$access" --quick --format json -o out.json
is "$(get program) $(get schema) $(get partial)" 'access 1 false' 'a report'
is "$(get results.0.memory) $(get results.0.pattern) $(get results.0.what)" \
	'4K chase access' 'begins with the curve over 4 KiB pages'
is "$(get results.0.pages) $(get results.0.unit)" '16 ns' 'at its start'
holds "$(get results.0.n) >= 1 && $(get results.0.median) > 0" 'measured'
holds "$(get tlb.hit_l1_ns.estimate) > 0" 'the cost of a hit'
diag "L1 $(get tlb.l1_entries.estimate)," \
	"last level $(get tlb.last_level_entries.estimate)," \
	"CPUID $(get cpuid.pages_4k.last_level_entries)," \
	"splintered $(get splintered.verdict)"
like "$(get splintered.verdict)" '^(yes|no|in part|unknown)$' 'splintered'
last=$(get tlb.last_level_entries.estimate)
if [ "$last" = null ] || [ "$last" = none ]; then
	last=0
fi
holds "$last == 0 || $last > 30" 'a last level is unknown or of some size'

# The same numbers with the same name in CSV, w ascending.
"$access" --quick --pattern seq --pattern random --format csv >out.csv
is "$(awk -F, '{ print NF }' out.csv | sort -u | wc -l)" 1 'CSV is a table'
like "$(head -n 1 out.csv)" 'memory,pattern,what,pages,.*ci95.lo,ci95.hi' \
	'with a header'
for what in access control excess; do
	curve $what >curve
	# Where all CPUs are busy, there is time for part of the sets.
	holds "$(wc -l <curve) > 15" "a curve: $what"
	ok 'of ascending sets' sort -C -n -u -k 1,1 curve
done
curve excess >excess
# Beyond any L1 dTLB an access takes longer. Not for certain on a busy machine,
# so medians of many sets.
median() {
	sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}
small=$(awk '$1 <= 48 { print $2 }' excess | median)
large=$(awk '$1 >= 256 { print $2 }' excess | median)
diag "excess up to 48 pages $small ns, from 256 on $large ns"
holds "$large > $small" 'which rises'
for pattern in seq random; do
	holds "$(grep -c "^\"4K\",\"$pattern\"" out.csv) > 45" \
		"$pattern beside it"
done

# A few pages only.
ok '--pages-max' "$access" --quick --pages-max 128 --format csv -o out.csv
is "$(curve access | tail -n 1 | cut -d ' ' -f 1)" 128 'ends there'

# On one NUMA node.
is "$(get options.mem_bind) $(get memory)" 'null null' 'memory is not bound'
"$access" --quick --mem-bind 0 --pages-max 128 --format json -o out.json 2>err
if [ $? -eq 77 ]; then
	skip 2 "$(cat err)"
else
	is "$(get options.mem_bind) $(get memory.node)" '0 0' 'bound to node 0'
	like "$("$access" --quick --mem-bind 0 --pages-max 128)" \
		'^memory on node 0, distance ([0-9]+|n/a)$' '... which is shown'
fi

# Huge pages, where there are any.
"$access" --quick --huge --pages-max 128 --format json -o out.json 2>err
status=$?
if [ $status -eq 77 ]; then
	is "$(wc -l <err)" 1 'no huge pages: says why, in one line'
	skip 2 "$(cat err)"
else
	is $status 0 'huge pages'
	is "$(get results.0.memory)" 2M 'are those measured'
	is "$(get tlb)" null 'and small ones unknown'
fi

# No huge pages to be had.
"$no_huge" true
if [ $? -eq 77 ]; then
	skip 6 'huge pages cannot be denied'
else
	ok 'without huge pages' \
		"$no_huge" "$access" --quick --format json -o out.json
	is "$(get splintered.verdict)" unknown 'splintered: unknown'
	like "$(get splintered.why)" 'huge pages|no time was left' '... and why'
	is "$(get tlb_2m)" null 'no reach in large pages'
	"$no_huge" "$access" --huge >out 2>err
	is "$? $(cat out)" '77 ' '--huge cannot run'
	like "$(cat err)" 'access: .*huge pages' '... and says why'
fi

# Within its time.
"$access" --max-time 2 --format json -o out.json
holds "$(get environment.noise.seconds) < 4" '--max-time'

# The old result stays until the new one is there, and there is no other file.
mkdir alone
echo precious >alone/result
"$access" --format json -o alone/result &
pid=$!
started $pid
is "$(cat alone/result)" precious 'a result is replaced when complete'
is "$(ls alone)" result '... and nothing is beside it'
end_by INT $pid
is $? 130 'SIGINT: dies of it'
cp alone/result out.json
is "$(get partial)" true '... after a partial result'
is "$(ls alone)" result '... alone'

done_testing
