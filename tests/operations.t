#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./munmap, ./madvise and what options make of them and of ./mprotect: every
# operation is measured, alone and beside threads,
# and leaves the pages as it found them.

. "${top_srcdir:-.}/tests/tap.sh"

query=$top_builddir/tests/query
[ -x "$query" ] || skip_all "tests/query is not built"
cd "$tmp" || exit 1

# measured NAME PROGRAM OPTION...: a result with what it must have; 77 is a skip.
measured() {
	program=$2
	name=$1
	shift 2
	"$top_builddir/$program" -l 40 -t 0,1 --format json -o out.json "$@" \
		2>err
	status=$?
	if [ $status -eq 77 ]; then
		is "$(wc -l <err)" 1 "$name cannot be: one line says why"
		skip 3 "$(cat err)"
		return
	fi
	is $status 0 "$name"
	is "$("$query" out.json program options.operation results.0.n |
		tr '\n' ' ')" "$program $name 40 " '... as often as asked for'
	least=$("$query" out.json results.0.min)
	ok '... takes time' awk "BEGIN { exit !($least > 0) }"
	is "$("$query" out.json results.3.threads)" 1 '... beside a thread, too'
}

measured munmap munmap
measured munmap munmap -n 512
measured munmap munmap -n 513
measured munmap munmap -n 2000 -w
measured munmap munmap --huge -n 2 -p 4
measured mremap munmap --remap
measured mremap munmap --remap -n 1100
measured 'copy on write' mprotect --cow -n 3
measured 'madvise(MADV_DONTNEED)' madvise
measured 'madvise(MADV_DONTNEED)' madvise --advice dontneed -n 600
measured 'madvise(MADV_FREE)' madvise --advice free
measured 'madvise(MADV_COLD)' madvise --advice cold
measured 'madvise(MADV_PAGEOUT)' madvise --advice pageout

"$top_builddir/madvise" --quick --advice cold -n 5 >text
like "$(cat text)" '^madvise\(MADV_COLD\) of 5 pages per call' \
	'the table says what was called'
for program in munmap madvise; do
	"$top_builddir/$program" --help >text
	like "$(cat text)" "^$program: cost of " "$program --help"
done
like "$(cat text)" 'advice=ADVICE +dontneed \(default\), free' \
	'... has its own option'

# The child that shares the pages is gone with the program, and with it alone.
"$top_builddir/mprotect" --cow -l 1000000000 -n 1 >/dev/null 2>&1 &
pid=$!
started $pid
children=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
kill -KILL $pid
wait $pid
none_left "$children" 'SIGKILL leaves no child'

# In the middle of it, when the pages may be gone.
"$top_builddir/munmap" -t 1,1,1,1 -l 1000000000 --format json -o partial.json &
pid=$!
end_by INT $pid
is $? 130 'SIGINT: dies of it'
is "$("$query" partial.json partial)" true '... after a partial result'

done_testing
