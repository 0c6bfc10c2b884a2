#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./shootdown: every number of CPUs has its row, a call that has to interrupt
# takes longer than one that has not, and calls beside threads that do not run
# are told apart.

. "${top_srcdir:-.}/tests/tap.sh"

shootdown=$top_builddir/shootdown
query=$top_builddir/tests/query
cd "$tmp" || exit 1

holds() {
	ok "$2" awk "BEGIN { exit !($1) }"
}

# get FILE PATH...: what is there, or none.
get() {
	"$query" "$@" 2>/dev/null || echo none
}

# find FILE CPUS CALL WINDOW: sets i to the number of that result, or to none.
find() {
	i=0
	while [ "$(get "$1" results.$i)" != none ]; do
		[ "$(get "$1" results.$i.cpus results.$i.call \
			results.$i.window | tr '\n' ' ')" != "$2 $3 $4 " ] ||
			return 0
		i=$((i + 1))
	done
	i=none
}

# find_instances: those that our programs have left.
find_instances() {
	for dir in /sys/kernel/tracing/instances/tlbtune-*shootdown-*; do
		pid=${dir##*-}
		[ ! -d "$dir" ] || [ -d "/proc/$pid" ] || echo "$dir"
	done
}

"$shootdown" --quick >text 2>err
status=$?
if [ $status -eq 77 ] && ! grep -q 'interrupts no CPUs here' err; then
	skip_all "$(cat err)"
fi
is $status 0 'runs without options'
is "$(cat err)" '' 'and is silent on stderr'
like "$(cat text)" '^ *1  - .*[0-9]' 'a row for the caller alone'
like "$(cat text)" '^ *2  (core|cache|package|machine|unknown) .*[0-9]' \
	'and one for two CPUs, with their distance'
like "$(cat text)" 'system call alone +[0-9]+' 'the system call alone'
if grep -Eq '^ *2  [a-z]+ +n/a' text; then
	skip 1 'the other CPU never ran our thread'
else
	like "$(cat text)" \
		'1 interrupted +-?[0-9]+ \[(n/a|-?[0-9]+, -?[0-9]+)\]  beyond' \
		'what one interrupt adds, with an interval'
fi

# Every number of CPUs, unless told otherwise.
ok 'JSON' "$shootdown" --quick --format json -o out.json
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status |
	tr ',' '\n' | awk -F- '{ n += (NF > 1 ? $2 - $1 : 0) + 1 } END { print n }')
cpus=$(i=0
	while [ "$(get out.json results.$i)" != none ]; do
		get out.json results.$i.cpus
		i=$((i + 1))
	done | sort -n -u | wc -l)
is "$cpus" "$allowed" 'a row for each number of CPUs'
is "$(get out.json program) $(get out.json partial)" 'shootdown false' \
	'a report'

find out.json 1 query alone
query_ns=$(get out.json results.$i.median)
find out.json 1 private_expedited alone
alone=$(get out.json results.$i.median)
is "$(get out.json results.$i.interrupts_per_call)" null \
	'nobody is to be interrupted: unknown, not 0'
find out.json 2 private_expedited busy
busy=$(get out.json results.$i.median)
ipi=$(get out.json results.$i.ipi_ns.estimate)
irqs=$(get out.json results.$i.interrupts_per_call)
share=$(get out.json results.$i.share)
diag "ns: query $query_ns, alone $alone, busy $busy, share $share, IRQs $irqs"
if [ "$i" = none ]; then
	skip 4 'the other CPU never ran our thread'
else
	holds "$alone > $query_ns" 'membarrier takes longer than no call'
	holds "$busy > 1.5 * $alone" '... and longer when it interrupts a CPU'
	holds "$ipi > 0.5 * ($busy - $alone) && $ipi < 2 * ($busy - $alone)" \
		'... by about the difference'
	# CPUs whose thread does not run are not interrupted.
	if [ "$irqs" = null ]; then
		skip 1 'no row CAL in /proc/interrupts'
	else
		holds "$irqs > 0.5 * $share" 'an interrupt per call'
	fi
fi

# Exactly as many calls as asked for, in one class or the other.
ok '-l 7' "$shootdown" -t 1 -l 7 --format json -o loops.json
find loops.json 1 private_expedited alone
is "$(get loops.json results.$i.n)" 7 'is seven calls alone'
n=0
for window in busy stopped; do
	find loops.json 2 private_expedited $window
	[ $i = none ] || n=$((n + $(get loops.json results.$i.n)))
done
is $n 7 '... and seven on two CPUs'
find loops.json 1 private_expedited alone
is "$(get loops.json results.$i.tail.p99_9.estimate)" null \
	'p99.9 of seven calls is unknown'
like "$(get loops.json results.$i.tail.why_no_p99_9)" '7 of at least [0-9]+' \
	'... with the reason'
"$shootdown" -t 1 -l 7 >text
like "$(cat text)" 'p99\.9 n/a: n = 7 of at least' '... in the table, too'
ok 'enough calls' "$shootdown" -t 1 -l 6000 --format json -o many.json
find many.json 1 private_expedited alone
holds "$(get many.json results.$i.tail.p99_9.estimate) >= \
	$(get many.json results.$i.tail.p99.estimate)" 'have a p99.9'

# CSV.
"$shootdown" --quick --format csv >out.csv
is "$(awk -F, '{ print NF }' out.csv | sort -u | wc -l)" 1 'CSV is a table'
like "$(head -n 1 out.csv)" 'row,cpus,.*ipi_ns.ci95.lo,ipi_ns.ci95.hi,.*partial' \
	'with a header'

# Another task on the other CPU: its share of the calls is told apart.
other=$(get out.json order.1)
taskset -c "$other" nice -n 0 sh -c 'while :; do :; done' &
hog=$!
taskset -c "$other" true && "$shootdown" -t 1 -l 4000 --format json -o hog.json
status=$?
kill $hog
wait $hog 2>/dev/null
is $status 0 'beside another task'
find hog.json 2 private_expedited stopped
if [ "$i" = none ]; then
	holds 0 'a thread that does not run is seen'
else
	holds "$(get hog.json results.$i.share) > 0.05" \
		'a thread that does not run is seen'
fi

# Where nobody is interrupted there is no result.
zero() {
	awk '$1 == "CAL:" { for (i = 2; $i ~ /^[0-9]+$/; i++) $i = 7 } { print }' \
		/proc/interrupts
}
if grep -q CAL: /proc/interrupts && zero >frozen &&
	unshare -m mount --bind frozen /proc/interrupts 2>/dev/null; then
	unshare -m sh -c 'mount --bind frozen /proc/interrupts &&
		exec "$0" -t 1 -l 2000' "$shootdown" >text 2>err
	is "$? $(cat text)" '77 ' 'no interrupt is counted: cannot run'
	like "$(cat err)" 'shootdown: membarrier interrupts no CPUs here: .* 0 f' \
		'... and says so'
	unshare -m sh -c 'mount --bind /dev/null /proc/interrupts &&
		exec "$0" -t 1 -l 20 --format json -o blind.json' "$shootdown"
	is $? 0 'interrupts cannot be counted'
	find blind.json 2 private_expedited busy
	[ $i != none ] || find blind.json 2 private_expedited stopped
	is "$(get blind.json results.$i.interrupts_per_call)" null \
		'... unknown, not 0'
else
	skip 4 'no mount namespaces'
fi

# Who answered last. Traced calls are none of those that are timed.
ok '--blame' "$shootdown" -t 1 -l 7 --quick --blame --events events \
	--format json -o blame.json
find blame.json 1 private_expedited alone
is "$(get blame.json results.$i.n)" 7 'traced calls are no results'
why=$(get blame.json blame.why)
if [ "$why" != null ]; then
	skip 7 "$why"
else
	calls=0
	late=0
	i=0
	while [ "$(get blame.json blame.causes.$i)" != none ]; do
		calls=$((calls + $(get blame.json blame.causes.$i.calls)))
		late=$((late + $(get blame.json blame.causes.$i.slowest)))
		i=$((i + 1))
	done
	is $calls "$(get blame.json blame.calls)" 'every call has a cause'
	is $late "$(get blame.json blame.slowest_calls)" '... and each slow one'
	is "$(get blame.json blame.last.0.cpu)" "$other" \
		'the only other CPU is the last to answer'
	holds "$(get blame.json blame.last.0.calls) > 0.5 * $calls" \
		'... to most calls'
	is "$(grep -c '^call ' events)" $calls 'the events have each call'
	holds "$(grep -c ' call_exit ' events) >= \
		$(get blame.json blame.last.0.calls)" '... and each answer'
	is "$(find_instances)" '' 'no tracing instance is left'
fi
if unshare -m mount -t tmpfs none /sys/kernel/tracing 2>/dev/null; then
	unshare -m sh -c 'mount -t tmpfs none /sys/kernel/tracing &&
		{ umount /sys/kernel/debug 2>/dev/null || :; } &&
		exec "$0" -t 1 -l 7 --blame --events none --format json \
			-o dark.json' \
		"$shootdown" 2>err
	is $? 0 'without tracefs: times, still'
	like "$(get dark.json blame.why)" 'trac' '... and why nobody is named'
	ok '... and no events' [ ! -e none ]
	"$shootdown" -t 1 -l 7 --format json -o plain.json
	is "$(get plain.json blame)" null 'not asked for: null'
else
	skip 4 'no mount namespaces'
fi

# Interrupted.
"$shootdown" -t 1 -l 1000000000 --format json -o partial.json &
pid=$!
end_by INT $pid
is $? 130 'SIGINT: dies of it'
is "$(get partial.json partial)" true '... after a partial result'
"$shootdown" -t 1 -l 1 --blame --events cut --format json -o cut.json &
pid=$!
instance=
while [ -z "$instance" ] && kill -0 $pid 2>/dev/null; do
	for dir in /sys/kernel/tracing/instances/tlbtune-*-"$pid"; do
		[ ! -d "$dir" ] || instance=$dir
	done
done
kill -TERM $pid 2>/dev/null
wait $pid
status=$?
if [ -z "$instance" ]; then
	skip 3 'nothing can be traced'
else
	is $status 143 'SIGTERM while it traces'
	is "$(get cut.json partial)" true '... a partial result'
	is "$(find_instances)" '' '... and no tracing instance'
fi

done_testing
