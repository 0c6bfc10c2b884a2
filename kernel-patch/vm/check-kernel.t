#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# check-kernel [SERIES...]: build the series, boot them, test them; TAP.
#
# Run from the build root, by "make check-kernel". Installs nothing: what is
# missing is named, and everything skipped. What each guest printed is in
# kernel-patch/vm/guests.

vm=$(cd "$(dirname "$0")" && pwd -P)
top_srcdir=$vm/../..
# shellcheck source-path=SCRIPTDIR
. "$vm/common.sh"
. "$top_srcdir/tests/tap.sh"

if [ $# -eq 0 ]; then
	for directory in "$series_dir"/linux-*; do
		set -- "$@" "${directory##*/}"
	done
fi
missing=$("$vm/missing-packages" | tr '\n' ' ')
[ -z "$missing" ] ||
	skip_all "run ./quickstart check-kernel: missing: ${missing% }"

guests=$top_builddir/kernel-patch/vm/guests
init=$top_builddir/kernel-patch/vm/init
plugin=$top_builddir/kernel-patch/vm/count.so
programs="mprotect tune"
cores=$(getconf _NPROCESSORS_ONLN)
rm -rf "$guests"
mkdir -p "$guests"

# say TEXT...: how far it is, in a log that may be read meanwhile.
say() {
	diag "$SECONDS s: $*"
}

# Guests run side by side as far as there are cores for their CPUs.
declare -A weight title
names=()
busy=0

# reap: wait for one guest to end.
reap() {
	local pid
	wait -n -p pid
	busy=$((busy - ${weight[$pid]:-0}))
}

# guest NAME CPUS KERNEL COMMANDS [BOOT-OPTION...]: start one.
guest() {
	local name=$series-${1// /-} cpus=$2 kernel=$3 commands=$4
	title[$name]="$series $1"
	shift 4
	names+=("$name")
	while [ "$busy" -gt 0 ] && [ $((busy + cpus)) -gt "$cores" ]; do
		reap
	done
	busy=$((busy + cpus))
	{
		"$vm/boot" --kernel "$kernel/bzImage" \
			--initramfs "$tmp/initramfs" --init-args "$commands" \
			--output "$guests/$name" --cpus "$cpus" "$@"
		echo $? >"$guests/$name.status"
	} >"$guests/$name.verdict" 2>&1 &
	weight[$!]=$cpus
}

# The tests of a guest as lines "STATUS NAME", 0 for passed, and "#" comments.
# A command must have come to its own end, with the tests that it has planned;
# of a program, which has none, the exit status is the test.
translate() {
	awk -v programs=" $programs " '
	function result(status, name) { print status " " command ": " name }
	/^begin / {
		command = $2; run = 0; plan = -1; failed = 0; next
	}
	/^end [^ ]+ [0-9]+$/ {
		if (index(programs, " " command " ")) {
			result($3 != 0, "exit status " $3)
		} else if (plan != run || ($3 != 0) != (failed > 0)) {
			result(1, "did not end well: " run " tests, planned " \
				plan ", exit status " $3)
		}
		next
	}
	/^ok [0-9]+ # SKIP/ { run++; sub(/^ok [0-9]+ # /, ""); print "S " $0; next }
	/^ok [0-9]+ - / { run++; sub(/^ok [0-9]+ - /, ""); result(0, $0); next }
	/^not ok [0-9]+ - / {
		run++; failed++; sub(/^not ok [0-9]+ - /, ""); result(1, $0); next
	}
	/^1\.\.0 # SKIP/ { plan = 0; sub(/^1\.\.0 # /, ""); print "S " $0; next }
	/^1\.\.[0-9]+$/ { plan = substr($0, 4); next }
	/^Bail out!/ { failed++; result(1, $0); next }
	/^#/ { print }
	' "$1"
}

# report NAME: the tests of a guest that has ended with that status.
report() {
	local name=$1 status=$2 line verdict
	sed 's/^/# /' "$guests/$name.verdict" >&2
	tap_report "$status" \
		"${title[$name]}: all commands end, the kernel log is clean"
	while read -r verdict line; do
		case $verdict in
		S) skip 1 "${line#SKIP }: ${title[$name]}" ;;
		'#'*) echo "# $line" >&2 ;;
		*) tap_report "$verdict" "${title[$name]}, $line" ;;
		esac
	done < <(translate "$guests/$name/tests")
}

# finish: wait for all guests of a series and report them, in their order.
finish() {
	local name
	wait
	for name in "${names[@]}"; do
		report "$name" "$(cat "$guests/$name.status")"
	done
	names=()
	busy=0
}

# data NAME KIND: what a guest printed for us.
data() {
	sed -n "s/^data: $2 //p" "$guests/$series-$1/tests"
}

# With default settings the same operations flush the same.
compare_records() {
	local cpus=$1 operations=$2 count
	# Whether an IPI is sent depends on whether the other CPU is lazy just then.
	data "stock-$cpus" record | sed 's, 4/[^ ]*,,g' >"$tmp/stock"
	data "default-$cpus" record | sed 's, 4/[^ ]*,,g' >"$tmp/patched"
	count=$(wc -l <"$tmp/stock")
	is "$count" "$operations" "$series: $operations operations recorded on $cpus CPU"
	ok "$series: with default settings $count operations flush as on stock, $(
		grep -o '[0-9]/' "$tmp/stock" | wc -l) flushes, $cpus CPU" \
		cmp "$tmp/stock" "$tmp/patched"
}

# compare_counts NAME: what the plugin counted is what must have been executed,
# and what the kernel's counters say.
compare_counts() {
	data "$1" count >"$tmp/want"
	sed 's/^[0-9]* //' "$guests/$series-$1/plugin" |
		paste -d ' ' "$tmp/want" - >"$tmp/both"
	# number what "invlpg" w0 w1 "one" n "partial" n "full" n "invlpg" ...
	awk '{
		bad = $4 != $13 || $5 != $14 || $7 != $13
		# A stock kernel counts no decisions.
		if ($9 >= 0)
			bad = bad || $9 != ($13 > 0) || $11 != ($13 == 0)
		if (bad)
			print
	}' "$tmp/both" >"$tmp/bad"
	ok "$series: $1: INVLPG executed: n page by page, 0 in full, as the counters say: $(
		wc -l <"$tmp/want") flushes" \
		test -s "$tmp/want" -a ! -s "$tmp/bad"
	is "$(wc -l <"$guests/$series-$1/plugin")" "$(wc -l <"$tmp/want")" \
		"$series: $1: every flush was seen by the plugin"
	head -n 5 "$tmp/bad" >&2
}

# Instructions of an mprotect: the median over the rounds, of which the first is
# for warming up.
compare_costs() {
	data cost-stock cost >"$tmp/stock"
	data cost-patched cost >"$tmp/patched"
	paste -d ' ' "$tmp/stock" "$tmp/patched" | awk '$2 > 0' | awk -v series="$series" '
	function median(x, n, i, j, t) {
		for (i = 2; i <= n; i++) {
			t = x[i]
			for (j = i - 1; j > 0 && x[j] > t; j--)
				x[j + 1] = x[j]
			x[j + 1] = t
		}
		return x[int((n + 1) / 2)]
	}
	$1 != $4 || $2 != $5 { exit 1 }
	{
		if (!($1 in rounds))
			order[++sizes] = $1
		rounds[$1]++
		stock[$1, rounds[$1]] = $3
		patched[$1, rounds[$1]] = $6
	}
	END {
		print "instructions of an mprotect, " series ", default settings:"
		print "  pages    rounds     stock   patched         %"
		for (i = 1; i <= sizes; i++) {
			n = order[i]
			for (k = 1; k <= rounds[n]; k++) {
				s[k] = stock[n, k]
				p[k] = patched[n, k]
			}
			before = median(s, rounds[n])
			after = median(p, rounds[n])
			excess = 100 * (after / before - 1)
			printf "%7d %9d %9d %9d %+9.2f\n", n, rounds[n],
				before, after, excess
			if (excess > 0.5)
				bad = 1
		}
		exit sizes != 4 || bad
	}' >"$tmp/table"
	tap_report $? "$series: an mprotect takes at most 0.5 % more instructions"
	sed 's/^/# /' "$tmp/table" >&2
}

# checkpatch DIRECTORY PATCH: what it cannot know here is left out: commits of a
# history that is not there, and that MAINTAINERS names whole directories. (What it
# says of Python is that a module is missing which it can do without.)
checkpatch() {
	perl "$1/scripts/checkpatch.pl" --root="$1" --strict --no-summary \
		--terse --ignore FILE_PATH_CHANGES,UNKNOWN_COMMIT_ID "$2" \
		2>/dev/null
}

# The series is clean for the tools of the kernel.
lint() {
	local patched stock source patch
	patched=$("$vm/build" --series "$series" --lint) &&
		stock=$("$vm/build" --series "$series" --stock --lint) &&
		comm -13 "$stock" "$patched" >"$tmp/new" ||
		echo "the files were not compiled" >"$tmp/new"
	is "$(cat "$tmp/new")" "" "$series: no new warning of W=1 and sparse"
	source=$("$vm/build" --series "$series" --source)
	for patch in "$series_dir/$series"/0*.patch; do
		case $patch in */0000-*) continue ;; esac
		ok "$series: checkpatch --strict: ${patch##*/}" \
			checkpatch "$source" "$patch"
	done
}

# kernel VARIABLE BUILD-OPTION...: the directory of a kernel, built if need be.
kernel() {
	local variable=$1 directory
	shift
	say "$series: kernel: $*"
	if directory=$("$vm/build" --series "$series" "$@"); then
		printf -v "$variable" %s "$directory"
		tap_report 0 "$series: builds: ${variable}"
	else
		tap_report 1 "$series: builds: ${variable}"
		return 1
	fi
}

# New warnings of a whole build.
compare_warnings() {
	for log in "$stock" "$patched"; do
		sed -nE 's,^.*/?([^/ ]+):[0-9]+:[0-9]+: warning: ,\1: ,p' \
			"$log/log" | sort
	done >"$tmp/both"
	is "$(sort "$tmp/both" | uniq -u)" "" "$series: no new warning in the build"
}

# A table with factors for the CPU models that QEMU has.
make_table() {
	local source file=arch/x86/mm/tlb_defaults.h
	source=$("$vm/build" --series "$series" --source) || return 1
	mkdir -p "$tmp/a/arch/x86/mm" "$tmp/b/arch/x86/mm"
	cp "$source/$file" "$tmp/a/$file"
	# EPYC is model 1 of family 0x17; max is model 107 of family 15.
	sed 's/^\t{ }$/\t{ X86_VENDOR_AMD, 0x17, 1, 0, 1536, 4 },\n\t{ X86_VENDOR_AMD, 15, 107, 0, 1536, 4 },\n&/' \
		"$source/$file" >"$tmp/b/$file"
	(cd "$tmp" && diff -u "a/$file" "b/$file" >"$tmp/table.patch")
	[ -s "$tmp/table.patch" ]
}

# boot_again NAME AGAIN KERNEL VALUES [BOOT-OPTION...]: boot with the file that
# ./tune wrote in the guest NAME, and expect the values.
boot_again() {
	local name=$1 again=$2 kernel=$3 values=$4 file
	shift 4
	file=$(data "$name" file)
	rm -rf "$tmp/kept"
	mkdir -p "$tmp/kept${file%/*}"
	data "$name" line >"$tmp/kept$file"
	(cd "$tmp/kept" && find etc | cpio -o -H newc -R 0:0 --quiet) |
		gzip -1n | cat "$tmp/boot" - >"$tmp/initramfs-$again"
	guest "kept $again" 1 "$kernel" "kept $values" \
		--initramfs "$tmp/initramfs-$again" "$@"
}

# check_write_sysctl STOCK PATCHED: what ./tune --write-sysctl sets and keeps,
# how good it is, and that a killed ./tune leaves nothing moved.
check_write_sysctl() {
	local stock=$1 patched=$2 none=-1000 # of a file that is not there: knob.h
	local skylake=(--cpu Skylake-Client --append mitigations=off)

	# In one launch of eight, at random addresses, flushing page by page was
	# seen to empty the emulated TLB. tune then says so, and chooses for it.
	guest "regret stock" 1 "$stock" "regret 512 8" --append norandmaps
	guest "regret" 1 "$patched" "regret 512 8" --append norandmaps
	guest "write stock" 1 "$stock" "write 1536 , killed 10"
	guest "write" 1 "$patched" "write 512 , killed 50"
	guest "write E 0" 1 "$patched" "write 1536 0" "${skylake[@]}"
	finish
	boot_again write-stock stock "$stock" "$(data write-stock values)"
	boot_again write patched "$patched" "$(data write values)"
	boot_again write-E-0 E-0 "$patched" "$(data write-E-0 values)" \
		"${skylake[@]}"
	# A kernel without the sysctls boots all the same.
	boot_again write without "$stock" "$none $none $none 33"
	finish
}

# Everything about one series.
check_series() {
	local stock patched debug probe table
	series=$1
	kernel stock --stock && kernel patched || return
	compare_warnings
	# Its checks are of the kernel's own code, which differs little.
	debug=
	[ "$series" != linux-6.1 ] || kernel debug --config debug || return
	kernel probe --extra-patch "$vm/probe.patch" || return
	ok "$series: a table for the test" make_table
	kernel table --extra-patch "$tmp/table.patch" || return
	say "$series: warnings"
	lint
	say "$series: guests"

	# What a default boot flushes comes first: nothing was set then.
	# Where mremap moves to is random otherwise, and so is what it flushes.
	guest "stock 1" 1 "$stock" "record , stock" --append norandmaps
	guest "default 1" 1 "$patched" "record , stock , kunit , sysctl" \
		--append norandmaps
	guest "policy" 1 "$patched" "policy , debugfs , stride"
	guest "policy PTI" 1 "$patched" "stock , policy 48 , stride" \
		--append pti=on
	guest "at boot" 1 "$patched" "boot 3" \
		--append sysctl.vm.tlb_flushall_factor=3
	guest "table EPYC" 1 "$table" "boot 4 1536" --cpu EPYC,-hypervisor --append mitigations=off
	guest "table EPYC guest" 1 "$table" "boot -2" --cpu EPYC --append mitigations=off
	guest "table max" 1 "$table" "boot -2"
	guest "empty table" 1 "$patched" "boot -2" --cpu EPYC,-hypervisor --append mitigations=off
	guest "count stock" 1 "$stock" "count" --plugin "$plugin"
	guest "count 1" 1 "$patched" "count -2 -1 0 3 4 6" --plugin "$plugin"
	guest "cost stock" 1 "$stock" "cost" --icount
	guest "cost patched" 1 "$patched" "cost" --icount
	guest "stock 2" 2 "$stock" \
		"record 1000 , batch , mprotect --quick -t 1 , offline , tune --quick" \
		--append norandmaps
	guest "default 2" 2 "$patched" \
		"record 1000 , mprotect --quick -t 1 , tune --quick" \
		--append norandmaps
	guest "race" 2 "$patched" "race , batch"
	guest "race PTI" 2 "$patched" "race , batch" --append pti=on
	guest "count 2" 2 "$patched" "count -2 -1 0 4" --plugin "$plugin"
	guest "probe" 1 "$probe" "probe"
	[ -z "$debug" ] || guest "debug" 2 "$debug" \
		"kunit , sysctl , debugfs , policy 48 , stride , race , batch"
	guest "4 CPUs" 4 "$patched" "policy 48 , race"
	finish
	check_write_sysctl "$stock" "$patched"
	compare_records 1 10000
	compare_records 2 1000
	compare_counts "count-stock"
	compare_counts "count-1"
	compare_counts "count-2"
	compare_costs
	is "$(grep -c 'x86/tlb: measured factor 4 of 1536 entries' \
		"$guests/$series-table-EPYC/console")" 1 \
		"$series: the kernel says which default it has taken"
}

ok "initramfs" "$vm/initramfs" "$tmp/initramfs" "$init" \
	"$top_builddir/mprotect" "$top_builddir/tune" \
	"$top_builddir/tests/simulate" || done_testing
# For second boots: systemd's own programs, where they are.
# shellcheck disable=SC2046
ok "initramfs of second boots" "$vm/initramfs" "$tmp/boot" "$init" \
	$(ls /lib/systemd/systemd-sysctl /usr/bin/systemd-tmpfiles 2>/dev/null) ||
	done_testing
for series; do
	check_series "$series"
done
say "done"
done_testing
