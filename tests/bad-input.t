#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Bad input: one clear line on stderr that names the program and what is at
# fault, exit status 2, nothing on stdout and nothing half-written. What cannot
# run here: the same with exit status 77.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/bad.sh"

access=$top_builddir/access
compare=$top_builddir/compare
tune=$top_builddir/tune
madvise=$top_builddir/madvise
mprotect=$top_builddir/mprotect
shootdown=$top_builddir/shootdown
munmap=$top_builddir/munmap
simulate=$top_builddir/tests/simulate
deny=$top_builddir/tests/deny
mkdir "$tmp/in" "$tmp/work"
cd "$tmp/work" || exit 1

# Options. What is common to all programs is in tests/options.c.
bad 2 '-n: .*integer from 1' "$mprotect" -n 0
bad 2 '-n: .*integer' "$mprotect" -n 8pages
bad 2 '-p: .*integer' "$mprotect" -p -4
bad 2 '-l: .*integer' "$mprotect" -l 0
bad 2 '--breakdown: .*-l' "$mprotect" --breakdown -l 5
bad 2 '--breakdown: .*--initiators' "$mprotect" --breakdown --initiators 2
bad 2 '--breakdown: .*copy on write' "$mprotect" --breakdown --cow
bad 77 '--breakdown: .*a CPU each' "$mprotect" --breakdown -t 60000
bad 2 '--initiators: .*from 1' "$mprotect" --initiators 0
bad 2 '--initiators: .*to 1024' "$mprotect" --initiators 1025
bad 2 '--mode: .*processes' "$mprotect" --initiators 2 --mode fibers
bad 2 '--mode: .*--initiators' "$mprotect" --mode processes
bad 2 '-t: .*--mode processes' "$mprotect" --initiators 2 --mode processes -t 1
bad 2 '-t: .*from 1' "$shootdown" -t 0
bad 2 '-t: .*integer' "$shootdown" -t 1,x
bad 2 '-t: 65536 threads need' "$shootdown" -t 1,65536
bad 2 '-l: .*from 1' "$shootdown" -l 0
bad 2 "invalid option" "$shootdown" -n 33
bad 2 "got '2'" "$shootdown" 2
bad 2 '--events: .*--blame' "$shootdown" --events x
bad 2 "--events: .*''" "$shootdown" --blame --events ''
bad 2 "cannot write 'no/such/file'" "$shootdown" --blame --events no/such/file
bad 2 '--cpus: .*CPU 999999' "$shootdown" --cpus 999999
bad 2 "cannot write 'no/such/file'" "$shootdown" -o no/such/file
bad 2 '-t: .*65536' "$mprotect" -t 1,2,99999999999999999999
bad 2 "-t: .*''" "$mprotect" -t 1,,2
bad 2 '--huge: expected thp or hugetlb' "$mprotect" --huge=1G
bad 2 '--huge: expected thp or hugetlb' "$access" --huge=yes
bad 2 "got '1G'" "$mprotect" --huge 1G
bad 2 '--pattern: .*chase' "$mprotect" --pattern zigzag
bad 2 '--format: .*csv' "$mprotect" --format yaml
bad 2 'unrecognized option .*--frobnicate' "$mprotect" --frobnicate
bad 2 "got 'now'" "$mprotect" now
bad 2 '--advice: expected dontneed, .*remember' "$madvise" --advice remember
bad 2 "--advice: .*got ''" "$madvise" --advice ''
bad 2 'huge: .*4 KiB .*PAGEOUT' "$madvise" --huge --advice pageout
bad 2 'unrecognized option .*--advice' "$munmap" --advice free
bad 2 'huge: .*4 KiB .*copy on write' "$mprotect" --cow --huge
bad 2 "doesn't allow an argument" "$munmap" --remap=yes
bad 2 '--max-time: .*from 3' "$tune" --max-time 0
bad 2 '--max-time: .*number' "$tune" --max-time soon
bad 2 '--max-time: .*number' "$tune" --max-time 0x10
bad 2 '--max-time: .*number' "$tune" --max-time nan
bad 2 '--seed: ' "$tune" --seed 1.5
bad 2 "--root: .*directory, got 'no/such'" "$tune" --root no/such
bad 2 "--root: .*directory" "$tune" --root /etc/passwd
bad 2 "--objective: .*throughput, got 'both'" "$tune" --objective both
bad 2 '--knob: .*without --from' "$tune" --knob --from x.json
bad 2 '--workload: .*one of' "$tune" --workload
bad 2 '--workload: .*one of' "$tune" --workload --all --pid 1 --seconds 1
bad 2 '--workload: .*--seconds' "$tune" --workload --all
bad 2 '--pid: .*from 1 ' "$tune" --workload --pid 0 --seconds 1
bad 2 '--seconds: .*from 0.1' "$tune" --workload --all --seconds 0
bad 2 '--pid.*with --workload' "$tune" --pid 1
bad 2 "without --workload, got 'true'" "$tune" -- true
bad 2 '--undo: .*without --from' "$tune" --undo --write-sysctl
bad 2 '--apply: .*without --undo' "$tune" --undo --apply
bad 2 '--dry-run.*with --write-sysctl' "$tune" --dry-run
bad 2 '--dry-run.*with --write-sysctl' "$tune" --force --quick
bad 2 '--knob: .*without --dry-run' "$tune" --knob --force
bad 2 '--tlb-entries: .*from 1 ' "$tune" --tlb-entries 0
bad 2 '--tlb-entries: .*to 1048576' "$tune" --tlb-entries 9999999
bad 2 '--write-sysctl|unrecognized' "$tune" --write-sysctl=3
bad 2 "option.*'n'|invalid option" "$tune" -n 33
bad 2 '--verify' "$tune" --verify --from x.json
bad 2 '--cpus' "$tune" --cpus 0 --from x.json
bad 2 '--pages-max: .*from 128' "$access" --pages-max 127
bad 2 '--pages-max: .*integer' "$access" --pages-max 1e4
bad 2 '--pages-max: .*to 65536' "$access" --pages-max 99999999999999999999
bad 2 '--pattern: .*chase' "$access" --pattern zigzag
bad 2 '--max-time: .*from 2' "$access" --max-time 1.9
bad 2 '-n.* need --under' "$access" -n 33
bad 2 '--rate need --under' "$access" --rate 10
bad 2 '--under: .*mprotect' "$access" --under brk
bad 2 '-t: .*a thread' "$access" --under mprotect -t 1,0
bad 2 '--rate: .*from 10' "$access" --under mprotect --rate 9
bad 2 '--rate: .*number' "$access" --under mprotect --rate often
bad 2 '--pages-max .*not with --under' "$access" --under mprotect --pages-max 200
bad 2 '--max-time: not with' "$access" --max-time 5 --under mprotect
bad 2 '--pattern: once' "$access" --under mprotect --pattern seq --pattern chase
bad 2 "got '4096'" "$access" 4096
bad 2 '--cpus: .*CPU 999999' "$access" --cpus 999999
bad 2 "cannot write 'no/such/file'" "$access" -o no/such/file

# NUMA nodes.
bad 2 '--mem-bind: expected NUMA nodes .* got 4095' "$mprotect" --mem-bind 4095
bad 2 "--mem-bind: expected a list of NUMA nodes, got ''" \
	"$mprotect" --mem-bind ''
bad 2 "--mem-bind: expected a list of NUMA nodes, got '0-'" \
	"$mprotect" --mem-bind 0-
bad 2 '--mem-bind: node 0 is named twice|got 0' "$mprotect" --mem-bind 0,0
bad 2 '--mem-bind: expected NUMA nodes .* got 4095' "$access" --mem-bind 4095
bad 2 "--mem-bind: expected a list of NUMA nodes, got '0-'" \
	"$access" --under mprotect --mem-bind 0-
bad 2 'unrecognized option .*--mem-bind' "$shootdown" --mem-bind 0
# two_nodes COMMAND...: on a made-up machine that has a node more than this one.
two_nodes() {
	HWLOC_SYNTHETIC="numa:$((last_node + 2)) core:1 pu:1" HWLOC_THISSYSTEM=1 "$@"
}
last_node=$(sed 's/.*[-,]//' /sys/devices/system/node/online 2>/dev/null)
bad 2 "--mem-bind: expected one node without --under, got '0-1'" \
	two_nodes "$access" --mem-bind 0-1

# CPUs.
bad 2 '--cpus: ' "$mprotect" --cpus ''
bad 2 '--cpus: ' "$mprotect" --cpus 0,
bad 2 '--cpus: ' "$mprotect" --cpus 3-1
bad 2 '--cpus: ' "$mprotect" --cpus all
bad 2 '--cpus: ' "$mprotect" --cpus 0-99999999999
bad 2 '--cpus: .*CPU 999999' "$tune" --cpus 999999
allowed=$(taskset -cp $$ 2>/dev/null | sed 's/.*: //; s/[-,].*//')
last=$(taskset -cp $$ 2>/dev/null | sed 's/.*[-, ]//')
if [ -n "$allowed" ] && [ "$allowed" != "$last" ]; then
	bad 2 "--cpus: .*CPU $last" taskset -c "$allowed" "$mprotect" --cpus "$last"
else
	skip 1 'only one CPU, or no taskset'
fi

# Output.
bad 2 "cannot write 'no/such/file'" "$mprotect" -o no/such/file
bad 2 "cannot write '/'" "$tune" -o /
bad 2 "cannot write '/proc/x'" "$tune" -o /proc/x
bad 2 '-o: ' "$mprotect" -o ''
bad 1 'cannot write|standard output|No space' sh -c \
	'exec "$0" -l 10 >/dev/full' "$mprotect"

# Files for --from.
from() {
	regex=$1
	shift
	bad 2 "$regex" "$tune" --from "$@"
}

in=$tmp/in
"$simulate" >$in/good.json || exit 1
: >$in/empty.json
printf '   \n\n' >$in/blank.json
head -c 5000 $in/good.json >$in/truncated.json
echo '[1, 2, 3]' >$in/array.json
echo '{"hello": "world"}' >$in/foreign.json
echo '42' >$in/number.json
echo 'not json at all' >$in/text.json
printf '{"a": 1, "a": 2}' >$in/duplicate.json
printf '{"program": "tune", "schema": 1}\0\0' >$in/nul.json
head -c 100000 /dev/urandom >$in/noise.json
printf '\377\376{}' >$in/utf16.json
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "[" }' >$in/deep.json
echo '{"schema": 99, "program": "tune"}' >$in/schema.json
echo '{"schema": "1", "program": "tune"}' >$in/schema-text.json
echo '{"schema": 1, "program": "mprotect"}' >$in/mprotect.json
echo '{"schema": 1, "program": "tune"}' >$in/no-environment.json
echo '{"schema": 1, "program": "tune", "environment": {}}' >$in/no-record.json
sed 's/"op": *\[\[0,/"op":[[-1,/' $in/good.json >$in/negative.json
sed 's/"chase"/"zigzag"/' $in/good.json >$in/pattern.json
sed 's/"op":/"opera":/' $in/good.json >$in/member.json
sed 's/"reach": *\[/"reach":[[0, 16, "x", 1],/' $in/good.json >$in/type.json
sed 's/"seq",16,/"seq",17,/' $in/good.json >$in/one-set.json
sed 's/"search": *\[.*"op"/"search":[],"op"/' $in/good.json >$in/no-search.json
sed 's/"both": *\[\]/"both":[[0, 1, 1, 5]]/' $in/good.json >$in/both.json
sed 's/"in_force": *null/"in_force":-1/' $in/good.json >$in/in-force.json
sed 's/"knob_ceiling": *null/"knob_ceiling":"x"/' $in/good.json >$in/knob-ceiling.json

from "cannot read 'nowhere'|nowhere" nowhere
from "$in" $in
from 'empty.json:' $in/empty.json
from 'blank.json:' $in/blank.json
from 'truncated.json:' $in/truncated.json
from 'array.json' $in/array.json
from 'foreign.json' $in/foreign.json
from 'number.json' $in/number.json
from 'text.json:1' $in/text.json
from 'duplicate.json:' $in/duplicate.json
from 'nul.json:' $in/nul.json
from 'noise.json:' $in/noise.json
from 'utf16.json:' $in/utf16.json
from 'deep.json:' $in/deep.json
from 'schema 1, got 99' $in/schema.json
from 'schema-text.json' $in/schema-text.json
from 'report of tune' $in/mprotect.json
from 'environment' $in/no-environment.json
from 'record' $in/no-record.json
from 'negative.json|record.op' $in/negative.json
from 'record.refill\[' $in/pattern.json
from 'record.op' $in/member.json
from 'record.reach\[0\]' $in/type.json
from 'no-search.json.*search' $in/no-search.json
from 'record.both\[0\]: expected .*page ns' $in/both.json
from 'record.in_force: expected pages' $in/in-force.json
from 'record.knob_ceiling: expected pages' $in/knob-ceiling.json
from 'cannot write' $in/good.json -o no/such/file
from '--also: .*nowhere' $in/good.json --also nowhere
from '--also: .*array.json' $in/good.json --also $in/array.json
"$simulate" ceiling=0 >$in/costless.json
from '--also: .*costless.json: expected costs' $in/good.json \
	--also $in/costless.json
if [ "$(id -u)" -eq 0 ]; then
	skip 1 'root reads every file'
else
	cp $in/good.json $in/secret.json
	chmod 0 $in/secret.json
	from 'secret.json' $in/secret.json
fi

# Files for compare.
"$tune" --from $in/good.json --format json -o $in/report.json
sed 's/"unit": "ns"/"unit": 1/' $in/report.json >$in/unit.json
sed 's/"schema": 1/"schema": 99/' $in/report.json >$in/report-99.json
sed 's/"program": "tune"/"program": "access"/' $in/report.json >$in/other.json
sed 's/"results": \[/"results": 1, "x": [/' $in/report.json >$in/results.json
sed 's/"options":/"choices":/' $in/report.json >$in/options.json
bad 2 'expected two arguments' "$compare"
bad 2 'expected two arguments' "$compare" $in/report.json
bad 2 "got 'c.json' as well" "$compare" a.json b.json c.json
bad 2 "cannot read 'nowhere'|nowhere" "$compare" nowhere $in/report.json
bad 2 'one run on each side or at least 4, got 2 and 1' \
	"$compare" a.json,b.json c.json
bad 2 'report.json is of tune, .*other.json of access' \
	"$compare" $in/report.json $in/other.json
bad 2 'unit.json: results\[[0-9]+\]: expected labels' \
	"$compare" $in/report.json $in/unit.json
bad 2 'schema 1, got 99' "$compare" $in/report.json $in/report-99.json
bad 2 'results.json: expected a JSON report with results' \
	"$compare" $in/report.json $in/results.json
bad 2 'options.json: options and environment' \
	"$compare" $in/report.json $in/options.json
bad 2 'truncated.json:[0-9]+: expected a JSON report' \
	"$compare" $in/truncated.json $in/report.json
bad 2 'foreign.json: expected a JSON report' \
	"$compare" $in/foreign.json $in/foreign.json
bad 2 '--fail-above: .*number from 0' "$compare" --fail-above -5 a.json b.json
bad 2 '--fail-above: .*number' "$compare" --fail-above '5 %' a.json b.json
bad 2 'unrecognized option .*--seed' "$compare" --seed 1 a.json b.json
bad 2 'cannot write' "$compare" $in/report.json $in/report.json -o no/such/file

# A limit on the size of files: an error, and nothing half-written.
if [ -z "${SANITIZER-}" ]; then
	bad 1 'cannot write|too large' sh -c \
		'ulimit -f 8; exec "$0" --from "$1" --format json -o out.json' \
		"$tune" $in/good.json # SIGXFSZ would kill it
fi

# A working set that one pattern lacks is no reason to die.
"$tune" --from $in/one-set.json >"$tmp/out" 2>"$tmp/err"
is $? 0 'a working set in one pattern only'
like "$(cat "$tmp/out")" 'No factor: .*every working set' '... is the reason'

# A result that was there stays when the next one fails.
echo precious >$in/kept
"$tune" --from $in/array.json -o $in/kept 2>/dev/null
is "$(cat $in/kept)" precious 'a failed run leaves the old result'

# What cannot run here. A denied system call stands for seccomp and containers.
bad 77 'cannot run on CPU' "$deny" sched_setaffinity -- "$tune" --quick
bad 77 'cannot run on CPU' "$deny" sched_setaffinity -- "$mprotect" -l 10
bad 77 'cannot run on CPU' "$deny" sched_setaffinity -- "$access" --quick
bad 77 'cannot run on CPU' "$deny" sched_setaffinity -- "$shootdown" -l 1
bad 77 'membarrier is not permitted' "$deny" membarrier -- "$shootdown" -l 1
bad 77 'one CPU only' "$shootdown" --cpus "$allowed" -l 1
bad 77 'cannot bind memory to NUMA node 0: .*not permitted' \
	"$deny" set_mempolicy -- "$mprotect" --mem-bind 0 -l 10
bad 77 'cannot verify where memory lies: .*not permitted' \
	"$deny" move_pages -- "$mprotect" --mem-bind 0 -l 10
bad 77 'cannot bind memory to NUMA node 0: .*not permitted' \
	"$deny" set_mempolicy -- "$access" --mem-bind 0 --quick
bad 77 "cannot bind memory to NUMA node $((last_node + 1)): " \
	two_nodes "$access" --under mprotect --mem-bind 0-$((last_node + 1)) -l 9
bad 77 'cannot verify where memory lies: .*not permitted' \
	"$deny" move_pages -- "$access" --mem-bind 0 --quick
bad 77 'cannot verify where memory lies: .*not permitted' \
	"$deny" move_pages -- "$access" --under mprotect --mem-bind 0 -l 10
bad 77 'MiB' "$mprotect" -p 1000000000 -l 1
if [ -z "${SANITIZER-}" ]; then
	bad 77 'MiB|map' sh -c \
		'ulimit -v 400000; exec "$0" -p 200000 -l 1' "$mprotect"
	bad 77 'MiB|map' sh -c \
		'ulimit -v 300000; exec "$0" --huge --quick' "$access"
else
	skip 2 "$SANITIZER sanitizer needs more address space than that"
fi
bad 77 'VMAs: .*not permitted' "$deny" mprotect -- "$mprotect" -l 10
bad 77 'VMAs: .*not permitted' "$deny" mprotect -- "$access" --quick
if [ "$(id -u)" -eq 0 ]; then
	bad 77 '--trace: cannot trace: .*' setpriv --reuid=65534 \
		--clear-groups "$mprotect" --trace -l 10
else
	bad 77 '--trace: cannot trace: .*' "$mprotect" --trace -l 10
fi
bad 77 'MADV_COLD.*not permitted' "$deny" madvise-cold -- \
	"$madvise" --advice cold -l 10
bad 1 'munmap.*not permitted' "$deny" munmap-64k -- "$munmap" -n 16 -l 10
if grep -q '^SwapFree: *0 kB' /proc/meminfo; then
	bad 77 'no swap' "$madvise" --advice pageout -l 10
else
	skip 1 'there is swap'
fi
# An operation that fails is an error, whatever it took.
bad 1 'mprotect, 0 threads: .*not permitted' "$deny" mprotect-64k -- \
	"$mprotect" -n 16 -l 10

# isolated SCRIPT: in a mount namespace of its own; 0 if there can be one.
isolated() {
	unshare -m sh -c "mount -t tmpfs none $1 && $2"
}

if unshare -m sh -c 'mount -t tmpfs none /sys' 2>/dev/null; then
	ok 'without /sys' isolated /sys "'$mprotect' -l 10"
	if [ -z "${SANITIZER-}" ]; then
		isolated /proc "'$mprotect' -l 10" >"$tmp/out" 2>"$tmp/err"
		status=$?
		verdict 77 '/proc' 'without /proc: pages cannot be verified'
	else
		skip 1 "$SANITIZER sanitizer needs /proc"
	fi
else
	skip 2 'no mount namespaces'
fi

done_testing
