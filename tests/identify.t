#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./identify: this machine, from wherever it is asked, and recorded ones of
# every format; input that is no record.

. "${top_srcdir:-.}/tests/tap.sh"

identify=$top_builddir/identify
query=$top_builddir/tests/query
machines=$top_srcdir/tests/machines
cd "$tmp" || exit 1

"$identify" >text 2>err
status=$?
if [ $status -eq 77 ]; then
	skip_all "$(cat err)"
fi

# This machine.
is $status 0 'this machine is identified'
is "$(cat err)" '' 'and nothing is on stderr'
like "$(cat text)" '^CPUs [0-9]' 'its CPUs'
like "$(cat text)" '^  E = ([0-9]+, |unknown: )' 'its E, or why it is unknown'
ok 'as JSON' "$identify" --format json -o this.json
is "$("$query" this.json schema program types.0.cpus environment.cpu.family |
	grep -c .)" 4 '... with its parts'
entries=$("$query" this.json types.0.entries)
confidence=$("$query" this.json types.0.confidence)
case $entries:$confidence in
null:unknown | [1-9]*:decoded | [1-9]*:inferred) agree=0 ;;
*) agree=1 ;;
esac
ok "E ($entries) is unknown or known ($confidence), and never 0" \
	[ $agree -eq 0 ]
ok '... and says why' [ "$("$query" this.json types.0.why)" != null ]
"$identify" --format csv >this.csv
is "$(tr -d '\r' <this.csv | head -n 1)" \
	'type,cpus,core_type,what,level,pages,entries,ways,confidence,origin,partial' \
	'CSV has a header'
like "$(tr -d '\r' <this.csv | sed -n 2p)" '^0,"[0-9,-]+",[^,]*,"E",' \
	'and E in its first row'

# Recorded machines: name, number of types, then E and confidence of each.
recorded() {
	"$identify" --cpuid "$machines/$1" --format json >"$1.json" 2>err
	is $? 0 "$1 is read"
	wanted=$2
	name=$1
	got=
	i=0
	while [ "$("$query" "$name.json" types.$i)" != none ]; do
		got="$got$("$query" "$name.json" types.$i.entries \
			types.$i.confidence types.$i.core_type |
			tr '\n' ' ')"
		i=$((i + 1))
	done
	is "$got" "$wanted" '... its E'
	is "$("$query" "$name.json" environment)" null \
		'... whose environment is unknown'
	"$identify" --cpuid "$machines/$1" >text
	is "$(grep -c '^  E = ' text)" $i '... a line for each type of core'
}
recorded haswell.txt '1024 decoded null '
recorded hybrid.txt '2048 decoded performance 2048 decoded efficiency '
recorded intel-guest 'null unknown null '
like "$(cat text)" 'unknown: CPUID leaf 2 refers to leaf 0x18, which the hypervisor has zeroed' \
	'... which says why'
recorded silvermont.txt '128 decoded null '
recorded zen5-guest '4096 inferred null '
like "$(cat text)" 'E = 4096, inferred: .*units of 32.*hypervisor' \
	'... which says why'

is "$("$query" hybrid.txt.json results.0.what results.0.entries \
	results.0.level | tr '\n' ' ')" 'E 2048 2 ' 'E is the first result'
is "$("$query" haswell.txt.json source)" 'cpuid -r' 'the format is told'
"$identify" --cpuid "$machines/hybrid.txt" --format csv >hybrid.csv
is "$(awk -F, '{ print NF }' hybrid.csv | sort -u | wc -l)" 1 'CSV is a table'
is "$(grep -c ',"unified",2,' hybrid.csv)" 4 'and has the arrays of both types'

"$identify" --cpuid "$machines/intel-guest/pu1" >text
like "$(cat text)" '^CPUs 0: ' 'a single file of the directory'
sed 's/$/\r/' "$machines/hybrid.txt" | tr A-F a-f |
	"$identify" --cpuid /dev/stdin --format csv >piped.csv
ok 'through a pipe, with CRLF and in lower case' cmp hybrid.csv piped.csv

# Brand and vendor are bytes of unknown origin.
printf '1 0 0 0 0 => 1 9b1b1b1b ff0a0d22 80818283\n%s\n' \
	'1 1 0 0 0 => 1 0 80000000 0' >bytes
"$identify" --cpuid bytes --format json >bytes.json
is "$("$query" bytes.json types.0.entries)" null \
	'control characters as a vendor leave JSON valid'
is "$("$identify" --cpuid bytes | tr -d '\n' | tr -d '[:print:]')" '' \
	'and the terminal alone'

# bad REGEX ARGUMENT...: refused, in one line that matches.
bad() {
	regex=$1
	shift
	"$identify" "$@" >out 2>err
	status=$?
	problem=
	[ $status -eq 2 ] || problem="status $status"
	[ "$(wc -l <err)" -eq 1 ] || problem="$problem; not one line"
	grep -Eq "^(.*/)?identify: .*$regex" err ||
		problem="$problem; no match of '$regex' in '$(cat err)'"
	[ ! -s out ] || problem="$problem; prints a result"
	is "$problem" '' "refused: $(echo "$*" | sed "s|$top_srcdir/||; s|$tmp/||")"
}
mkdir empty two
touch nothing two/pu0
head -c 3000000 /dev/urandom >noise
sed '/SL 04/ { s/-00000010.*//; q; }' "$machines/hybrid.txt" >short
{
	cat "$machines/haswell.txt"
	printf 'x\0y'
} >nul
bad 'No such file' --cpuid absent
bad 'expected files pu0' --cpuid empty
bad 'no CPUID registers' --cpuid nothing
bad 'no CPUID registers' --cpuid two
bad 'NUL|no CPUID registers' --cpuid noise
bad "line [0-9]+: expected 'CPUID" --cpuid short
bad 'NUL' --cpuid nul
bad "got ''" --cpuid ''
bad 'expected one of them' --cpuid "$machines/haswell.txt" --cpus 0
bad "cannot write 'no/such/file'" -o no/such/file
bad 'CPU 999999' --cpus 999999
bad 'csv' --format xml
bad "got 'now'" now

# With one CPU, each in turn.
cpus=$(taskset -cp $$ 2>/dev/null | sed 's/.*: //')
first=${cpus%%[-,]*}
last=${cpus##*[-,]}
for cpu in $first $last; do
	taskset -c "$cpu" "$identify" --format json >one.json
	is "$("$query" one.json types.0.cpus types.0.entries environment.cpu.number |
		tr '\n' ' ')" "$cpu $entries $cpu " "with CPU $cpu alone"
done
"$identify" --cpus "$last" --format json >one.json
is "$("$query" one.json types.0.cpus)" "$last" "--cpus $last"
[ -n "$cpus" ] || skip 2 'no taskset'

# As somebody, in a place where there is neither /sys nor /proc.
somebody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" -ne 0 ]; then
	is $status 2 'an ordinary user has run all of this'
elif $somebody test -x "$identify" 2>/dev/null; then
	ok 'as an ordinary user' $somebody "$identify"
else
	skip 1 'cannot run it as another user'
fi
hide() {
	unshare --user --map-root-user --mount sh -c "
		for directory in $1; do
			mount -t tmpfs none /\$directory || exit 99
		done
		exec \"\$0\" --format json" "$identify" >hidden.json 2>err
	case $? in
	0)
		is "$("$query" hidden.json types.0.entries)" "$entries" \
			"without $1"
		;;
	77)
		like "$(cat err)" '^(.*/)?identify: ' "without $1: says why not"
		;;
	*)
		skip 1 "cannot hide $1: $(head -n 1 err)"
		;;
	esac
}
hide sys
hide 'sys proc'

done_testing
