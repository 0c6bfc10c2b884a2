#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./tune and the knob of a made-up machine: found, moved for measuring, and
# back at its value whatever ends the process.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/knobs.sh"

tune=$top_builddir/tune
query=$top_builddir/tests/query
cd "$tmp" || exit 1

# get PATH: from out.json.
get() {
	"$query" out.json "$1"
}

machine
ok 'a machine without a knob' "$tune" --root root --knob --format json -o out.json
is "$(get knob.kind)" null 'has none'
is "$(get knob.writable)" false '... that is writable'
like "$(get knob.lift)" 'debugfs' '... and what would lift that'
stock
ok 'a stock kernel' "$tune" --root root --knob --format json -o out.json
is "$(get knob.kind)" tlb_single_page_flush_ceiling 'has the ceiling'
is "$(get knob.pages)" 33 '... with its value'
patched
ok 'a patched kernel' "$tune" --root root --knob --format json -o out.json
is "$(get knob.kind)" vm.tlb_flushall_factor 'has the factor'
is "$(get knob.factor) $(get knob.entries) $(get knob.pages)" '-2 0 null' \
	'... with its values'
like "$("$tune" --root root --knob)" 'vm.tlb_flushall_factor = -2, E = 0' \
	'... for people'

# left NAME VALUE: the ceiling has that value, and there is no journal.
left() {
	is "$(cat $ceiling) $(ls root/run/tlbtune)" "$2 lock" "$1"
}

# A knob that is only a file moves nothing, and that is seen.
stock
if "$tune" --root root --quick --format json -o out.json 2>err; then
	like "$(get both.verdict)" '^no effect$|^null$' 'a file moves no ceiling'
	left 'measured, and the knob is put back' 33
	is "$(cat err)" '' '... without a word'
else
	skip 3 "cannot measure here: $(cat err)"
fi

# A ceiling at which nothing can be told is set to another one for a while.
stock
echo 0 >$ceiling
if "$tune" --root root --quick --format json -o out.json 2>err; then
	is "$(get record.in_force)" 0 'the ceiling in force is remembered'
	left '... and in force again' 0
else
	skip 2 "cannot measure here: $(cat err)"
fi

# moved SIGNAL SECONDS: a tune that gets it so long after its journal is there,
# in the middle of ten seconds of measuring.
moved() {
	"$tune" --root root -o /dev/null 2>err &
	pid=$!
	i=0
	while [ ! -e root/run/tlbtune/journal ] && [ $i -lt 100 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	sleep "$2"
	kill "-$1" $pid
	wait $pid 2>/dev/null
}

stock
for signal in INT TERM HUP; do
	moved $signal 0.4
	left "SIG$signal: put back at exit" 33
done
# From a ceiling too small to measure at the knob is moved all the time.
for after in 0 0.4 1.1 1.9 2.6; do
	stock
	echo 7 >$ceiling
	moved KILL $after
	diag "killed after $after s with the ceiling at $(cat $ceiling)"
	ok 'killed: the journal is left' [ -e root/run/tlbtune/journal ]
	like "$("$tune" --root root --knob 2>&1 >/dev/null)" \
		'^.*tune: restored tlb_single_page_flush_ceiling to 7 pages: ' \
		'... and the next start says that it restores'
	left '... and does' 7
done
is "$("$tune" --root root --knob 2>&1 >/dev/null)" '' 'once'

# Two at once: the second waits.
stock
moved CONT 0 &
sleep 1
"$tune" --root root --knob 2>err >/dev/null
like "$(cat err)" 'waiting for another tune' 'the second of two waits'
wait
left '... and both end well' 33

# Without the right to restore, it is said.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	stock
	mkdir -p root/run/tlbtune
	echo '{}' >root/run/tlbtune/journal
	chmod 755 . && chmod 600 $ceiling
	setpriv --reuid 65534 --clear-groups -- "$tune" --root root --knob \
		>out 2>err
	like "$(cat err)" 'as root' 'a journal that only root can restore from'
else
	skip 1 'not root'
fi

# Hostile journals: see tests/journal.c. One through the program.
stock
mkdir -p root/run/tlbtune
echo '{"schema": 1, "value": {"kind": "kernel.panic"}}' >root/run/tlbtune/journal
"$tune" --root root --quick -o out.json 2>err
is $? 1 'a journal that cannot be trusted'
like "$(cat err)" 'journal: kind: expected' '... is refused'
is "$(wc -l <err) $(cat $ceiling)" '1 33' '... in a line, and nothing is moved'

done_testing
