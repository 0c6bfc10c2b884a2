#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --trace: what the kernel did for each operation is what its pages imply: n of
# them up to the ceiling, a full flush above. The step in time is at the same
# place, where the machine has one. Nothing stays in tracefs.

# The words of a report are split on purpose.
# shellcheck disable=SC2046

. "${top_srcdir:-.}/tests/tap.sh"

query=$top_builddir/tests/query
[ -x "$query" ] || skip_all "tests/query is not built"
cd "$tmp" || exit 1

holds() {
	ok "$2" awk "BEGIN { exit !($1) }"
}

# of KEY...: of the last report, in one line.
of() {
	"$query" out.json "$@" | tr '\n' ' ' | sed 's/ $//'
}

# trace PROGRAM OPTION...: into out.json. A busy machine can make one run odd:
# another thread of the process flushes, a CPU misses one and catches up.
trace() {
	program=$1
	shift
	"$top_builddir/$program" --trace --format json -o out.json "$@" 2>err
}

trace mprotect -l 5
status=$?
if [ $status -eq 77 ]; then
	is "$(wc -l <err)" 1 'one line says why it cannot be'
	like "$(cat err)" 'mprotect: --trace: cannot ' "$(cat err)"
	skip 1 'not here'
	done_testing
	exit
fi
is $status 0 'a traced run'
is "$(of options.trace flushes.traced)" 'true true' 'the report says so'
ceiling=$(of flushes.ceiling)
diag "ceiling: $ceiling $(of flushes.ceiling_why)"
case $ceiling in
'' | null) skip_rest="no ceiling seen: $(of flushes.ceiling_why)" ;;
*) skip_rest= ;;
esac

# kinds PROGRAM OPTION...: what the operations of the caller alone did, as
# SHARE FULL PAGED MIN MAX.
kinds() {
	trace "$@" || {
		cat err >&2
		return
	}
	of flushes.rows.0.share_as_implied flushes.rows.0.caller.full \
		flushes.rows.0.caller.page_by_page \
		flushes.rows.0.caller.pages_min flushes.rows.0.caller.pages_max
}

# Not every time: an interrupt on the way may flush as well.
by_page() {
	pages=$1
	shift
	set -- "$pages" "$*" $(kinds "$@" -n "$pages" -l 2)
	holds "${3:-0} >= 0.9 && ${4:-9} <= 6 && ${6:-0} == $1 && ${7:-0} == $1" \
		"$2 -n $1: $1 pages, one by one ($3 $4 $5 $6 $7)"
}

full() {
	pages=$1
	shift
	set -- "$pages" "$*" $(kinds "$@" -n "$pages" -l 2)
	holds "${3:-0} >= 0.9 && ${4:-0} >= 50 && ${5:-9} <= 6" \
		"$2 -n $1: full ($3 $4 $5)"
}

if [ "$skip_rest" ] || [ "$ceiling" -lt 1 ]; then
	skip 1 "${skip_rest:-the ceiling is 0}"
else
	for operation in mprotect munmap madvise 'madvise --advice free' \
		'madvise --advice cold' 'munmap --remap'; do
		# shellcheck disable=SC2086
		by_page "$ceiling" $operation
		# shellcheck disable=SC2086
		full $((ceiling + 1)) $operation
		is "$(of flushes.rows.0.as_claimed flushes.rows.0.implied)" \
			'true full' '... as claimed'
	done
	for n in 1 $((ceiling + 7)); do
		if [ "${SANITIZER-}" ]; then
			skip 2 "the memory of the $SANITIZER sanitizer is copied, too"
			continue
		fi
		set -- $(kinds mprotect --cow -n $n -l 1)
		holds "${1:-0} >= 0.9 && $2 <= 1 && $4 == 1 && $5 == 1" \
			"mprotect --cow -n $n: each page on its own ($*)"
		is "$(of flushes.rows.0.implied)" 'each page' '... as implied'
	done
	# Each number of pages, and not one of them.
	wrong=
	n=1
	while [ $n -le "$ceiling" ] && [ $n -le 64 ]; do
		set -- $(kinds munmap -n $n -l 1)
		[ "$4 $5" = "$n $n" ] || wrong="$wrong $n:$*"
		n=$((n + 1))
	done
	is "$wrong" '' "munmap -n N flushes N pages, for each N up to $((n - 1))"
	wrong=
	for n in $((ceiling + 1)) $((ceiling + 2)) $((2 * ceiling + 3)) 512 513 \
		1500; do
		set -- $(kinds munmap -n $n -l 1)
		awk "BEGIN { exit !($1 >= 0.8 && $2 >= 28) }" ||
			wrong="$wrong $n:$*"
	done
	is "$wrong" '' '... and everything above'
fi

# An operation that flushes something else: each 2 MiB are moved on their own.
if [ "$skip_rest" ]; then
	skip 1 "$skip_rest"
else
	"$top_builddir/munmap" --remap --trace -n 513 -l 2 >text
	if grep -q '^alone .* 1-1 ' text; then
		like "$(cat text)" '^NOT AS CLAIMED: 0 beside, alone: ' \
			'what is not as claimed is said to be'
	else
		skip 1 'this kernel moves 513 pages by one flush'
	fi
fi

# The step in time, where it is. One in the operation for mprotect; one in the
# re-access for the others, where a single-page flush spares the rest of the
# TLB. Interleaved, so that the speed of the machine cancels.
access_ratio() {
	for _ in 1 2 3 4 5; do
		for n in "$ceiling" $((ceiling + 1)); do
			"$top_builddir/$1" -n "$n" -p 256 --pattern chase -l 400 \
				--format json -o out.json
			of results.2.median >>"$1.$n"
			echo >>"$1.$n"
			of results.0.median >>"$1.op.$n"
			echo >>"$1.op.$n"
		done
	done
	for file in "$1" "$1.op"; do
		paste "$file.$ceiling" "$file.$((ceiling + 1))" |
			awk '{ print $2 / $1 }' | sort -n | sed -n 3p
	done
}
if [ "$skip_rest" ] || [ "$ceiling" -lt 8 ]; then
	skip 1 "${skip_rest:-the ceiling is too small to see a step}"
else
	set -- $(access_ratio mprotect)
	diag "one page more: the mprotect takes $2, its re-access $1 times as long"
	holds "$2 > 1.1 || $2 < 0.97" 'mprotect steps where the trace does'
	# A full flush makes the re-access dearer, unless INVLPG did already.
	if awk "BEGIN { exit !($1 < 1.15) }"; then
		skip 2 "the re-access after mprotect has no step: a single-page flush empties the TLB here"
	else
		for program in munmap madvise; do
			set -- $(access_ratio $program)
			diag "one page more: the re-access after $program takes $1 times as long"
			holds "$1 > 1.1" "the re-access after $program steps, too"
		done
	fi
fi

# Beside a thread.
trace munmap -t 1 -n 4 -l 20
set -- $(of flushes.rows.1.window flushes.rows.1.caller.page_by_page \
	flushes.rows.1.others.page_by_page flushes.rows.1.sent)
if [ "${3:-0}" -gt 0 ]; then
	holds "$2 > 0 && $4 > 0" "busy: others flush, too ($*)"
else
	skip 1 "no flush was received by another CPU ($*)"
fi
is "$(of flushes.interrupts.0.window flushes.interrupts.1.window)" \
	'alone busy' 'interrupts are counted for each window'
"$top_builddir/mprotect" --quick --trace -n 5 >text
like "$(cat text)" 'ceiling in force: ' 'in text'
like "$(cat text)" '^Interrupts for TLB flushes per call' '... interrupts, too'
"$top_builddir/mprotect" -l 5 --format json -o out.json
is "$(of flushes.traced flushes.ceiling flushes.rows.0)" 'false null none' \
	'without --trace nothing is known of it'

# instance: that of the program in the background.
instance() {
	find /sys/kernel/tracing/instances -maxdepth 1 -name "*mprotect-$pid"
}

# Interrupted in the middle.
"$top_builddir/mprotect" --trace -t 1 -l 1000000000 --format json -o out.json &
pid=$!
tries=0
until [ "$(instance)" ] || [ $tries -ge 150 ]; do
	sleep 0.2
	tries=$((tries + 1))
done
like "$(instance)" . 'an instance of its own while it runs'
end_by TERM $pid
is $? 143 'SIGTERM: dies of it'
is "$(of partial)" true '... after a partial result'
"$top_builddir/mprotect" --trace -l 1000000000 >out &
pid=$!
end_by INT $pid
is "$(instance)" '' 'no instance is left'

done_testing
