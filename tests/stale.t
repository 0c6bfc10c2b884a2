#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./stale on this kernel: a bounded run finds nothing and says what it skipped
# and why; random programs too; a program from a file is replayed. That it finds
# what is wrong is shown by tests/detector.c, and by broken kernels.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/bad.sh"

stale=$top_builddir/stale
query=$top_builddir/tests/query
deny=$top_builddir/tests/deny
[ -x "$query" ] || skip_all "tests/query is not built"
mkdir "$tmp/work" "$tmp/in"
cd "$tmp/work" || exit 1

# The list.
"$stale" --list >"$tmp/list"
is $? 0 '--list'
for name in mprotect-r mprotect-none munmap munmap-map dontneed dontneed-race \
	free mremap fork cow truncate punch uffd-wp ksm migrate collapse; do
	like "$(cat "$tmp/list")" "^$name " "... has $name"
done

# Everything, for a while.
"$stale" --seconds 6 -t 2 >"$tmp/text" 2>"$tmp/err"
status=$?
if [ $status -eq 77 ]; then
	skip_all "$(cat "$tmp/err")"
fi
is $status 0 'nothing is stale on this kernel'
is "$(cat "$tmp/err")" '' '... and stderr is silent'
like "$(cat "$tmp/text")" 'No thread used an old translation in [1-9]' \
	'... which the text says'
is "$(awk '$3 == "skipped" && NF < 4' "$tmp/text")" '' \
	'what is skipped has its reason'

# Each once takes longer than that.
"$stale" --seconds 0.1 >"$tmp/text" 2>"$tmp/err"
is $? 0 'for a tenth of a second'
is "$(grep 'not reached' "$tmp/text")" '' '... everything had its turn'

# The same as JSON: every operation is there for every memory it applies to.
"$stale" --quick --seed 7 --format json -o "$tmp/out.json" 2>"$tmp/err"
is $? 0 'another seed, as JSON'
is "$("$query" "$tmp/out.json" stale)" null '... nothing is stale'
is "$("$query" "$tmp/out.json" options.seed)" 7 '... the seed is recorded'
member() {
	"$query" "$tmp/out.json" "results.$i.$1"
}
i=0
seen=
: >"$tmp/wrong"
while [ "$("$query" "$tmp/out.json" results.$i)" != none ]; do
	name="$(member operation), $(member memory)"
	seen="$seen $(member operation)"
	case $(member status) in
	clean) [ "$(member programs)" -gt 0 ] || echo "$name: did not run" ;;
	skipped) [ "$(member reason)" != null ] || echo "$name: no reason" ;;
	'not reached') ;;
	*) echo "$name: $(member status)" ;;
	esac >>"$tmp/wrong"
	i=$((i + 1))
done
is "$(cat "$tmp/wrong")" '' '... and each result is one that there can be'
is "$(echo "$seen" | tr -s ' ' '\n' | sed 1d | sort -u)" \
	"$(sed 's/ .*//' "$tmp/list" | sort)" '... and there is one for each name'

# One operation.
"$stale" --seconds 1 --operation munmap,mremap --format json \
	-o "$tmp/some.json" 2>"$tmp/err"
is $? 0 '--operation munmap,mremap'
is "$("$query" "$tmp/some.json" results.0.operation)" munmap '... the first'
is "$(grep -c '"operation": "m' "$tmp/some.json")" \
	"$(grep -c '"operation": "' "$tmp/some.json")" '... and no others'

# Random programs.
"$stale" --random 3 --seed 5 >"$tmp/text" 2>"$tmp/err"
is $? 0 'nothing is stale after random programs'
like "$(cat "$tmp/text")" '^random +shared +clean +[1-9]' '... which ran'

# A program of somebody's.
cat >"$tmp/in/program" <<'END'
# writes through what may be a stale entry
memory shared
layout start
pages 4
actors 2
group
1 write 0-3
group
0 mprotect-r 0-3
1 write 0-3 from 2 after 0	# all of them fault
group
0 mprotect-rw 0-3
1 write 0-3 after 0 sleep
END
"$stale" --replay "$tmp/in/program" --seconds 0.5 >"$tmp/text" 2>"$tmp/err"
is $? 0 '--replay'
like "$(cat "$tmp/text")" '^replay +shared +clean' '... runs it'

# Wrong programs: the file and the line.
wrong() {
	printf '%b' "$1" >"$tmp/in/wrong"
	bad 2 "wrong:$2" "$stale" --replay "$tmp/in/wrong"
}
wrong '' '[01]: no step'
wrong 'memory swap\n' '1: .*shared, private'
wrong 'pages 4\n0 read 0-0\n' '2: .*before the first step'
wrong 'pages 4\ngroup\n0 read 2-4\n' '3: pages out of range'
wrong 'pages 4\ngroup\n0 read 2\n' '3: .*FIRST-LAST'
wrong 'pages 4\ngroup\n1 read 0-0\n' '3: no such actor'
wrong 'pages 4\ngroup\n0 poke 0-0\n' '3: .*access or operation'
wrong 'pages 4\ngroup\n0 read 0-0 after 0\n' '3: awaits a step'
wrong 'pages 4\ngroup\n0 munmap 0-0 from 0\n' '3: .*from .of an access'
wrong 'pages 4\nactors 2\ngroup\n0 munmap 0-2\n1 munmap 1-1\n' \
	'5: .*two operations'
wrong 'pages 4\ngroup\n0 munmap 0-2\ngroup\n0 mprotect-r 1-1\n' \
	'5: .*not mapped'
wrong 'memory thp\npages 4\ngroup\n0 read 0-0\n' '4: .*512'
wrong 'pages 99999\ngroup\n0 read 0-0\n' '3: .*4096'
wrong 'memory shared\ngroup\n0 dontneed 0-0\n' '3: not for this memory'
wrong 'memory private\ngroup\n0 read 0-0 extra\n' '3: .*after or sleep'
bad 2 "cannot read 'nowhere'" "$stale" --replay nowhere

# Options.
bad 2 '--operation: .*--list' "$stale" --operation mprotect
bad 2 '--operation: .*--list' "$stale" --operation munmap,,mremap
bad 2 '--seconds: .*number' "$stale" --seconds ten
bad 2 '--random: .*number' "$stale" --random -1
bad 2 '-t: .*from 1' "$stale" -t 0
bad 2 '--random: ' "$stale" --random 1 --operation munmap
bad 2 '--random: ' "$stale" --random 1 --seconds 1
bad 2 '--replay: ' "$stale" --random 1 --replay "$tmp/in/program"
bad 2 "got 'now'" "$stale" now
bad 2 "cannot write 'no/such/file'" "$stale" -o no/such/file

# Nothing could be tested: that is no success.
bad 77 'nothing could be tested: .*not permitted' \
	"$deny" madvise -- "$stale" --operation dontneed --seconds 1
bad 77 'cannot start a thread' "$deny" clone clone3 -- "$stale" --quick
bad 77 'cannot run on CPU' "$deny" sched_setaffinity -- "$stale" --quick

# What is denied is skipped, and the rest is tested.
"$deny" madvise -- "$stale" --seconds 1 --operation dontneed,munmap \
	>"$tmp/text" 2>"$tmp/err"
is $? 0 'without madvise'
like "$(cat "$tmp/text")" '^dontneed +private +skipped +dontneed: .*not perm' \
	'... dontneed is skipped, and why'
like "$(cat "$tmp/text")" '^munmap +shared +clean' '... and munmap is not'

# Interrupted.
"$stale" --seconds 100 --format json -o "$tmp/partial.json" 2>"$tmp/err" &
pid=$!
end_by INT $pid
is $? 130 'SIGINT: dies of it'
is "$("$query" "$tmp/partial.json" partial)" true '... after a partial result'

# A process that hangs is killed by SIGALRM. Which program it ran is said.
"$stale" --seconds 100 2>"$tmp/err" &
pid=$!
started $pid "$tmp/err"
child=
for _ in $(seq 100); do
	child=$(pgrep -P $pid) && kill -ALRM $child && break
	sleep 0.05
done
wait $pid
is $? 1 'a process was killed: an error'
like "$(head -n 1 "$tmp/err")" 'stale: a measuring process was killed: Alarm' \
	'... with the reason'
sed 1d "$tmp/err" >"$tmp/program"
like "$(head -n 1 "$tmp/program")" '^# .*--replay' '... and the program'
ok '... which can be run again' "$stale" --replay "$tmp/program" --seconds 0.1

done_testing
