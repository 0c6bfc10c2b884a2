#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./compare: sees what differs and no more, in reports of every kind, and does
# not compare what cannot be compared.

. "${top_srcdir:-.}/tests/tap.sh"

compare=$top_builddir/compare
mprotect=$top_builddir/mprotect
tune=$top_builddir/tune
simulate=$top_builddir/tests/simulate
query=$top_builddir/tests/query
cd "$tmp" || exit 1

# report SEED SCALE [BLOCKS]: a report of two results, "call", which takes SCALE
# times 1000 ns, and "access", which is the same everywhere.
report() {
	awk -v seed="$1" -v scale="$2" -v blocks="${3-20}" '
	function result(what, mean, i, sum) {
		printf "{\"what\": \"%s\", \"unit\": \"ns\", \"n\": 100, ", what
		printf "\"median\": %.3f, \"ci95\": null, \"blocks\": [", mean
		for (i = 0; i < blocks; i++)
			printf "%s%.6f", i ? ", " : "",
				mean * (1 + 0.03 * (rand() + rand() - 1))
		printf "]}"
	}
	BEGIN {
		srand(seed)
		printf "{\"schema\": 1, \"program\": \"mprotect\", "
		printf "\"version\": \"0\", \"partial\": false, "
		printf "\"options\": {\"pages\": 8}, \"environment\": {"
		printf "\"pti\": false, \"cpu\": {\"model\": 1}}, \"results\": ["
		result("call", 1000 * scale)
		printf ", "
		result("access", 5)
		print "]}"
	}'
}

# get PATH...: from out.json.
get() {
	"$query" out.json "$@"
}

# versus A B OPTION...: compare, out.json is the result.
versus() {
	"$compare" "$@" --format json -o out.json
}

holds() {
	ok "$2" awk "BEGIN { exit !($1) }"
}

report 1 1 >a.json
report 2 1 >a2.json
report 3 1.1 >b.json

# Nothing differs.
ok 'a run against another' versus a.json a2.json
is "$(get results results.0.verdict results.1.verdict)" '2
no difference seen
no difference seen' 'no difference is seen'
is "$(get values results.0.values_a results.0.test)" 'time blocks
20
exact ranks' 'by ranks of time blocks'
like "$("$compare" a.json a2.json)" '0 with a difference: no difference seen' \
	'in text'
ok 'a run against itself' versus a.json a.json
is "$(get results.0.ratio results.0.p)" '1
1' 'is the same'
ok '... and above no limit' "$compare" a.json a.json --fail-above 0

# One of two differs.
ok 'a slower run' versus a.json b.json
is "$(get results.0.label results.0.verdict results.1.verdict)" 'call
higher
no difference seen' 'one result is higher'
holds "($(get results.0.ratio) - 1.1) ^ 2 < 0.02 ^ 2" '... by 10 %'
holds "$(get results.0.ratio_ci95.0) < 1.1 && 1.1 < $(get results.0.ratio_ci95.1)" \
	'... which is in the interval'
versus b.json a.json
is "$(get results.0.verdict)" lower 'the other way round it is lower'
"$compare" a.json b.json --fail-above 5 >text 2>err
is $? 1 '--fail-above 5: exit status 1'
like "$(cat err)" "^(.*/)?compare: 1 of 2 results are more than 5 % above.*'call'" \
	'... says which'
like "$(cat text)" 'call .* higher, above the limit' '... and shows it'
ok '--fail-above 20: none' "$compare" a.json b.json --fail-above 20
ok '--fail-above 5 the other way round: none' \
	"$compare" b.json a.json --fail-above 5

# Several runs a side.
for i in 1 2 3 4 5; do
	report 1$i 1 >a-$i.json
	report 2$i 1.1 >b-$i.json
done
many_a=a-1.json,a-2.json,a-3.json,a-4.json,a-5.json
many_b=b-1.json,b-2.json,b-3.json,b-4.json,b-5.json
ok 'five runs a side' versus $many_a $many_b
is "$(get values a b results.0.values_a results.0.verdict)" 'runs
5
5
5
higher' 'are compared as runs'
like "$("$compare" a-1.json,a-2.json,a-3.json,a-4.json \
	b-1.json,b-2.json,b-3.json,b-4.json)" \
	'^4 and 4 runs are too few to show a difference in one of 2 results' \
	'where four cannot show anything, that is said'
ok '... and not where five can' sh -c "! '$compare' $many_a $many_b |
	grep -q 'too few to show'"
cp a.json 'a,b.json'
ok 'a file with a comma in its name' versus a,b.json a2.json

# What was not alike.
sed 's/"pti": false/"pti": true/' a2.json >pti.json
sed 's/"model": 1/"model": 2/' a2.json >model.json
sed 's/"pages": 8/"pages": 9/' a2.json >pages.json
sed 's/"partial": false/"partial": true/' a2.json >partial.json
like "$("$compare" a.json pti.json)" \
	'^Warning  environment/pti differs: A false, B true' 'PTI: a warning'
like "$("$compare" a.json partial.json)" '^Warning  partial' 'a partial result'
for file in model pages; do
	"$compare" a.json $file.json >out 2>err
	is "$? $(wc -c <out)" '2 0' "another $file: refused"
	ok '... unless by force' "$compare" a.json $file.json --force
	like "$("$compare" a.json $file.json --force)" "^Warning .*$file differs" \
		'... with a warning'
done

# Too few.
report 1 1 3 >few.json
"$compare" few.json few.json >out 2>err
is $? 2 'three time blocks'
like "$(cat err)" 'too few samples: expected at least 4 time blocks' \
	'... are too few'
report 1 1 4 >four.json
ok 'four are enough' "$compare" four.json four.json
sed 's/"blocks": \[[^]]*\]/"blocks": [1, 2]/2' a.json >one-short.json
ok 'one result that is too short' versus a.json one-short.json
is "$(get results.1.verdict results.1.p)" 'too few values
null' '... is no reason to refuse the others'

# Reports of tune.
"$simulate" seed=1 | "$tune" --from /dev/stdin --format json -o tune-a.json
"$simulate" seed=2 | "$tune" --from /dev/stdin --format json -o tune-b.json
"$simulate" seed=3 c_i=50 | "$tune" --from /dev/stdin --format json -o tune-c.json
ok 'two reports of tune' versus tune-a.json tune-b.json
i=0
seen=
while [ "$(get results.$i)" != none ]; do
	case $(get results.$i.verdict) in
	higher | lower) seen="$seen $(get results.$i.label)" ;;
	esac
	i=$((i + 1))
done
is "$seen" '' "none of $i numbers differs"
ok 'a kernel with another c_i' versus tune-a.json tune-c.json
i=0
while [ "$(get results.$i.label)" != 'fit c_i' ]; do
	i=$((i + 1))
done
is "$(get results.$i.verdict results.$i.test)" 'higher
intervals' 'c_i is higher'
holds "($(get results.$i.ratio) - 1.25) ^ 2 < 0.02 ^ 2" '... by a quarter'
like "$("$compare" tune-a.json tune-c.json)" '^fit c_i .*higher$' '... in text'
like "$("$compare" tune-a.json tune-c.json)" 'by its interval' \
	'... which does not claim a rank test'

# CSV.
"$compare" tune-a.json tune-c.json --format csv >out.csv
is "$(awk -F, '{ print NF }' out.csv | sort -u | wc -l)" 1 'CSV is a table'

# What was measured here: a flush above the ceiling is another operation.
"$mprotect" -n 8 -l 400 --format json -o here.json 2>err
status=$?
if [ $status -eq 77 ]; then
	skip 3 "$(cat err)"
else
	"$mprotect" -n 200 -l 400 --format json -o more.json
	ok 'a live report against itself' "$compare" here.json here.json
	"$compare" here.json more.json 2>err
	is $? 2 'of another number of pages: refused'
	versus here.json more.json --force
	is "$(get results.0.verdict)" higher '25 times as many pages take longer'
fi

done_testing
