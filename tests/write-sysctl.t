#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./tune --write-sysctl, --undo and --apply on made-up machines: what is
# written, what is refused, and that everything is as before afterwards.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/knobs.sh"

tune=$top_builddir/tune
simulate=$top_builddir/tests/simulate
query=$top_builddir/tests/query
cd "$tmp" || exit 1

sysctl=root/etc/sysctl.d/60-tlbtune.conf
tmpfiles=root/etc/tmpfiles.d/60-tlbtune.conf
state=root/var/lib/tlbtune

# run OPTION...: tune on that machine, from what was measured on this CPU.
run() {
	"$tune" --root root "$@" >out 2>err
	status=$?
}

# refused REGEX NAME: it was, in one line, and nothing is written.
refused() {
	is "$status" "${3-1}" "$2: refused"
	like "$(cat err)" "$1" '... says why'
	is "$(grep -c 'nothing written' err)" 1 '... in one line'
	is "$(find root/etc root/var -type f)" '' '... and nothing is written'
}

# Both ways were measured here, as far as it says.
"$simulate" live=1 knob=1 seed=3 >measured.json || exit 1
# The same by a ceiling of 33 alone.
"$simulate" live=1 seed=3 >stock.json || exit 1
# Nothing is gained over 127 pages.
"$simulate" live=1 knob=1 seed=3 in_force=127 >good.json || exit 1
# Measured elsewhere.
sed 's/"pti": *\(true\|false\|null\)/"pti": "other"/' measured.json >pti.json
sed 's/"release": *"[^"]*"/"release": "2.6.32"/' measured.json >kernel.json
sed 's/"stepping": *[0-9]*/"stepping": 99/' measured.json >cpu.json
sed 's/"microcode": *\("[^"]*"\|null\)/"microcode": "0xbad"/' measured.json \
	>microcode.json
"$simulate" knob=1 seed=3 >nowhere.json

# A patched kernel.
patched
run --from measured.json --write-sysctl --dry-run
is $status 0 'a dry run'
like "$(cat out)" 'dry run' '... says so'
like "$(cat out)" 'old factor -2, E 0, .* new factor 4, E 2' '... what it would do'
is "$(find root/etc root/var -type f)$(cat $vm/tlb_entries)" 0 '... and does nothing'
run --from measured.json --write-sysctl
is $status 0 'written'
like "$(cat out)" 'file: /etc/sysctl.d/60-tlbtune.conf' '... says to which file'
entries=$(cat $vm/tlb_entries)
is "$(cat $vm/tlb_flushall_factor)" 4 '... the factor is in force'
ok '... and E with it' [ "$entries" -gt 1900 ]
is "$(grep -v '^#' $sysctl)" "-vm.tlb_flushall_factor = -2
-vm.tlb_entries = $entries
-vm.tlb_flushall_factor = 4" '... the file sets -2, E, factor, and may fail'
cp $sysctl before
find root -type f -exec cksum {} + | sort >sums
run --from measured.json --write-sysctl --format json
is "$(cp out out.json && "$query" out.json setting.verdict)" unchanged 'again: unchanged'
find root -type f -exec cksum {} + | sort >again
ok '... no file is' cmp sums again
# Another value: what to go back to stays what it was before the first.
run --from measured.json --write-sysctl --tlb-entries 512
is "$(cat $vm/tlb_entries) $(cat $vm/tlb_flushall_factor)" '512 2' \
	'another E, and the factor for it'
# What was stored, at boot.
echo -2 >$vm/tlb_flushall_factor
echo 0 >$vm/tlb_entries
run --apply --dry-run
is "$status $(cat $vm/tlb_flushall_factor)" '0 -2' '--apply --dry-run: nothing'
run --apply
is "$status $(cat $vm/tlb_entries) $(cat $vm/tlb_flushall_factor)" '0 512 2' \
	'--apply: what was stored'
run --apply
like "$(cat out)" 'unchanged' '... again: unchanged'
for file in pti kernel cpu microcode nowhere; do
	cp $state/choice.json kept
	echo -2 >$vm/tlb_flushall_factor
	{
		printf '{"schema": 1, "value": {"kind": "vm.tlb_flushall_factor",'
		printf ' "factor": 3, "entries": 64, "pages": 8}, "environment": '
		sed 's/.*"environment": *//; s/, *"record".*//' $file.json
		printf '}'
	} >$state/choice.json
	run --apply
	is "$status $(cat $vm/tlb_flushall_factor)" '77 -2' \
		"--apply what was measured elsewhere ($file): nothing"
	like "$(cat err)" 'another|unknown' '... says why'
	cp kept $state/choice.json
done
run --undo --dry-run
is "$(cat $vm/tlb_entries)" 512 '--undo --dry-run: nothing'
ok '... the file is there' [ -e $sysctl ]
run --undo
is "$status $(cat $vm/tlb_flushall_factor) $(cat $vm/tlb_entries)" '0 -2 0' \
	'--undo: as before the first'
is "$(find root/etc root/var -type f)" '' '... and no file is left'
run --undo
is $status 0 '--undo again'
like "$(cat out)" 'nothing to undo' '... has nothing to do'
run --apply
is $status 77 'nothing is stored, nothing applied'

# Files that were there before come back.
patched
mkdir -p root/etc/sysctl.d
echo 'vm.swappiness = 1' >$sysctl
run --from measured.json --write-sysctl
is "$status $(cat $sysctl)" '1 vm.swappiness = 1' 'a file of others: refused'
like "$(cat err)" '60-tlbtune.conf: expected a file that tune wrote' '... by name'
run --from measured.json --write-sysctl --force
is $status 0 '... replaced with --force'
run --undo
is "$(cat $sysctl)" 'vm.swappiness = 1' '... and brought back by --undo'

# A stock kernel: the ceiling, in tmpfiles.d.
stock
run --from measured.json --write-sysctl
is $status 0 'a stock kernel'
pages=$(cat $ceiling)
ok '... gets another ceiling' [ "$pages" -gt 60 ]
is "$(grep -v '^#' $tmpfiles)" \
	"w- /sys/kernel/debug/x86/tlb_single_page_flush_ceiling - - - - $pages" \
	'... kept in tmpfiles.d'
ok '... and nothing in sysctl.d' [ ! -e $sysctl ]
run --undo
is "$(cat $ceiling) $(find root/etc root/var -type f)" '33 ' '... undone'

# Refusals.
patched
run --from stock.json --write-sysctl
refused 'outside of what was measured: page by page up to 33' 'extrapolated'
run --from stock.json --write-sysctl --force
is "$status $(cat $vm/tlb_flushall_factor)" '0 4' '... written with --force'
patched
run --from good.json --write-sysctl
is "$status $(cat $vm/tlb_flushall_factor)" '0 -2' 'nothing to be gained'
like "$(cat out)" 'left alone' '... is left alone'
is "$(find root/etc root/var -type f)" '' '... and nothing written'
for file in pti kernel cpu microcode nowhere; do
	patched
	run --from $file.json --write-sysctl --force
	refused 'another|unknown' "measured elsewhere ($file)"
done
patched
"$simulate" live=1 entries=0 knob=1 >reachless.json
run --from reachless.json --write-sysctl
refused 'number of TLB entries' 'E unknown'
run --from reachless.json --write-sysctl --tlb-entries 1536
is "$status $(cat $vm/tlb_entries)" '0 1536' '... but supplied: written'
patched
sed 's/"partial": *false/"partial": true/' measured.json >partial.json
run --from partial.json --write-sysctl
refused 'interrupted' 'an interrupted run'
machine
run --from measured.json --write-sysctl
refused 'debugfs is not mounted.*what would lift' 'no knob'
like "$(cat out)" 'tlb_flushall_factor 4' '... and the recommendation is complete'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	patched
	chmod 755 .
	setpriv --reuid 65534 --clear-groups -- "$tune" --root root \
		--from measured.json --write-sysctl >out 2>err
	status=$?
	refused 'root only.*as root' 'not root'
	mkdir -p root/etc/sysctl.d && chattr +i root/etc/sysctl.d 2>/dev/null
	run --from measured.json --write-sysctl
	if [ "$status" -eq 0 ]; then
		skip 2 'nothing is denied to root here'
	else
		is "$(cat $vm/tlb_flushall_factor)" -2 'a file that cannot be written'
		is "$(find root/etc root/var -type f)" '' '... undoes the rest'
	fi
	chattr -i root/etc/sysctl.d 2>/dev/null
else
	skip 6 'not root'
fi

# Hostile files.
# hostile FILE TEXT REGEX OPTION...
hostile() {
	patched
	mkdir -p "$(dirname "root/$1")"
	printf '%s' "$2" >"root/$1"
	find root -type f -exec cksum {} + | sort >sums
	regex=$3
	name="$1: $2"
	shift 3
	run "$@"
	[ "$status" -ne 0 ] && [ "$(wc -l <err)" -eq 1 ] && grep -Eq "$regex" err
	ok "refused: $name" [ $? -eq 0 ]
	find root -type f ! -path '*/run/*' -exec cksum {} + | sort >again
	ok '... nothing is written' cmp sums again
}
value='"value": {"kind": "vm.tlb_flushall_factor", "factor": 3, "entries": 64}'
for text in '' '{' '[]' '{"schema": 2}' '{"schema": 1}' \
	'{"schema": 1, "value": {"kind": "kernel.panic"}}' \
	'{"schema": 1, "value": {"kind": "vm.tlb_flushall_factor", "factor": 99}}'; do
	hostile var/lib/tlbtune/undo.json "$text" 'undo.json' --undo
	hostile var/lib/tlbtune/choice.json "$text" 'choice.json' --apply
done
hostile var/lib/tlbtune/choice.json "{\"schema\": 1, $value}" environment --apply
hostile var/lib/tlbtune/choice.json \
	"{\"schema\": 1, $value, \"environment\": {}}" unknown --apply
for files in 'null' '{}' '{"/etc/passwd": "x", "/etc/shadow": null}' \
	'{"/etc/sysctl.d/60-tlbtune.conf": 1, "/etc/tmpfiles.d/60-tlbtune.conf": null}'; do
	patched
	mkdir -p $state
	echo "{\"schema\": 1, $value, \"files\": $files}" >$state/undo.json
	run --undo
	is "$status $(wc -l <err)" '1 1' "files: $files"
	ok '... and no other file is written' [ ! -e root/etc/passwd ]
done
hostile etc/sysctl.d/60-tlbtune.conf "$(printf 'x\001')" 'tune wrote' \
	--from measured.json --write-sysctl
patched
mkdir -p root/etc/sysctl.d
ln -s ../../target $sysctl
run --from measured.json --write-sysctl
refused 'regular file' 'a symbolic link in sysctl.d'

# The unit.
unit=$top_builddir/tuner/tlbtune.service
like "$(cat "$unit")" '^ExecStart="/.*/tlb-tune" --apply$' 'the unit runs tlb-tune'
like "$(cat "$unit")" '^SuccessExitStatus=77$' '... and does not fail elsewhere'

done_testing
