#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./mprotect: every row is measured, in text, JSON and CSV, with few CPUs and
# many threads, and a call above the ceiling is flushed in another way.

. "${top_srcdir:-.}/tests/tap.sh"

mprotect=$top_builddir/mprotect
query=$top_builddir/tests/query
[ -x "$query" ] || skip_all "tests/query is not built"
cd "$tmp" || exit 1

holds() {
	ok "$2" awk "BEGIN { exit !($1) }"
}

"$mprotect" --quick >text 2>err
status=$?
if [ $status -eq 77 ]; then
	skip_all "$(cat err)"
fi
is $status 0 'runs without options'
is "$(cat err)" '' 'and is silent on stderr'
is "$(grep -c '^ *0 .*[0-9]$' text)" 1 'one row for the caller alone'
like "$(cat text)" '8 pages per call, then 512 random reads' 'with the defaults'

# A list of threads: a row each, more threads than CPUs are flagged.
ok 'a list of threads' "$mprotect" --quick -t 0,1,32 --format json -o out.json
"$query" out.json options.threads.2 >got
is "$(cat got)" 32 'options are recorded'
"$mprotect" --quick -t 0,32 -l 200 >text
is "$(grep -c '^ *32!' text)" 1 '32 threads are flagged in the table'
like "$(cat text)" 'more threads than CPUs' 'and explained'
i=0
rows=
flagged=
while [ "$("$query" out.json results.$i)" != none ]; do
	rows="$rows $("$query" out.json results.$i.threads)"
	if [ "$("$query" out.json results.$i.side)" = bystanders ]; then
		flagged="$flagged $("$query" out.json \
			results.$i.threads results.$i.oversubscribed |
			tr '\n' ':')"
	fi
	lo=$("$query" out.json results.$i.ci95.0)
	hi=$("$query" out.json results.$i.ci95.1)
	median=$("$query" out.json results.$i.median)
	if [ "$lo" != none ]; then
		awk "BEGIN { exit !($lo <= $hi && $median > 0) }" ||
			echo "$i: $lo $median $hi" >>wrong
	fi
	i=$((i + 1))
done
is "$(printf '%s\n' $rows | sort -n | uniq | tr '\n' ' ')" '0 1 32 ' \
	'results for every row'
like "$flagged" '32:true' 'more threads than CPUs are flagged in JSON'
ok 'intervals are ordered and medians positive' [ ! -e wrong ]

# Exactly as many operations as asked for.
"$mprotect" -l 7 --format json -o loops.json
is "$("$query" loops.json results.0.n)" 7 '-l 7 is seven operations'
"$mprotect" -l 1 --format json -o loops.json
is "$("$query" loops.json results.0.n results.0.ci95 results.0.mad |
	tr '\n' ' ')" '1 null null ' 'one operation has no spread, not a spread of 0'
"$mprotect" -l 123 -t 1 --format json -o loops.json
is "$("$query" loops.json results.0.n)" 123 'without threads'
i=0
calls=0
while [ "$("$query" loops.json results.$i)" != none ]; do
	case $("$query" loops.json results.$i.what results.$i.window |
		tr '\n' ' ') in
	'call busy ' | 'call stopped ')
		calls=$((calls + $("$query" loops.json results.$i.n)))
		;;
	esac
	i=$((i + 1))
done
is "$calls" 123 'and with threads, running ones and stopped ones'

# The 2012 command lines.
ok '-p 4096 -l 8 -n 10240' "$mprotect" -p 4096 -l 8 -n 10240
ok '-t 16' "$mprotect" --quick -t 16
for pattern in seq random chase; do
	ok "--pattern $pattern -w" "$mprotect" -l 20 --pattern $pattern -w
done

# Above the ceiling the call need not cost more, and the kind of flush differs.
# Interleaved, so that the machine's speed cancels; where the ceiling is
# elsewhere there is nothing to see.
for i in 1 2 3 4 5; do
	for n in 33 34; do
		"$mprotect" -n $n -l 2000 --format json -o step.json
		"$query" step.json results.0.median >>n$n
	done
done
ratio=$(paste n33 n34 | awk '{ print $1 / $2 }' | sort -n | sed -n 3p)
diag "n = 33 against n = 34: $ratio"
ceiling=$("$top_builddir/tune" --quick --format json -o tune.json 2>/dev/null &&
	"$query" tune.json fit.ceiling.estimate)
if [ "$ceiling" = 33 ]; then
	holds "$ratio > 1.03 || $ratio < 0.9" 'n = 33 against n = 34 shows the step'
else
	skip 1 "the ceiling here is $ceiling"
fi

# CSV.
"$mprotect" --quick -t 0,1 --format csv >out.csv
is "$(awk -F, '{ print NF }' out.csv | sort -u | wc -l)" 1 'CSV is a table'
like "$(head -n 1 out.csv)" 'row,threads,.*ci95.lo,ci95.hi,partial' 'with a header'

# Numbers keep their point in any locale.
for locale in de_DE.UTF-8 fr_FR.UTF-8; do
	LC_ALL=$locale "$mprotect" -l 20 --format csv >locale.csv
	is "$(awk -F, '{ print NF }' locale.csv | sort -u | wc -l)" 1 \
		"CSV under $locale"
done

# Huge pages, where there are any.
"$mprotect" --huge -n 2 -p 4 -l 20 >huge 2>huge.err
status=$?
if [ $status -eq 77 ]; then
	is "$(wc -l <huge.err)" 1 'no huge pages: says why, in one line'
else
	is $status 0 'huge pages'
fi

"$mprotect" --huge hugetlb -n 2 -p 4 -l 20 --format json -o hugetlb.json \
	2>huge.err
status=$?
if [ $status -eq 77 ]; then
	like "$(cat huge.err)" 'hugetlb pages of 2 MiB needed, .*vm.nr_hugepages=' \
		'no hugetlb pages: says why, and how to have some'
else
	is "$("$query" hugetlb.json options.huge)" hugetlb 'hugetlb pages'
fi

# Memory of a node, verified; where no policy can be set, that is said.
"$mprotect" --mem-bind 0 -t 0,1 -l 20 --format json -o node.json 2>node.err
status=$?
if [ $status -ne 0 ]; then
	is "$status $(wc -l <node.err)" '77 1' "cannot bind: $(cat node.err)"
	skip 2 'memory cannot be bound to node 0'
else
	is "$("$query" node.json options.mem_bind results.0.node)" '0
0' 'memory is bound to node 0'
	"$mprotect" --mem-bind 0 -t 0,1 -l 20 >node.txt
	like "$(cat node.txt)" '^memory on node 0, distance ([0-9]+|n/a)$' \
		'... which is above its rows'
	is "$(grep -cE '^ +[01][ !]' node.txt)" 2 '... each once'
fi
"$mprotect" -l 20 --format json -o node.json
is "$("$query" node.json options.mem_bind results.0.node results.0.distance |
	tr '\n' ' ')" 'null null null ' 'without --mem-bind no node is named'

# Interrupted.
"$mprotect" -t 1,1,1,1,1,1,1,1 -l 1000000000 --format json -o partial.json &
pid=$!
end_by TERM $pid
is $? 143 'SIGTERM: dies of it'
is "$("$query" partial.json partial)" true '... after a partial result'

done_testing
