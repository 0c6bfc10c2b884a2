# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# tap.sh: tap.h for shell tests. Begin a test with
#
#	. "${top_srcdir:-.}/tests/tap.sh"
#
# It sets, and exports, the absolute top_srcdir and top_builddir (given by `make
# check`; the current directory for a test run by hand from the build root) and
# makes $tmp, a directory that is removed at the end. Plain POSIX sh.

LC_ALL=C
unset CDPATH
top_srcdir=$(cd "${top_srcdir:-.}" && pwd) || exit 1
top_builddir=$(cd "${top_builddir:-.}" && pwd) || exit 1
export LC_ALL top_srcdir top_builddir

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

tap_run=0
tap_failed=0

# diag TEXT...: a comment on stderr.
diag() {
	printf '%s\n' "$*" | sed 's/^/# /' >&2
}

# tap_report STATUS NAME: the line of one test.
tap_report() {
	tap_run=$((tap_run + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_run - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_run - $2"
		diag "test $tap_run of $0 failed"
		return 1
	fi
}

# ok NAME COMMAND...: the command succeeds. What it prints becomes comments.
ok() {
	tap_name=$1
	shift
	"$@" >"$tmp/tap-output" 2>&1
	tap_status=$?
	sed 's/^/# /' "$tmp/tap-output" >&2
	tap_report "$tap_status" "$tap_name"
}

# is GOT WANT NAME: two strings are the same.
is() {
	if [ "$1" = "$2" ]; then
		tap_report 0 "$3"
	else
		tap_report 1 "$3" || :
		diag "got  '$1'"
		diag "want '$2'"
		return 1
	fi
}

# like TEXT REGEX NAME: some line of the text matches the extended regex.
like() {
	if printf '%s\n' "$1" | grep -Eq -e "$2"; then
		tap_report 0 "$3"
	else
		tap_report 1 "$3" || :
		diag "got  '$1'"
		diag "want a match of '$2'"
		return 1
	fi
}

# alive PID: and not a zombie that nobody reaps, which does no harm.
alive() {
	grep -qs '^State:.[^Z]' "/proc/$1/status"
}

# none_left "PID..." NAME: they all end, soon; on a busy machine that takes time.
none_left() {
	tap_tries=150
	while [ $tap_tries -gt 0 ]; do
		tap_alive=
		for tap_pid in $1; do
			! alive "$tap_pid" || tap_alive="$tap_alive $tap_pid"
		done
		[ "$tap_alive" ] || break
		sleep 0.2
		tap_tries=$((tap_tries - 1))
	done
	is "$tap_alive" '' "$2"
}

# catches_signals PID: SIGINT is in its mask of signals caught (SigCgt).
catches_signals() {
	case $(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/$1/status" 2>/dev/null) in
	[2367abef]) return 0 ;;
	esac
	return 1
}

# started PID: a process in the background has set up what it does at a signal,
# and a second has gone by. Before, it ignores SIGINT, as a shell without job
# control makes it, and would go on for ever.
started() {
	tap_tries=600
	while alive "$1" && ! catches_signals "$1" && [ $tap_tries -gt 0 ]; do
		sleep 0.1
		tap_tries=$((tap_tries - 1))
	done
	sleep 1
}

# end_by SIGNAL PID: once it has started, and wait for it. Returns its status:
# 137 where it goes on for a minute and has to be killed.
end_by() {
	started "$2"
	kill "-$1" "$2" 2>/dev/null
	tap_tries=300
	while alive "$2"; do
		sleep 0.2
		tap_tries=$((tap_tries - 1))
		[ $tap_tries -gt 0 ] || kill -KILL "$2"
	done
	wait "$2"
}

# skip COUNT REASON: count that many tests as skipped.
skip() {
	tap_left=$1
	while [ "$tap_left" -gt 0 ]; do
		tap_run=$((tap_run + 1))
		tap_left=$((tap_left - 1))
		echo "ok $tap_run # SKIP $2"
	done
}

# skip_all REASON: skip the whole test, before its first result.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# done_testing: print the plan, last, and leave.
done_testing() {
	echo "1..$tap_run"
	[ "$tap_run" -gt 0 ] && [ "$tap_failed" -eq 0 ]
	exit $?
}
