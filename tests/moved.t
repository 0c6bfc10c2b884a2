#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A thread or process that is moved from its CPU in the middle, as all of a CPU
# are that goes offline, ends the measuring with an error; nothing is written
# and nobody is left behind.

. "${top_srcdir:-.}/tests/tap.sh"

command -v taskset >/dev/null || skip_all 'there is no taskset'
cpus=$(taskset -cp $$ | sed 's/.*: *//')
case $cpus in
*[,-]*) ;;
*) skip_all "one CPU only ($cpus): no thread can be moved" ;;
esac
cd "$tmp" || exit 1

# bound TID: may run on one CPU only.
bound() {
	case $(taskset -cp "$1" 2>/dev/null | sed 's/.*: *//') in
	'' | *[,-]*) return 1 ;;
	esac
}

# other PID: the first that is bound of the threads of a process but its first,
# and of its children. (A sanitizer has a thread of its own, which is not.)
other() {
	for task in /proc/"$1"/task/* $(cat /proc/"$1"/task/*/children \
		2>/dev/null); do
		task=${task##*/}
		if [ "$task" != "$1" ] && bound "$task"; then
			echo "$task"
			break
		fi
	done
}

# moves WHO NAME PROGRAM...: run it, and once it measures let its first other
# task, or with WHO = caller the process itself, run on all CPUs.
moves() {
	who=$1
	name=$2
	program=$top_builddir/$3
	shift 3
	rm -f out.json
	"$program" "$@" --format json -o out.json 2>err &
	pid=$!
	tries=0
	task=
	while [ -z "$task" ] && alive $pid && [ $tries -lt 400 ]; do
		sleep 0.05
		tries=$((tries + 1))
		task=$pid
		[ "$who" = caller ] || task=$(other $pid)
		bound "$task" || task=
	done
	# A child may be at its end when it is found: try with the next, too.
	moved=0
	while alive $pid && [ $moved -lt 100 ]; do
		[ "$who" = caller ] || task=$(other $pid)
		[ -z "$task" ] || taskset -cp "$cpus" "$task" >/dev/null 2>&1
		moved=$((moved + 1))
		sleep 0.1
	done
	left=$(cat /proc/$pid/task/*/children 2>/dev/null)
	alive $pid && kill -KILL $pid # it has not noticed
	wait $pid
	status=$?
	if [ $status -eq 77 ] && ! grep -q 'CPU' err; then
		skip 4 "$(cat err)"
		return
	fi
	like "$status" '^(1|77)$' "$name: an error"
	# The last: moved in the moment between being bound and looking at it.
	like "$(cat err)" '(went offline|thread bound to CPU|cannot run on CPU)' \
		"$name: says why"
	ok "$name: nothing is written" test ! -e out.json
	for child in $left; do
		! alive "$child" || name="$name ($child)" status=orphan
	done
	ok "$name: nobody is left" test "$status" != orphan
}

for who in other caller; do
	moves $who "mprotect, $who" mprotect -t 1 -l 200000
	moves $who "shootdown, $who" shootdown -t 1 -l 200000
	moves $who "access, $who" access --max-time 60
	moves $who "access --under, $who" access --under mprotect -t 1 -l 200000
	moves $who "--breakdown, $who" mprotect -t 1 --breakdown
	moves $who "tune, $who" tune --max-time 60
done
moves other 'munmap, another initiator' munmap --initiators 2 -l 200000
moves other 'madvise, a process' madvise --initiators 2 --mode processes \
	-l 200000

done_testing
