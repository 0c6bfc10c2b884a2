#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./tune --workload: every flush of a real program, counted once, against
# another trace of the same run that is counted here, in awk.

. "${top_srcdir:-.}/tests/tap.sh"

tune=$top_builddir/tune
simulate=$top_builddir/tests/simulate
query=$top_builddir/tests/query
cd "$tmp" || exit 1

"$simulate" knob=1 >record.json || exit 1
"$tune" --from record.json --workload -- true >out 2>err || {
	[ $? -eq 77 ] && skip_all "$(cat err)"
}
instance=
for tracing in /sys/kernel/tracing /sys/kernel/debug/tracing; do
	[ -z "$instance" ] || break
	mkdir $tracing/instances/flush-count-$$ 2>/dev/null &&
		instance=$tracing/instances/flush-count-$$
done
[ -n "$instance" ] || skip_all 'no instance of tracefs'
trap 'echo 0 >$instance/tracing_on; rmdir $instance; rm -rf "$tmp"' EXIT
echo mono_raw >$instance/trace_clock
echo 32768 >$instance/buffer_size_kb
for event in tlb/tlb_flush sched/sched_process_fork \
	syscalls/sys_enter_mprotect syscalls/sys_exit_mprotect \
	syscalls/sys_enter_munmap syscalls/sys_exit_munmap \
	syscalls/sys_enter_madvise syscalls/sys_exit_madvise; do
	echo 1 >$instance/events/$event/enable
done

# What initiates a flush, what kind of and how large, of the process and all it
# starts, from the time on: "kind pages count", and "reason N count".
cat >count.awk <<'AWK'
function hex(text, n, i) {
	n = 0
	for (i = 1; i <= length(text); i++)
		n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}
/^#/ { next }
{
	if (!match($0, /-[0-9]+ +\[[0-9]+\]/))
		next
	pid = substr($0, RSTART + 1)
	sub(/ .*/, "", pid)
	rest = substr($0, RSTART + RLENGTH)
	if (!match(rest, /[0-9]+\.[0-9]+: /))
		next
	time = substr(rest, RSTART, RLENGTH - 2)
	rest = substr(rest, RSTART + RLENGTH)
	if (pid != root && !(pid in tree))
		next
	if (time + 0 < begin + 0)
		next
}
rest ~ /^sched_process_fork:/ {
	child = rest
	sub(/.*child_pid=/, "", child)
	tree[child + 0] = 1
	next
}
rest ~ /^sys_[a-z]+\(/ {
	kind = rest
	sub(/^sys_/, "", kind)
	sub(/\(.*/, "", kind)
	len = rest
	sub(/.*len(_in)?: (0x)?/, "", len)
	sub(/[,)].*/, "", len)
	inside[pid] = kind
	size[pid] = int((hex(len) + 4095) / 4096)
	next
}
rest ~ /^sys_[a-z]+ -> / {
	inside[pid] = ""
	next
}
rest ~ /^tlb_flush:/ {
	reason = rest
	sub(/.*\(/, "", reason)
	sub(/\).*/, "", reason)
	if (reason == 0) # a switch, on the way from or to another task
		next
	reasons[reason + 0]++
	if (reason != 2 && reason != 3)
		next
	pages = rest
	sub(/.*pages:/, "", pages)
	sub(/ .*/, "", pages)
	pages += 0
	kind = inside[pid] == "" ? "other" : inside[pid]
	if (pages < 0)
		pages = kind == "other" ? 0 : size[pid]
	n = pages > 512 ? "larger" : pages == 0 ? "unknown" : pages
	count[kind " " n]++
}
END {
	for (what in count)
		print what, count[what]
	for (reason in reasons)
		print "reason", reason, reasons[reason]
}
AWK

# said: the same from out.json.
said() {
	for kind in mprotect munmap madvise other; do
		path=workload.kinds.$kind
		for what in unknown larger; do
			echo "$kind $what $("$query" out.json $path.$what)"
		done
		n=$("$query" out.json $path.pages)
		i=0
		while [ $i -lt "$n" ]; do
			# Two words, as they are.
			# shellcheck disable=SC2046
			echo $kind $("$query" out.json $path.pages.$i.0 \
				$path.pages.$i.1)
			i=$((i + 1))
		done
	done | grep -v ' 0$'
	i=1
	for reason in received local local_mm interrupts_sent \
		wrong_cpu; do
		echo "reason $i $("$query" out.json workload.events.$reason)"
		i=$((i + 1))
	done | grep -v ' 0$'
}

# exact NAME MIN COMMAND...: both counts are the same, of at least MIN flushes.
exact() {
	name=$1
	min=$2
	shift 2
	echo >$instance/trace
	"$tune" --from record.json --format json -o out.json --workload -- "$@" \
		>log 2>&1
	status=$?
	cat $instance/trace >raw
	if [ $status -ne 0 ] || [ "$("$query" out.json workload.lost_events)" != 0 ] ||
		cat $instance/per_cpu/cpu*/stats | grep -q '^overrun: [1-9]'; then
		skip 2 "$name: status $status, or events lost: $(tail -1 log)"
		return
	fi
	begin=$("$query" out.json workload.begin_ns | sed 's/\(...\)...$/\1/; s/\(......\)$/.\1/')
	LC_ALL=C awk -v root="$("$query" out.json workload.process)" \
		-v begin="$begin" -f count.awk raw | sort >counted
	said | sort >said
	ok "$name: the same count" diff counted said
	total=$("$query" out.json workload.flushes)
	ok "... of $total flushes" [ "$total" -ge "$min" ]
}

# shellcheck disable=SC2016
exact 'a shell' 20 sh -c 'i=0; while [ $i -lt 20 ]; do true | cat; i=$((i+1)); done'
if command -v stress-ng >/dev/null; then
	exact 'stress-ng munmap' 1000 stress-ng --munmap 1 --timeout 1 --temp-path "$tmp"
	exact 'stress-ng with threads' 100 stress-ng --tlb-shootdown 1 --timeout 1 --temp-path "$tmp"
else
	skip 4 'no stress-ng'
fi
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	cat >redis.sh <<'END'
redis-server --port 0 --unixsocket "$1/redis" --save '' --dir "$1" >/dev/null &
server=$!
for i in 1 2 3 4 5 6 7 8 9 10; do [ -S "$1/redis" ] && break; sleep 0.2; done
redis-benchmark -s "$1/redis" -n 20000 -t set,get,lpush -q >/dev/null
redis-cli -s "$1/redis" bgsave >/dev/null
sleep 0.3
redis-cli -s "$1/redis" shutdown nosave
wait $server
END
	exact redis 20 sh redis.sh "$tmp"
else
	skip 2 'no redis'
fi
if command -v dbench >/dev/null && [ -e /usr/share/dbench/client.txt ]; then
	exact dbench 20 dbench -D "$tmp" -c /usr/share/dbench/client.txt -t 2 2
else
	skip 2 'no dbench'
fi

# What is said of it.
"$tune" --from record.json --workload -- sh -c 'exit 3' >text 2>err
is "$? $(cat err)" '0 ' 'a program that fails is watched as well'
like "$(cat text)" '^Workload: [0-9]+ flushes' 'for people'
like "$(cat text)" 'the factor for this program, if W = 0: -?[0-9]' \
	'with a factor'
like "$(cat text)" 'W, the pages reused after a flush: ([0-9]|unknown)' \
	'and W'
"$tune" --from record.json --format json -o out.json --workload -- sh -c 'exit 3'
is "$("$query" out.json workload.exit_status)" 3 'its status'
ok 'the best ceiling costs no more than others' awk "BEGIN { exit !(\
	$("$query" out.json workload.predictions.0.best.ns_per_second) <= \
	$("$query" out.json workload.predictions.0.stock.ns_per_second) + 1e-9) }"

# reuse ARGUMENTS: what is said of W of a program that is known to reuse so many
# pages, and a dozen of its own: its stack, its code. Its libraries are copies: of
# those that others use too, the pages that these have touched would count when
# they end. False, and the reason in $busy, where even the third run had too few
# looks, or late ones: the machine is too busy to look.
mkdir lib
ldd "$top_builddir/tests/reused" | awk '/=> \// { print $3 }' |
	xargs -I{} cp {} lib
reuse() {
	tries=0
	busy=
	while [ $((tries += 1)) -le 3 ]; do
		"$tune" --from record.json --format json -o out.json \
			--workload -- env LD_LIBRARY_PATH="$tmp/lib" \
			"$top_builddir/tests/reused" "$@"
		W=$("$query" out.json workload.reused_pages.estimate)
		most=$("$query" out.json workload.reused_pages_at_most)
		n=$("$query" out.json workload.reused_pages.n)
		gap=$("$query" out.json workload.reused_pages.gap_ns)
		window=$("$query" out.json workload.reused_pages.window_ns)
		busy="W = $W, at most $most, $n looks, flushes $gap ns"
		busy="reused $*: $busy apart, window $window ns"
		diag "$busy"
		awk -v n="$n" -v window="$window" -v gap="$gap" 'BEGIN {
			exit !(n >= 6 && window < (gap < 5e6 ? 1e7 : 2 * gap))
		}' && return
	done
	return 1
}

# within LOW HIGH: W is.
within() {
	awk -v w="$W" -v low="$1" -v high="$2" \
		'BEGIN { exit !(w >= low && w <= high) }'
}

# The ratio allowed is 1.25, from the pages of the loop and a dozen more.
if reuse 400 10000 0 1.5; then
	ok 'W of 400 hot pages' within 400 512
	is "$("$query" out.json workload.predictions.0.bound \
		workload.predictions.0.reused_pages \
		workload.predictions.1.bound \
		workload.predictions.1.reused_pages \
		workload.predictions.2.bound \
		workload.predictions.2.reused_pages | xargs)" \
		"lower 0 estimate $(printf %.0f "$W") upper $(printf %.0f "$most")" \
		'... and costs are predicted for it and for both bounds'
	ok '... the factor has a range' [ "$("$query" out.json \
		workload.predictions.1.factor_ci95)" = 2 ]
	is "$("$query" out.json workload.reused_pages_reason)" null \
		'... no excuse'
else
	skip 4 "$busy"
fi
if reuse 1 10000 0 1.5; then
	ok 'W of one page: what the loop itself needs' within 1 60
else
	skip 1 "$busy"
fi
# Of the others, 100 are touched between two flushes, none twice.
if reuse 400 10000 100 2; then
	ok 'W of 400 hot pages beside cold ones' within 328 512
	ok "... though more is touched, $most" \
		awk "BEGIN { exit !($most > 480) }"
else
	skip 2 "$busy"
fi
# A flush each 200 us: no window is as short, and that is said.
if reuse 400 200 0 1; then
	is "$("$query" out.json workload.reused_pages.window)" longer \
		'flushes too close to look between'
	ok '... W of 400 hot pages nevertheless' within 400 512
else
	skip 2 "$busy"
fi
# More than E, which is about 2048 of this record.
if reuse 5000 10000 0 1; then
	is "$W $most" "$("$query" out.json choice.entries choice.entries | xargs)" \
		'W: at most E'
else
	skip 1 "$busy"
fi

# A shell waits while what it started reuses pages: the latter flushes. W of the
# shell is 0.
"$tune" --from record.json --format json -o out.json --workload -- sh -c \
	"'$top_builddir/tests/reused' 400 1000 0 1.5; exit 0"
n=$("$query" out.json workload.reused_pages.n)
if [ "$n" != none ] && [ "$n" -ge 6 ]; then
	W=$("$query" out.json workload.reused_pages.p90)
	ok "a child's W: $W" [ "${W%.*}" -ge 400 ]
else
	skip 1 "$n looks at a child"
fi

"$tune" --from record.json -o text --workload -- \
	"$top_builddir/tests/reused" 64 10000 0 2
if grep -q 'unknown, not even' text; then
	skip 6 'the machine is too busy to look'
else
	like "$(cat text)" 'after a flush: [0-9]+ \[[0-9n/a]+, [0-9n/a]+\], estimated; looks at it: [0-9]' \
		'for people: the estimate'
	like "$(cat text)" 'windows of [0-9.]+ ms; its flushes are [0-9.]+ ms apart' \
		'... by which windows'
	like "$(cat text)" 'Predicted with the lower bound, W = 0:' '... the lower bound'
	like "$(cat text)" 'Predicted with the estimate, W = [0-9]+:' '... W'
	like "$(cat text)" 'Predicted with the upper bound, W = [0-9]+:' \
		'... and the upper'
	like "$(cat text)" 'The factor for this program: -?[0-9]' '... with a factor'
fi
"$tune" --from record.json -o text --workload -- true
like "$(cat text)" 'unknown, not even bounded here: it ended too soon' \
	'what ends at once'

# A process that runs, and all of them.
sh -c 'while :; do true | cat; done' &
busy=$!
"$tune" --from record.json --format json -o out.json --workload --pid $busy \
	--seconds 1
is $? 0 'a process that runs'
ok '... has flushes' [ "$("$query" out.json workload.flushes)" -gt 0 ]
"$tune" --from record.json --format json -o out.json --workload --all \
	--seconds 0.5
kill $busy
is "$? $("$query" out.json workload.process)" '0 null' 'all processes'
is "$("$query" out.json workload.reused_pages workload.reused_pages_at_most \
	workload.predictions | xargs)" 'null null 1' \
	'... W is not known, not even bounded'
like "$("$query" out.json workload.reused_pages_reason)" 'not one program' \
	'... and why'

# What ignores SIGTERM, or is stopped, holds nobody up.
for body in 'trap "" TERM; while :; do sleep 1; done' 'kill -STOP $$'; do
	ok "the end of its time: $body" timeout 20 "$tune" --from record.json \
		-o text --workload --seconds 0.3 -- sh -c "$body"
done

# Ended early: what was seen until then, called partial, and death by the signal.
"$tune" --from record.json --format json -o out.json --workload -- sleep 100 &
watching=$!
end_by INT $watching
is $? 130 'SIGINT while it watches: dies of it'
is "$("$query" out.json partial)" true '... after a partial result'
is "$(find "${instance%/*}" -maxdepth 1 -name 'tlbtune-tune-*')" '' \
	'no instance is left'

# What cannot be.
"$tune" --from record.json --workload -- /no/such/program >out 2>err
is "$? $("$tune" --from record.json --workload --pid 999999999 --seconds 1 2>&1 | wc -l)" \
	'2 1' 'no such program, no such process'
like "$(cat err)" 'tune: --workload: /no/such/program: expected ' '... and why'
is "$(wc -l <err) $(cat out)" '1 ' '... in one line, and no result'
"$tune" --from record.json --workload -- "$top_builddir" >out 2>err
is $? 2 'a directory is no program'
"$tune" --from record.json --format json -o out.json --workload --pid $$ \
	--seconds 0.3
is "$("$query" out.json workload.flushes workload.reused_pages \
	workload.predictions | xargs)" '0 null 0' \
	'of what does not flush there is nothing to say'
like "$("$query" out.json workload.reused_pages_reason)" 'no flush' '... and why'

done_testing
