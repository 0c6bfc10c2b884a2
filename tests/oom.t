#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel kills a child in the middle, because its memory cgroup is full:
# an error that says so, no result, no process and no tracing instance is left.

. "${top_srcdir:-.}/tests/tap.sh"

[ -z "${SANITIZER-}" ] ||
	skip_all "the memory of the $SANITIZER sanitizer hides when a child needs more"
[ "$(id -u)" -eq 0 ] || skip_all 'needs root, to make a memory cgroup'
cd "$tmp" || exit 1

# make_cgroup: set $group, $limit and $kills to a new memory cgroup, of v2 or
# v1, the name of its limit and the file that counts kills.
make_cgroup() {
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' \
		/proc/mounts)
	name=tlbtune-test.$$
	if [ "$v1" ] && mkdir "$v1/$name" 2>/dev/null; then
		group=$v1/$name
		limit=memory.limit_in_bytes
		kills=memory.oom_control
	elif [ "$v2" ] && mkdir "$v2/$name" 2>/dev/null; then
		group=$v2/$name
		limit=memory.max
		kills=memory.events
	else
		return 1
	fi
	[ -w "$group/$limit" ]
}

remove_cgroup() {
	[ -z "$group" ] || rmdir "$group"
	group=
}

instances() {
	ls /sys/kernel/tracing/instances 2>/dev/null
}

group=
trap 'remove_cgroup; rm -rf "$tmp"' EXIT
make_cgroup || skip_all 'no memory cgroup can be made here'
before=$(instances)

# kills NAME WANT PROGRAM...: run it; its first child gets no memory any more.
kills() {
	name=$1
	want=$2
	program=$top_builddir/$3
	shift 3
	rm -f out.json
	"$program" "$@" --format json -o out.json 2>err &
	pid=$!
	echo max >"$group/$limit" 2>/dev/null || echo -1 >"$group/$limit"
	killed=$(awk '$1 == "oom_kill" { print $2 }' "$group/$kills")
	tries=0
	while alive $pid && [ $tries -lt 400 ]; do
		child=$(cat /proc/$pid/task/$pid/children 2>/dev/null)
		children=${child:-$children}
		if [ "${child%% *}" ] && [ $tries -gt 10 ] &&
			echo "${child%% *}" >"$group/cgroup.procs"; then
			echo 4096 >"$group/$limit"
		fi 2>/dev/null
		tries=$((tries + 1))
		sleep 0.05
	done
	alive $pid && kill -KILL $pid
	wait $pid
	status=$?
	if [ $status -eq 77 ] && ! grep -q killed err; then
		skip 6 "$(cat err)"
		return
	fi
	like "$status" '^(1|77)$' "$name: an error"
	ok "$name: it was the kernel" test "$(awk '$1 == "oom_kill" { print $2 }' \
		"$group/$kills")" -gt "$killed"
	like "$(cat err)" "$want" "$name: says why"
	is "$(wc -l <err)" 1 "$name: in one line"
	ok "$name: nothing is written" test ! -e out.json
	none_left "$children" "$name: no process is left"
}

children=
kills tune 'a measuring process was killed' tune --max-time 60
kills access 'a measuring process was killed' access --max-time 60
kills processes 'another initiator was killed' mprotect --initiators 2 \
	--mode processes -l 1000000
[ -w /sys/kernel/tracing/instances ] &&
	kills trace 'another initiator was killed' mprotect --initiators 2 \
		--mode processes --trace -l 1000000
is "$(instances)" "$before" 'no tracing instance is left'

done_testing
