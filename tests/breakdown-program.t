#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --breakdown: the parts make the sum, and the sum and what is unexplained the
# whole, for each operation, alone and beside a thread.

. "${top_srcdir:-.}/tests/tap.sh"

query=$top_builddir/tests/query
[ -x "$query" ] || skip_all "tests/query is not built"
cd "$tmp" || exit 1

# adds_up FILE ROW: its parts, or what is wrong
adds_up() {
	i=0
	while [ "$("$query" "$1" results.$i)" != none ]; do
		"$query" "$1" results.$i.row results.$i.part \
			results.$i.estimate | paste -s -d '|'
		i=$((i + 1))
	done | awk -F '|' -v row="$2" '
		$1 != row { next }
		$2 == "sum" || $2 == "whole" || $2 == "unexplained" {
			value[$2] = $3
			known[$2] = $3 != "null"
			next
		}
		{ parts++ }
		$3 != "null" { sum += $3 }
		function far(a, b) { return a - b > 0.01 || b - a > 0.01 }
		END {
			if (parts != 6)
				print parts + 0, "parts"
			else if (!known["sum"])
				print "unknown"
			else if (far(sum, value["sum"]) ||
				 far(value["sum"] + value["unexplained"],
				     value["whole"]))
				print "does not add up:", sum, value["sum"],
					value["unexplained"], value["whole"]
			else
				print "adds up"
		}'
}

for program in mprotect munmap madvise; do
	"$top_builddir/$program" --breakdown --quick -n 10 --format json \
		-o $program.json 2>err
	status=$?
	if [ $status -eq 77 ]; then
		skip 2 "$(cat err)"
		continue
	fi
	is $status 0 "$program"
	is "$(adds_up $program.json 0)" 'adds up' "$program: the parts add up"
done
"$top_builddir/mprotect" --breakdown --quick -n 10 >text
like "$(cat text)" '^  local flush +(-?[0-9]|n/a +[a-z])' \
	'text: a number, or why there is none'
like "$(cat text)" 'IPI wait +n/a +no other thread' \
	'alone there is no IPI, not one that takes 0 ns'

# Beside a thread; on a busy machine it may never have been seen to run.
if [ "$(nproc)" -gt 1 ]; then
	"$top_builddir/mprotect" --breakdown --quick -t 0,1 -n 40 \
		--format json -o both.json
	is "$(adds_up both.json 0)" 'adds up' 'a list of threads: none'
	got=$(adds_up both.json 1)
	diag "beside a thread: $got"
	like "$got" '^(adds up|unknown)$' 'and one'
	"$query" both.json results.9.threads >got
	is "$(cat got)" 1 'each row has its parts'
else
	skip 3 'only one CPU'
fi
"$top_builddir/mprotect" --breakdown --quick -n 10 --format csv >out.csv
is "$(awk -F, '{ print NF }' out.csv | sort -u | wc -l)" 1 'CSV is a table'

done_testing
