#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# check-kernel [SERIES...]: build the series, boot them, test them; TAP.
#
# Run from the build root, by "make check-kernel". Installs nothing: what is
# missing is named, and everything skipped. What each guest printed is in
# kernel-patch/vm/guests. With LONG set ("make check-kernel-long") ./tune is killed
# 50 times, not 10, and what it chooses is compared with every other choice: that
# judges measurements in an emulator, which other work on the machine can spoil.

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

long=${LONG-}
init=$top_builddir/kernel-patch/vm/init
plugin=$top_builddir/kernel-patch/vm/count.so
guests=$top_builddir/kernel-patch/vm/guests
programs="mprotect stale tune"
rm -rf "$guests"
# shellcheck source-path=SCRIPTDIR
. "$vm/guests.sh"

# say TEXT...: how far it is, in a log that may be read meanwhile.
say() {
	diag "$SECONDS s: $*"
}

# With default settings the same operations flush the same.
compare_records() {
	local cpus=$1 operations=$2 count
	# Whether an IPI is sent depends on whether the other CPU is lazy just then.
	data "$series-stock-$cpus" record | sed 's, 4/[^ ]*,,g' >"$tmp/stock"
	data "$series-default-$cpus" record | sed 's, 4/[^ ]*,,g' >"$tmp/patched"
	count=$(wc -l <"$tmp/stock")
	is "$count" "$operations" "$series: $operations operations recorded on $cpus CPU"
	ok "$series: with default settings $count operations flush as on stock, $(
		grep -o '[0-9]/' "$tmp/stock" | wc -l) flushes, $cpus CPU" \
		cmp "$tmp/stock" "$tmp/patched"
}

# compare_counts NAME: what the plugin counted is what must have been executed,
# and what the kernel's counters say.
compare_counts() {
	data "$series-$1" count >"$tmp/want"
	sed 's/^[0-9]* //' "$guests/$series-$1/plugin" |
		paste -d ' ' "$tmp/want" - >"$tmp/both"
	# number what "invlpg" w0 w1 "one" n "partial" n "full" n "invlpg" ...
	awk '{
		bad = $4 != $13 || ($5 != $14 && $5 != "-") || $7 != $13
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
	data "$series-cost-stock" cost >"$tmp/stock"
	data "$series-cost-patched" cost >"$tmp/patched"
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

# A table with factors for the CPU models that QEMU has, as a patch.
make_table() {
	local patch file=arch/x86/mm/tlb_defaults.h own=$tmp/$series/defaults
	patch=$(grep -l "^+++ b/$file\$" "$series_dir/$series"/0*.patch) || return
	"$series_dir/added-text" "$patch" "$file" >"$own.old" || return
	# EPYC is model 1 of family 0x17; max is model 107 of family 15.
	sed 's/^\t{ }$/\t{ X86_VENDOR_AMD, 0x17, 1, 0, 1536, 4 },\n\t{ X86_VENDOR_AMD, 15, 107, 0, 1536, 4 },\n&/' \
		"$own.old" >"$own.new"
	! diff -u --label "a/$file" --label "b/$file" "$own.old" "$own.new"
}

# build NAME BUILD-OPTION...: what "build" prints is in $tmp/SERIES/NAME then.
build() {
	local name=$1
	shift
	say "$series: $name"
	"$vm/build" --series "$series" "$@" >"$tmp/$series/$name.new" \
		2>"$tmp/$series/$name.log" &&
		mv "$tmp/$series/$name.new" "$tmp/$series/$name"
}

# All kernels of a series, in the order in which most of what was compiled can be
# used again.
build_all() {
	mkdir -p "$tmp/$series"
	build stock-warnings --stock --lint
	build stock --stock
	build patched-warnings --lint
	build patched
	build probe --extra-patch "$vm/probe.patch"
	make_table >"$tmp/$series/table.patch" &&
		build table --extra-patch "$tmp/$series/table.patch"
	# Its checks are of the kernel's own code, which differs little.
	[ "$series" != linux-6.1 ] || build debug --config debug
}

# built NAME: what build has left.
built() {
	cat "$tmp/$series/$1"
}

# checkpatch PATCH: what it cannot know here is left out: commits of a history
# that is not there, and that MAINTAINERS names whole directories. (What it says of
# Python is that a module is missing which it can do without.)
# shellcheck disable=SC2317 # "ok" calls it
checkpatch() {
	local source
	source=$("$vm/build" --series "$series" --source) || return
	perl "$source/scripts/checkpatch.pl" --root="$source" --strict \
		--no-summary --terse \
		--ignore FILE_PATH_CHANGES,UNKNOWN_COMMIT_ID "$1" 2>/dev/null
}

# report_build NAME
report_build() {
	[ -s "$tmp/$series/$1" ] || diag "$(cat "$tmp/$series/$1.log")"
	ok "$series: builds: $1" test -s "$tmp/$series/$1"
}

# What was built: all of it, without warnings, by a series that is clean for the
# tools of the kernel.
report_builds() {
	local log patch
	for name in stock patched probe table debug; do
		[ "$name$series" = debuglinux-6.12 ] || report_build "$name"
	done
	[ -s "$tmp/$series/stock" ] && [ -s "$tmp/$series/patched" ] || return
	for log in "$(built stock)/log" "$(built patched)/log"; do
		sed -nE 's,^.*/?([^/ ]+):[0-9]+:[0-9]+: warning: ,\1: ,p' \
			"$log" | sort
	done >"$tmp/both"
	is "$(sort "$tmp/both" | uniq -u)" "" \
		"$series: no new warning in the build"
	if report_build stock-warnings && report_build patched-warnings; then
		is "$(comm -13 "$(built stock-warnings)" \
			"$(built patched-warnings)")" "" \
			"$series: no new warning of W=1 and sparse"
	fi
	for patch in "$series_dir/$series"/0*.patch; do
		case $patch in */0000-*) continue ;; esac
		ok "$series: checkpatch --strict: ${patch##*/}" \
			checkpatch "$patch"
	done
}

# run NAME CPUS KERNEL COMMANDS [BOOT-OPTION...]: a guest of this series.
run() {
	local name=$1 cpus=$2 kernel=$3 commands=$4
	shift 4
	[ ! -s "$tmp/$series/$kernel" ] || guest "$series $name" "$cpus" \
		"$(built "$kernel")" "$commands" "$@"
}

# on VERSION: this is that series. Some guests are run on one only: what shows
# nothing new on the other, or takes long.
on() {
	[ "$series" = "linux-$1" ]
}

# What ./tune --write-sysctl sets and keeps, how good it is, and that a killed
# ./tune leaves nothing moved: guests that take long.
run_write_sysctl() {
	local kills=10
	[ ! "$long" ] || kills=50
	if on 6.12 && [ "$long" ]; then
		# In one launch of eight, at random addresses, flushing page by
		# page was seen to empty the emulated TLB. tune then says so, and
		# chooses for it.
		run "regret stock" 1 stock "regret 512 8" --append norandmaps
		run "regret" 1 patched "regret 512 8" --append norandmaps
	fi
	if on 6.12; then
		run "write patched" 1 patched "write 512 , killed $kills"
		run "write stock" 1 stock "write 1536"
	else
		run "write stock" 1 stock "write 1536 , killed $kills"
		run "write E 0" 1 patched "write 1536 0" "${skylake[@]}"
	fi
}

# boot_again NAME AGAIN KERNEL [VALUES [BOOT-OPTION...]]: boot with the file that
# ./tune wrote in the guest NAME, and expect the values, by default those that were
# in force there.
boot_again() {
	local name=$series-write-$1 again=$2 kernel=$3 values=${4-} file
	await "$name"
	shift $(($# < 4 ? 3 : 4))
	file=$(data "$name" file)
	rm -rf "$tmp/kept"
	mkdir -p "$tmp/kept${file%/*}"
	data "$name" line >"$tmp/kept$file"
	(cd "$tmp/kept" && find etc | cpio -o -H newc -R 0:0 --quiet) |
		cat "$tmp/boot" - >"$tmp/$series-$again"
	run "kept $again" 1 "$kernel" \
		"kept ${values:-$(data "$name" values)}" \
		--initramfs "$tmp/$series-$again" "$@"
}

run_second_boots() {
	local none=-1000 # of a file that is not there: knob.h
	boot_again stock stock stock
	if on 6.12; then
		boot_again patched patched patched
		# A kernel without the sysctls boots all the same.
		boot_again patched without stock "$none $none $none 33"
	else
		boot_again E-0 E-0 patched "" "${skylake[@]}"
	fi
}

run_on_one_cpu() {
	local epyc=(--cpu "EPYC,-hypervisor" --append mitigations=off)
	# What a default boot flushes comes first: nothing was set then.
	# Where mremap moves to is random otherwise, and so is what it flushes.
	run "stock 1" 1 stock "record , stock" --append norandmaps
	run "default 1" 1 patched "record , stock , kunit , sysctl" \
		--append norandmaps
	run "policy" 1 patched "policy , debugfs , stride"
	run "policy PTI" 1 patched "policy 48 , stride" --append pti=on
	run "at boot" 1 patched "boot 3" \
		--append sysctl.vm.tlb_flushall_factor=3
	run "table EPYC" 1 table "boot 4 1536" "${epyc[@]}"
	run "table max" 1 table "boot -2"
	run "count stock" 1 stock "count" --plugin "$plugin"
	run "count 1" 1 patched "count -2 -1 0 3 4 6" --plugin "$plugin"
	run "cost stock" 1 stock "cost" --icount
	run "cost patched" 1 patched "cost" --icount
	run "probe" 1 probe "probe"
	if on 6.12; then
		run "table EPYC guest" 1 table "boot -2" --cpu EPYC \
			--append mitigations=off
		run "empty table" 1 patched "boot -2" "${epyc[@]}"
	else
		run "debug 1" 1 debug \
			"kunit , sysctl , debugfs , policy 48 , stride"
	fi
}

run_on_more() {
	local mix="hugepages=16 numa=fake=2"
	local stale="put /sys/kernel/mm/ksm/run 1 , stale --seconds 2"
	local mprotect="mprotect --quick -t 1 -l 200"
	run "stock 2" 2 stock "record 200 , batch , $mprotect , $stale" \
		--append "norandmaps $mix"
	run "default 2" 2 patched \
		"record 200 , race , batch , $mprotect , $stale" \
		--append "norandmaps $mix"
	run "count 2" 2 patched "count -2 -1 0 4" --plugin "$plugin"
	run "4 CPUs" 4 patched "policy 12 , race"
	if on 6.12; then
		# Where KVM works, the CPU may have what an emulator has not.
		run "PTI 2" 2 patched "race , batch , $stale , offline" \
			--append "pti=on $mix" --accel auto
	else
		run "debug 2" 2 debug "race , batch , $stale" --append "$mix"
	fi
}

compare() {
	compare_records 1 10000
	compare_records 2 200
	compare_counts "count-stock"
	compare_counts "count-1"
	compare_counts "count-2"
	compare_costs
	is "$(grep -c 'x86/tlb: measured factor 4 of 1536 entries' \
		"$guests/$series-table-EPYC/console")" 1 \
		"$series: the kernel says which default it has taken"
}

# An E of 0 at boot: a model of which the kernel does not know it. Without AVX: boot.
skylake=(--cpu "Skylake-Client,-avx,-avx2,-fma" --append mitigations=off)

# For second boots: systemd's own programs, where they are.
# shellcheck disable=SC2046
if ! ok "initramfs" "$vm/initramfs" "$tmp/small" "$init" ||
	! ok "initramfs with programs" "$vm/initramfs" "$tmp/full" "$init" \
		"$top_builddir"/{mprotect,stale,tune,tests/simulate} ||
	! ok "initramfs of second boots" "$vm/initramfs" "$tmp/boot" "$init" \
		$(ls /lib/systemd/systemd-sysctl /usr/bin/systemd-tmpfiles \
			2>/dev/null); then
	done_testing
fi
# Side by side: much of a build is done by one CPU.
pids=()
for series; do
	build_all &
	pids+=($!)
done
wait "${pids[@]}"
for series; do
	report_builds
done
say "guests"
# Those of one CPU first, two at a time, and of these the longest.
for series; do
	run_write_sysctl
done
for series; do
	run_on_one_cpu
	run_second_boots
done
for series; do
	run_on_more
done
finish
for series; do
	compare
done
say "done"
done_testing
