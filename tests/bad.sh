# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154
#
# bad.sh: what bad input must lead to, for tests that have sourced tap.sh: one
# line on stderr that names the program, nothing on stdout, and nothing left
# behind. A test may redefine leftovers(), which prints what must not be there
# afterwards.

# The names that may be in front of the line.
bad_programs=$(sed -n '/^bin_PROGRAMS =/,/[^\\]$/p' "$top_srcdir/Makefile.am" |
	sed '1d; s/[\t \\]//g' | tr '\n' '|')
bad_programs=${bad_programs%|}

# leftovers: the files in the current directory.
leftovers() {
	ls -A
}

# verdict WANTED REGEX NAME: of $status, $tmp/out and $tmp/err.
verdict() {
	problem=
	[ "$status" -eq "$1" ] || problem="status $status, wanted $1"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] || problem="$problem; not one line"
	grep -Eq "^(.*/)?(tlb-)?($bad_programs): " "$tmp/err" ||
		problem="$problem; the program is not named"
	grep -Eq -e "$2" "$tmp/err" || problem="$problem; no match of '$2'"
	[ ! -s "$tmp/out" ] || problem="$problem; prints a result"
	[ -z "$(leftovers)" ] || problem="$problem; leaves $(leftovers)"
	[ -z "$problem" ] || {
		diag "$problem"
		diag "$(cat "$tmp/err")"
	}
	is "$problem" '' "$3"
}

# bad STATUS REGEX COMMAND...
bad() {
	wanted=$1
	regex=$2
	shift 2
	"$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	status=$?
	verdict "$wanted" "$regex" \
		"$(echo "$*" | sed "s|$top_builddir/||g; s|$tmp/||g")"
}
