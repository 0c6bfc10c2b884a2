#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./access --under: threads that lose their TLB to the flushes of another one
# are seen to lose it, each flush has a class, and partial results say so.

. "${top_srcdir:-.}/tests/tap.sh"

access=$top_builddir/access
query=$top_builddir/tests/query
[ -x "$query" ] || skip_all "tests/query is not built"
cd "$tmp" || exit 1

# results FILE WHAT WINDOW BYSTANDERS KEY: of each result with these labels
results() {
	i=0
	while [ "$("$query" "$1" results.$i)" != none ]; do
		labels=$("$query" "$1" results.$i.what results.$i.window \
			results.$i.bystanders | tr '\n' ' ')
		if [ "$labels" = "$2 $3 $4 " ]; then
			"$query" "$1" "results.$i.$5"
		fi
		i=$((i + 1))
	done
}

# total FILE WHAT WINDOW: readings of all classes
total() {
	sum=0
	for class in ran stopped any; do
		for n in $(results "$1" "$2" "$3" $class n); do
			sum=$((sum + n))
		done
	done
	echo $sum
}

holds() {
	ok "$2" awk "BEGIN { exit !($1) }"
}

"$access" --under mprotect --quick >text 2>err
status=$?
if [ $status -eq 77 ]; then
	skip_all "$(cat err)"
fi
is $status 0 'runs'
is "$(cat err)" '' 'and is silent on stderr'
like "$(cat text)" 'under mprotect of 8 pages' 'what is flushed'
like "$(cat text)" '1 thread, [0-9]+ flushes a second: a flush costs' \
	'what a thread loses'

# As many flushes as asked for, each in one class.
ok 'JSON' "$access" --under mprotect -l 77 --format json -o out.json
is "$(total out.json call flushed)" 77 '-l 77 is 77 flushes'
is "$(total out.json call quiet)" 0 'none in quiet windows'
is "$("$query" out.json options.under options.rate | tr '\n' ' ')" \
	'mprotect 10000 ' 'what was asked for'
ok 'another rate and size' "$access" --under mprotect -l 20 -n 600 --rate 500 \
	--format json -o slow.json
is "$(total slow.json call flushed)" 20 'flushes'
period=$(results slow.json period flushed ran median)
holds "$period >= 1.99e6" "at most 500 a second: every $period ns"

# Flushed without a pause, threads lose much: 400 pages are a full flush under
# most ceilings. On a machine so busy that no flush finds its thread running
# there is nothing to see.
share=
for try in 1 2 3; do
	if [ "$(nproc)" -gt 1 ] && [ -z "$share" ]; then
		"$access" --under mprotect -n 400 --rate 1000000 -p 1024 \
			--pattern chase --format json -o lossy.json
		share=$(results lossy.json share flushed ran median)
		diag "share lost, try $try: $share"
	fi
done
if [ "$share" ]; then
	holds "$share > 0.05" 'flushes one after the other: time is lost'
	quiet=$(results lossy.json slice quiet ran p999)
	flushed=$(results lossy.json slice flushed ran p999)
	diag "p99.9 of slices, quiet $quiet ns, flushed $flushed ns"
	holds "$flushed > $quiet" 'and slices take longer'
else
	skip 2 'no other CPU, or none that runs the thread'
fi

# Bound to a node, which each row names.
"$access" --under mprotect --mem-bind 0 -t 1,1 -l 9 --format json -o node.json \
	2>err
if [ $? -eq 77 ]; then
	skip 3 "$(cat err)"
else
	is "$("$query" node.json options.mem_bind results.0.row results.0.node |
		tr '\n' ' ')" '0 0 0 ' 'memory is bound to node 0'
	"$access" --under mprotect --mem-bind 0 -t 1,1 -l 9 >node.txt
	is "$(grep -Ec '^memory on node 0, distance ([0-9]+|n/a)$' node.txt)" \
		2 '... above each row'
	is "$("$query" out.json options.mem_bind results.0.node \
		results.0.distance | tr '\n' ' ')" 'null null null ' \
		'without --mem-bind no node is named'
fi

# More threads than CPUs: no gate.
many=$(($(nproc) + 2))
ok "$many threads" "$access" --under mprotect -t $many --quick --format json \
	-o many.json
is "$(results many.json call flushed ran n)$(results many.json call flushed stopped n)" \
	'' 'more threads than CPUs: no class'
holds "$(total many.json call flushed) > 0" 'but readings'

# That is said even where no flush but those of one timed window was measured.
cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
for seed in 1 2 3 4; do
	taskset -c "$cpu" "$access" --under mprotect -l 3 --seed $seed
done >crowded 2>err
is "$(cat err)" '' 'one CPU'
is "$(grep -c '! more threads than CPUs' crowded)" 4 '... is said to be few'
is "$(grep -c 'of the flushes a thread was' crowded)" 0 \
	'... and no thread to have been seen running'

# CSV.
"$access" --under mprotect --quick --format csv >out.csv
is "$(awk -F, '{ print NF }' out.csv | sort -u | wc -l)" 1 'CSV is a table'
like "$(head -n 1 out.csv)" 'window,bystanders,.*,p999,partial' 'with a header'

# Interrupted.
"$access" --under mprotect -t 1,1,1,1,1,1 --format json -o partial.json &
pid=$!
end_by INT $pid
is $? 130 'SIGINT: dies of it'
is "$("$query" partial.json partial)" true '... after a partial result'

done_testing
