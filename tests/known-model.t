#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Is this CPU in the database? If so, how this machine agrees with what is on
# file; if not, the command that records it. Neither is a failure. What is said
# begins with "# " in the log and ends `make check`.

. "${top_srcdir:-.}/tests/tap.sh"

: "${TLBTUNE_DATADIR=$top_srcdir/data}"
export TLBTUNE_DATADIR
cd "$top_builddir" || exit 1

# comment FILE: the file as comments, after all tests.
comment() {
	sed 's/^/# /' "$1" >&2
}

ok 'the database that comes with tlbtune can be read' \
	./models --db "$TLBTUNE_DATADIR/cpus.json" -o "$tmp/list"
./tune --quick --format json -o "$tmp/report.json" 2>"$tmp/err"
status=$?
if [ $status -eq 77 ]; then
	skip 1 "$(cat "$tmp/err")"
	./models --lookup >"$tmp/said" 2>&1
else
	ok 'this machine is looked up' ./models --lookup -o "$tmp/found" \
		--from "$tmp/report.json" --db "$TLBTUNE_DATADIR/cpus.json"
	./models --lookup --from "$tmp/report.json" >"$tmp/said" 2>&1
fi
comment "$tmp/said"

done_testing
