#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The harness itself: what goes wrong in a test must be seen as such.

. "${top_srcdir:-.}/tests/tap.sh"

sample=$top_builddir/tests/tap-sample
[ -x "$sample" ] || skip_all "tests/tap-sample is not built"

# drive COMMAND...: the verdicts of automake's driver, sorted, on one line.
drive() {
	sh "$top_srcdir/build-aux/tap-driver.sh" --test-name sample \
		--log-file "$tmp/log" --trs-file "$tmp/trs" --color-tests no \
		--enable-hard-errors yes --expect-failure no -- "$@" \
		>"$tmp/out" 2>&1
	sed -n 's/^:test-result: \([A-Z]*\).*/\1/p' "$tmp/trs" | sort |
		tr '\n' ' '
}

is "$(drive "$sample" pass)" "PASS " "a test that passes"
is "$(drive "$sample" fail)" "ERROR FAIL PASS " "a test that fails"
is "$(drive "$sample" skip)" "PASS SKIP SKIP " "tests that are skipped"
is "$(drive "$sample" skip-all)" "SKIP " "a program that is skipped"
is "$(drive "$sample" crash)" "ERROR ERROR PASS " "a crash is an error"
is "$(drive "$sample" leave)" "ERROR PASS " "no plan is an error"
is "$(drive "$sample" empty)" "ERROR SKIP " "no test is an error"

"$sample" fail >/dev/null 2>&1
is $? 1 "the exit status tells of a failure"
"$sample" skip-all >/dev/null
is $? 0 "a skip is no failure"
like "$("$sample" fail 2>&1)" '^# test 2 failed at .*tap-sample\.c:[0-9]+$' \
	"a failure names its place"
if [ -c /dev/full ]; then
	"$sample" pass >/dev/full 2>&1
	is $? 1 "results that cannot be written are a failure"
else
	skip 1 "no /dev/full"
fi

"$sample" compare 2>/dev/null | sed 's/^\(.*ok\) [0-9]* - /\1 /' >"$tmp/got"
cat >"$tmp/want" <<'END'
ok the first
ok at the tolerance
not ok past the tolerance
ok NAN wanted and got
not ok NAN got
not ok NAN wanted
not ok NAN as the tolerance
ok INFINITY wanted and got
not ok the other INFINITY
not ok INFINITY wanted
ok the same integers
not ok integers that differ above 32 bits
ok the same strings
not ok other strings
ok NULL wanted and got
not ok NULL got
not ok NULL wanted
not ok a failure
ok ok returns the outcome
ok true is not only 1
ok ok returns the outcome
ok errno is kept
ok a name   SKIP not ok with traps
1..23
END
ok "each comparison" diff "$tmp/want" "$tmp/got"

# The same for the shell's half.
cat >"$tmp/sample.t" <<'END'
. "$top_srcdir/tests/tap.sh"
case $1 in
skip-all)
	skip_all "a reason"
	;;
fail)
	ok "true" true
	ok "false" false
	is "a b" "a b" "same"
	is "a b" "a  b" "other"
	like "one
two" '^two$' "a line that matches"
	like "one" '^two$' "no line that matches"
	;;
skip)
	skip 2 "a reason"
	;;
leave)
	ok "true" true
	exit 0
	;;
esac
done_testing
END
is "$(drive sh "$tmp/sample.t" fail)" "ERROR FAIL FAIL FAIL PASS PASS PASS " \
	"shell: tests that fail"
is "$(drive sh "$tmp/sample.t" skip)" "SKIP SKIP " "shell: skipped tests"
is "$(drive sh "$tmp/sample.t" skip-all)" "SKIP " "shell: a skipped script"
is "$(drive sh "$tmp/sample.t" leave)" "ERROR PASS " "shell: no plan"
is "$(drive sh "$tmp/sample.t")" "ERROR SKIP " "shell: no test"

# A program slow to start: until it catches SIGINT, a shell's background process
# ignores it. And one that has ended already.
if command -v perl >/dev/null; then
	# shellcheck disable=SC2016
	perl -e 'select(undef, undef, undef, 1.5);
		$SIG{INT} = sub { exit 5 }; sleep 100;' &
	end_by INT $!
	is $? 5 "shell: SIGINT for a program that is slow to start"
else
	skip 1 "no perl"
fi
(exit 3) &
end_by INT $!
is $? 3 "shell: a program that has ended"

done_testing
