#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --initiators and --mode: others operate at the same time, as threads or as
# processes; none is left behind, however the run ends, and one that is killed
# is an error.

. "${top_srcdir:-.}/tests/tap.sh"

mprotect=$top_builddir/mprotect
query=$top_builddir/tests/query
[ -x "$query" ] || skip_all "tests/query is not built"
cd "$tmp" || exit 1

"$mprotect" -l 5 >/dev/null 2>err
[ $? -ne 77 ] || skip_all "$(cat err)"

# windows FILE SIDE WHAT: the windows that have such a result
windows() {
	i=0
	while [ "$("$query" "$1" results.$i)" != none ]; do
		if [ "$("$query" "$1" results.$i.side results.$i.what |
			tr '\n' ' ')" = "$2 $3 " ]; then
			"$query" "$1" results.$i.window
		fi
		i=$((i + 1))
	done | sort | tr '\n' ' '
}

# calls FILE WINDOW...: the caller's calls in these windows
calls() {
	file=$1
	shift
	sum=0
	for window; do
		i=0
		while [ "$("$query" "$file" results.$i)" != none ]; do
			if [ "$("$query" "$file" results.$i.side \
				results.$i.what results.$i.window |
				tr '\n' ' ')" = "caller call $window " ]; then
				sum=$((sum + $("$query" "$file" results.$i.n)))
			fi
			i=$((i + 1))
		done
	done
	echo $sum
}

for mode in threads processes both; do
	ok "--mode $mode" "$mprotect" --initiators 2 --mode $mode -l 40 \
		--format json -o $mode.json
	is "$("$query" $mode.json options.mode options.initiators |
		tr '\n' ' ')" "$mode 2 " 'is recorded'
	is "$(calls $mode.json alone)" 40 'calls of one alone'
done
is "$(windows threads.json initiators rate)" 'alone busy ' \
	'threads: beside each other'
is "$(windows processes.json initiators rate)" 'alone apart ' \
	'processes: apart'
is "$(windows both.json initiators call)" 'apart busy ' \
	'both: calls of the others'
is "$(calls both.json busy stopped)" 40 'each call beside threads has a class'
is "$(calls both.json apart 'apart stopped')" 40 'and so beside processes'
"$mprotect" --initiators 2 --mode both -l 40 >text
like "$(cat text)" 'threads of one process' 'text: threads'
like "$(cat text)" '^ *processes +[0-9]' 'processes'

# With bystanders, and with more of everything than CPUs.
ok 'beside bystanders' "$mprotect" --initiators 2 -t 1 -l 20 --format json \
	-o beside.json
is "$(calls beside.json busy stopped)" 20 'calls beside both'
many=$(($(nproc) + 2))
ok "$many initiators" "$mprotect" --initiators $many --mode both -l 1 \
	--format json -o many.json
is "$("$query" many.json results.0.oversubscribed)" true 'are flagged'

# One block has no interval: the difference has none either.
cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
taskset -c "$cpu" "$mprotect" --initiators 2 --mode both -l 1 >few 2>err
is "$?$(cat err)" 0 'one call each'
like "$(cat few)" 'cost .*[0-9] .* n/a ns a call' 'has no interval'

# ours: what of our processes is still there, as children of this shell's child
children() {
	pgrep -P "$1" 2>/dev/null
}

# Interrupted, terminated, stopped and continued, one killed.
"$mprotect" --initiators 3 --mode processes -l 1000000000 --format json \
	-o ended.json &
pid=$!
started $pid
others=$(children $pid)
is "$(echo "$others" | wc -w)" 2 'two other processes'
kill -STOP $pid
sleep 0.2
kill -CONT $pid
sleep 0.3
ok 'goes on after SIGSTOP and SIGCONT' kill -0 $pid
end_by INT $pid
is $? 130 'SIGINT: dies of it'
is "$("$query" ended.json partial)" true '... after a partial result'
none_left "$others" '... and no process is left'

"$mprotect" --initiators 3 --mode processes -l 1000000000 --format json \
	-o killed.json 2>err &
pid=$!
started $pid
others=$(children $pid)
for other in $others; do
	kill -KILL "$other"
	break
done
wait $pid
is $? 1 'one is killed: an error'
like "$(cat err)" 'another initiator was killed' '... that says so'
is "$(wc -l <err)" 1 '... in one line'
is "$(ls killed.json 2>/dev/null)" '' '... and no result'
none_left "$others" '... and no process is left'

# The caller is killed, which it cannot notice.
"$mprotect" --initiators 3 --mode processes -l 1000000000 >/dev/null &
pid=$!
started $pid
others=$(children $pid)
is "$(echo "$others" | wc -w)" 2 'two other processes again'
kill -KILL $pid
wait $pid 2>/dev/null
none_left "$others" 'SIGKILL: the others die with it'

done_testing
