#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./models: files what was measured, finds it again, refuses bad files in one
# line, and whatever happens to it while it writes, the database is whole.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/bad.sh"

models=$top_builddir/models
tune=$top_builddir/tune
simulate=$top_builddir/tests/simulate
query=$top_builddir/tests/query
deny=$top_builddir/tests/deny
XDG_DATA_HOME=$tmp/home
TLBTUNE_DATADIR=$tmp/package
export XDG_DATA_HOME TLBTUNE_DATADIR
mine=$XDG_DATA_HOME/tlbtune/cpus.json
mkdir "$tmp/work" "$tmp/package"
cd "$tmp/work" || exit 1

# report MODEL HYPERVISOR KEY=NUMBER...: what tune would have saved on a machine
# of that model, a guest unless HYPERVISOR is "none".
report() {
	cpu='"vendor": "GenuineIntel", "brand": "Test", "family": 6'
	cpu="$cpu, \"model\": $1, \"stepping\": 1, \"core_type\": null"
	if [ "$2" = none ]; then
		host='"present": false, "signature": null, "pv_tlb_flush": null'
	else
		host="\"present\": true, \"signature\": \"$2\""
		host="$host, \"pv_tlb_flush\": true"
	fi
	shift 2
	rest='"kernel": {"release": "6.12"}, "pti": false, "pcid": true'
	rest="$rest, \"invpcid\": true, \"invlpgb\": false, \"warnings\": []"
	rest="$rest, \"hypervisor\": {$host}"
	cpu="\"cpu\": {$cpu, \"microcode\": \"0x1\"}"
	"$simulate" "$@" |
		sed "s/\"environment\": *{}/\"environment\": {$cpu, $rest}/"
}

# files: what is in this directory and in the user's.
files() {
	ls -A . "$XDG_DATA_HOME/tlbtune" 2>/dev/null | tr '\n' ' '
}

report 1 none >one.json
report 1 none c_i=60 seed=2 >one-other.json
report 1 KVMKVMKVM c_i=80 >one-guest.json
report 2 none c_i=50 >two.json
bare=GenuineIntel-6-1-1-bare-pcid-invpcid
guest=GenuineIntel-6-1-1-KVMKVMKVM-pcid-invpcid-pv

# An empty database, and what is not in it.
like "$("$models")" 'No CPU model' 'nothing is on file'
ok 'look-up in nothing' "$models" --lookup --from one.json --format json \
	-o out.json
is "$("$query" out.json level record)" 'none
none' 'finds nothing'
like "$("$models" --lookup --from one.json)" \
	"$bare.* not in .*package.* yet: .*models --record" \
	'and ends in the command that records it'

# Record, look up, show, list.
ok 'record a report' "$models" --record --from one.json --format json -o out.json
is "$("$query" out.json results.0.id results.0.verdict database)" \
	"$bare
added
$mine" 'it is added to the database of the user'
"$tune" --from one.json --format json -o derived.json
is "$("$query" "$mine" records.0.id records.0.choice.factor \
	records.0.choice.pages records.0.ceiling records.0.kernel)" \
	"$bare
$("$query" derived.json choice.factor choice.pages)
33
6.12" 'with what tune derives'
c_i=$("$query" "$mine" records.0.c_i.estimate)
ok "c_i $c_i is that of the kernel simulated" \
	awk "BEGIN { exit !(($c_i - 40) ^ 2 < 1) }"
like "$("$models")" "$bare" 'list'
like "$("$models")" 'E 20[0-9][0-9], c_i (39|40).*factor 4' '... its costs'
like "$("$models" --show $bare)" 'family 6 model 1 stepping 1' 'show: the CPU'
like "$("$models" --show $bare)" 'bare metal, PTI off' 'show: the condition'
like "$("$models" --show $bare)" 'factor 4 .*at worst' 'show: the choice'
ok 'record it again' "$models" --record --from one.json
like "$("$models" --lookup --from one-other.json)" 'c_i .*\+.*DIFFERS' \
	'another c_i is called another'
like "$("$models" --lookup --from one.json)" 'agrees .* 5 of 5' \
	'the same report agrees with itself'
"$models" --lookup --from two.json >text
like "$(cat text)" "family, same condition.*$bare" 'look-up falls back to family'
like "$(cat text)" 'GenuineIntel-6-2-1.* not in' '... and says it is not this'
"$models" --lookup --from one-guest.json >text
like "$(cat text)" "Not used, another condition: $bare" \
	'a guest is offered nothing of bare metal'
is "$(grep -c factor text)" 0 '... no factor'
"$models" --format csv >list.csv
is "$(wc -l <list.csv) $(awk -F, '{ print NF }' list.csv | sort -u | wc -l)" \
	'2 1' 'CSV is a table'
ok 'this machine is looked up' "$models" --lookup

# Merging keeps both conditions, and the better of two measurements.
ok 'a guest' "$models" --record --from one-guest.json
is "$("$query" "$mine" records records.0.id records.1.id)" "2
$guest
$bare" 'is a record of its own'
sed 's/"options": *{}/"options": {"quick": true}/' one-other.json >quick.json
"$models" --record --from quick.json --format json -o out.json
is "$("$query" out.json results.0.verdict)" kept 'a --quick run replaces nothing'
is "$("$query" "$mine" records.1.c_i.estimate)" "$c_i" '... and changes nothing'
like "$("$models" --record --from quick.json)" '--quick' '... and says why'
rm -rf "$XDG_DATA_HOME"
"$models" --record --from quick.json >/dev/null
"$models" --record --from one.json --format json -o out.json
is "$("$query" out.json results.0.verdict)" replaced 'a full run replaces it'

# What is not known is kept.
sed 's/"records":/"remark": "mine", "records":/; s/"id":/"note": [1], "id":/' \
	"$mine" >edited
cp edited "$mine"
"$models" --record --from two.json >/dev/null
is "$("$query" "$mine" records remark records.0.note.0)" '2
mine
1' 'unknown members survive'
cp "$mine" other.json
rm -rf "$XDG_DATA_HOME"
ok 'merge a file of others' "$models" --merge other.json
is "$("$query" "$mine" records remark records.0.note.0)" '2
mine
1' '... with what is unknown in it'
before=$(cat "$mine")
"$models" --merge other.json --format json -o out.json
is "$("$query" out.json results.0.verdict results.1.verdict | sort -u)" same \
	'merge it again: nothing new'
is "$(cat "$mine")" "$before" '... and the file is the same'

# Two databases are read as one.
cp "$mine" "$TLBTUNE_DATADIR/cpus.json"
rm -rf "$XDG_DATA_HOME"
"$models" --record --from one-guest.json >/dev/null
is "$("$models" | grep -c '^Genuine')" 3 'the package and the user have 3 records'
like "$("$models" --show $bare)" "File .*package/cpus.json" 'each has its file'
is "$("$models" --db "$mine" | grep -c '^Genuine')" 1 '--db: that one only'
rm "$TLBTUNE_DATADIR/cpus.json"

# A symbolic link stays one, and the file that it points to is replaced.
mkdir far
cp "$mine" far/real.json
ln -s far/real.json link.json
ok 'a database that is a symbolic link' "$models" --record --from two.json \
	--db link.json
ok '... stays one' test -L link.json
is "$("$query" far/real.json records)" 2 '... and leads to the result'
rm -rf far link.json

# leftovers: how the files or the database differ from what they were.
leftovers() {
	[ "$(files)" = "$were" ] || files
	[ "$(cat "$mine")" = "$before" ] || echo "another database"
}

# Bad databases, wherever they are named. good.json is one that is not.
in=$tmp/in
mkdir "$in"
"$models" --record --from one.json --db "$in/good.json" >/dev/null
good=$in/good.json
: >"$in/empty.json"
head -c 300 "$good" >"$in/truncated.json"
echo '{"hello": "world"}' >"$in/foreign.json"
echo '[1, 2]' >"$in/array.json"
echo 'not json' >"$in/text.json"
head -c 100000 /dev/urandom >"$in/noise.json"
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "[" }' >"$in/deep.json"
printf '%s\0\0' "$(cat "$good")" >"$in/nul.json"
sed 's/"schema": 1/"schema": 99/' "$good" >"$in/schema.json"
sed 's/"schema": 1/"schema": "1"/' "$good" >"$in/schema-text.json"
sed 's/"records": \[/"records": {}, "other": [/' "$good" >"$in/object.json"
sed "s/\"id\": \"/&x/" "$good" >"$in/id.json"
sed 's/"pti": false/"pti": true/' "$good" >"$in/condition.json"
sed 's/"pti": false/"pti": "no"/' "$good" >"$in/pti.json"
sed 's/"c_i":/"c_j":/' "$good" >"$in/member.json"
sed 's/"factor": 4/"factor": 1e3/' "$good" >"$in/factor.json"
sed 's/"kernel": "6/"kernel": "\\u001b[2J/' "$good" >"$in/control.json"
sed 's/"kind"/"schema"/' "$good" >"$in/duplicate-key.json"
"$query" "$good" records >/dev/null
awk '/"records": \[/ { print; on = 1; next }
	on && /^  \]/ { printf "%s,\n%s", record, record; on = 0 }
	on { record = record $0 "\n"; next }
	{ print }' "$good" | sed 's/^    }$/    }/' >"$in/duplicate-id.json"

were=$(files)
before=$(cat "$mine")
for action in --lookup '--show x' '--record --from one.json'; do
	# shellcheck disable=SC2086
	bad 2 'truncated.json:[0-9]+: expected a JSON database' \
		"$models" $action --db "$in/truncated.json"
done
bad 2 'empty.json:1: expected a JSON database' "$models" --db "$in/empty.json"
bad 2 'empty.json:1: ' "$models" --merge "$in/empty.json"
bad 2 'foreign.json: kind: expected' "$models" --merge "$in/foreign.json"
bad 2 'array.json: kind: expected' "$models" --db "$in/array.json"
bad 2 'text.json:1: ' "$models" --db "$in/text.json"
bad 2 'noise.json:' "$models" --merge "$in/noise.json"
bad 2 'deep.json:' "$models" --merge "$in/deep.json"
bad 2 'nul.json:' "$models" --db "$in/nul.json"
bad 2 'schema.json: schema: expected 1, got 99' "$models" --merge \
	"$in/schema.json"
bad 2 'schema-text.json: schema: expected 1' "$models" --db \
	"$in/schema-text.json"
bad 2 'records: expected an array' "$models" --db "$in/object.json"
bad 2 "records\[0\].id: expected '$bare' .* got 'x$bare'" "$models" --db \
	"$in/id.json"
bad 2 'records\[0\].id: expected .*-pti-' "$models" --db "$in/condition.json"
bad 2 'records\[0\].condition.pti: expected true, false' "$models" --db \
	"$in/pti.json"
bad 2 'records\[0\].c_i: expected an estimate' "$models" --merge \
	"$in/member.json"
bad 2 'choice.factor: expected an integer' "$models" --db "$in/factor.json"
bad 2 'kernel: expected printable' "$models" --db "$in/control.json"
bad 2 'duplicate-key.json:[0-9]+: ' "$models" --db "$in/duplicate-key.json"
bad 2 'records\[1\].id: expected each ID once' "$models" --db \
	"$in/duplicate-id.json"
bad 2 'cannot read .*nowhere' "$models" --db nowhere
bad 2 "cannot read 'nowhere'" "$models" --merge nowhere
bad 2 'expected a regular file' "$models" --db "$in"
bad 2 'expected a regular file' "$models" --db /dev/null
bad 2 'ID that is on file' "$models" --show x
bad 2 '--show and --record: expected one' "$models" --show x --record
bad 2 '--from: expected --record or' "$models" --from one.json
bad 2 "--db: expected a file name, got ''" "$models" --db ''
bad 2 'HOME' env -u HOME -u XDG_DATA_HOME "$models" --record --from one.json

# Bad reports.
"$simulate" >"$in/nobody.json"
report 1 none ceiling=1000000 entries=0 >"$in/nothing.json"
bad 2 'nobody.json: unknown machine: identity.vendor' "$models" --record \
	--from "$in/nobody.json"
bad 2 'nothing.json: .*nothing was measured' "$models" --record \
	--from "$in/nothing.json"
bad 2 'expected a JSON report of tune' "$models" --record --from "$good"
bad 2 'good.json' "$models" --lookup --from "$good"
bad 2 'cannot read .*nowhere' "$models" --record --from nowhere
bad 2 'truncated.json:[0-9]+: expected a JSON report' "$models" --record \
	--from "$in/truncated.json"

# Databases that cannot be written.
bad 2 'cannot write .*no/such/cpus.json' "$models" --record --from one.json \
	--db no/such/cpus.json
bad 2 'cannot write .*/proc/' "$models" --record --from one.json \
	--db /proc/cpus.json
bad 2 'regular file' "$models" --record --from one.json --db "$in"
bad 2 'regular file|cannot write' "$models" --record --from one.json --db /dev/full
ln -s no/such/file "$in/dangling"
bad 2 'cannot write .*dangling' "$models" --record --from one.json \
	--db "$in/dangling"
bad 2 'cannot write' env XDG_DATA_HOME=/proc/none "$models" --record \
	--from one.json
if [ "$(id -u)" -eq 0 ]; then
	skip 1 'root writes every file'
else
	cp "$good" "$in/mine.json"
	chmod a-w "$in/mine.json"
	bad 2 'cannot write .*mine.json' "$models" --record --from two.json \
		--db "$in/mine.json"
fi
bad 2 'cannot write' "$deny" openat -- "$models" --record --from two.json

# Writers at the same time lose nothing.
rm -rf "$XDG_DATA_HOME"
for i in 1 2 3 4 5 6 7 8; do
	report $((10 + i)) none seed=$i blocks=8 >many-$i.json
done
for i in 1 2 3 4 5 6 7 8; do
	"$models" --record --from many-$i.json >many-$i.out 2>&1 &
done
wait
is "$(cat many-*.out | grep -c '^added')" 8 '8 writers at once'
is "$("$query" "$mine" records)" 8 '... and all 8 records are there'
is "$(ls -A "$XDG_DATA_HOME/tlbtune")" cpus.json '... and no lock is left'

# No room to write: an error, and the old one stays.
cp "$mine" old.json
(
	# shellcheck disable=SC3045
	ulimit -c 0
	ulimit -f 4
	exec "$models" --record --from one-guest.json
) >out 2>&1
status=$?
is $status 1 'a limit that ends the writing is an error'
is "$(find "$XDG_DATA_HOME/tlbtune" -name 'cpus.json.??????' | wc -l)" 0 \
	'... no part of a new database is left'
ok '... beside the old one' cmp old.json "$mine"
ok '... and its lock keeps nobody waiting' timeout 20 "$models" --record \
	--from one-guest.json
is "$("$query" "$mine" records)" 9 '... from writing'

# Killed at any moment, it is the old one or the new one.
cp "$mine" new.json
broken=
late=0
for delay in 0 0.01 0.02 0.03 0.04 0.05 0.06 0.07 0.08 0.1 0.15 0.2; do
	cp old.json "$mine"
	"$models" --record --from one-guest.json >out 2>&1 &
	pid=$!
	sleep $delay
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	if cmp -s new.json "$mine"; then
		late=$((late + 1))
	elif ! cmp -s old.json "$mine"; then
		broken="$broken $delay"
	fi
done
diag "killed 12 times, $late times too late"
is "$broken" '' 'SIGKILL leaves the old database or the new one'
ok 'and that can be read' "$models"

# Measured here.
"$models" --record --quick --format json -o live.json --db here.json 2>live.err
status=$?
if [ $status -eq 77 ]; then
	skip 3 "$(cat live.err)"
else
	is $status 0 'this machine is measured and recorded'
	is "$("$query" live.json results.0.verdict)" added '... in a new file'
	"$models" --lookup --db here.json --format json -o found.json
	is "$("$query" found.json record.id)" \
		"$("$query" live.json results.0.id)" '... and found again'
fi

done_testing
