# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# guests.sh: run guests side by side, and make TAP of what they printed.
#
# For tests that have read common.sh and tests/tap.sh. Who reads it sets
#
#	$guests		where the guests leave what they print
#	$programs	commands that are programs, not tests of our init
#	$tmp/small, $tmp/full	initramfs without, and with, programs

# shellcheck disable=SC2154
mkdir -p "$guests"
cores=$(getconf _NPROCESSORS_ONLN)
declare -A guest_cpus guest_title
guest_names=() # in the order in which they are reported
guest_busy=0   # CPUs

# reap: wait for one guest to end; false if there is none.
reap() {
	local pid
	wait -n -p pid || [ "${pid-}" ] || return
	guest_busy=$((guest_busy - ${guest_cpus[$pid]:-0}))
}

# initramfs_for COMMANDS
initramfs_for() {
	local program
	for program in $programs killed offline regret write; do
		case " $1 " in *" $program "*)
			echo "$tmp/full"
			return
			;;
		esac
	done
	echo "$tmp/small"
}

# guest TITLE CPUS KERNEL COMMANDS [BOOT-OPTION...]: start one, as soon as there
# are cores for its CPUs. It is named by its title from then on, with "-" for " ".
guest() {
	local title=$1 name=${1// /-} cpus=$2 kernel=$3 commands=$4
	shift 4
	guest_title[$name]=$title
	guest_names+=("$name")
	rm -f "$guests/$name".*
	while [ "$guest_busy" -gt 0 ] &&
		[ $((guest_busy + cpus)) -gt "$cores" ]; do
		reap
	done
	guest_busy=$((guest_busy + cpus))
	{
		"$vm/boot" --kernel "$kernel/bzImage" \
			--initramfs "$(initramfs_for "$commands")" \
			--init-args "$commands" \
			--output "$guests/$name" --cpus "$cpus" "$@"
		echo $? >"$guests/$name.status"
	} >"$guests/$name.verdict" 2>&1 &
	guest_cpus[$!]=$cpus
}

# await NAME: until that guest has ended.
await() {
	while [ ! -s "$guests/$1.status" ] && reap; do
		:
	done
}

# data NAME KIND: what a guest printed for us.
data() {
	sed -n "s/^data: $2 //p" "$guests/$1/tests"
}

# The tests of a guest as lines "STATUS NAME", 0 for passed, and "#" comments.
# A command must have come to its own end, with the tests that it has planned;
# of a program, which has none, the exit status is the test.
translate() {
	awk -v programs=" $programs " '
	function result(status, name) { print status " " command ": " name }
	/^begin / {
		command = $2; run = 0; plan = -1; failed = 0; next
	}
	/^end [^ ]+ [0-9]+$/ {
		if (index(programs, " " command " ")) {
			result($3 != 0, "exit status " $3)
		} else if (plan != run || ($3 != 0) != (failed > 0)) {
			result(1, "did not end well: " run " tests, planned " \
				plan ", exit status " $3)
		}
		next
	}
	/^ok [0-9]+ # SKIP/ { run++; sub(/^ok [0-9]+ # /, ""); print "S " $0; next }
	/^ok [0-9]+ - / { run++; sub(/^ok [0-9]+ - /, ""); result(0, $0); next }
	/^not ok [0-9]+ - / {
		run++; failed++; sub(/^not ok [0-9]+ - /, ""); result(1, $0); next
	}
	/^1\.\.0 # SKIP/ { plan = 0; sub(/^1\.\.0 # /, ""); print "S " $0; next }
	/^1\.\.[0-9]+$/ { plan = substr($0, 4); next }
	/^Bail out!/ { failed++; result(1, $0); next }
	/^#/ { print }
	' "$1"
}

# report NAME: the tests of a guest that has ended.
report() {
	local name=$1 line verdict
	sed 's/^/# /' "$guests/$name.verdict" >&2
	tap_report "$(cat "$guests/$name.status")" \
		"${guest_title[$name]}: all commands end, the kernel log is clean"
	while read -r verdict line; do
		case $verdict in
		S) skip 1 "${line#SKIP }: ${guest_title[$name]}" ;;
		'#'*) echo "# ${guest_title[$name]}, $line" >&2 ;;
		*) tap_report "$verdict" "${guest_title[$name]}, $line" ;;
		esac
	done < <(translate "$guests/$name/tests")
}

# finish: wait for all guests and report them, in the order of their start.
finish() {
	local name
	while reap; do
		:
	done
	for name in "${guest_names[@]}"; do
		report "$name"
	done
	guest_names=()
}
