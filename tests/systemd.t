#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# systemd's own programs on what tune writes for them: systemd-sysctl and
# systemd-tmpfiles bring the files into force, and fail on no kernel that lacks
# the knob; systemd-analyze reads the unit where "make install" puts it.
#
# The knobs are files in a mount namespace, so that nothing is set here.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/knobs.sh"

tune=$top_builddir/tune
simulate=$top_builddir/tests/simulate
build=$(cd "$top_builddir" && pwd -P)
cd "$tmp" || exit 1

# real COMMAND...: run it with the files below fake in the places of the kernel's.
cat >inside.sh <<'END'
set -e
mount -t tmpfs none /proc/sys/vm
mount -t tmpfs none /sys/kernel/debug
cp -r fake/vm/. /proc/sys/vm
cp -r fake/debug/. /sys/kernel/debug
if [ "$refuses" ]; then
	mount --bind /dev/full /proc/sys/vm/tlb_entries
fi
if [ "$readonly" ]; then
	mount -o remount,ro /sys/kernel/debug
fi
status=0
"$@" >said 2>&1 || status=$?
rm -rf after
mkdir after
cp -r /proc/sys/vm after/vm
cp -r /sys/kernel/debug after/debug
exit $status
END
real() {
	unshare -m env readonly="$readonly" refuses="$refuses" sh inside.sh "$@"
	status=$?
	[ $status -eq 0 ] || sed 's/^/# /' said >&2
	return $status
}

# kernel [FACTOR E [CEILING]]: what it has.
kernel() {
	rm -rf fake
	mkdir -p fake/vm fake/debug
	readonly=
	refuses=
	[ "$1" = '' ] || echo "$1" >fake/vm/tlb_flushall_factor
	[ "$2" = '' ] || echo "$2" >fake/vm/tlb_entries
	[ "$3" = '' ] || mkdir fake/debug/x86
	[ "$3" = '' ] || echo "$3" >fake/debug/x86/tlb_single_page_flush_ceiling
}

# in_force: factor, E and ceiling afterwards.
in_force() {
	cat after/vm/tlb_flushall_factor after/vm/tlb_entries \
		after/debug/x86/tlb_single_page_flush_ceiling 2>/dev/null | xargs
}

"$simulate" live=1 knob=1 seed=3 >measured.json || exit 1
patched
"$tune" --root root --from measured.json --write-sysctl >out || exit 1
factor=$(cat $vm/tlb_flushall_factor)
entries=$(cat $vm/tlb_entries)
cp root/etc/sysctl.d/60-tlbtune.conf sysctl.conf
stock
"$tune" --root root --from measured.json --write-sysctl >out || exit 1
pages=$(cat $ceiling)
cp root/etc/tmpfiles.d/60-tlbtune.conf tmpfiles.conf
# Lines without the mark that they may fail.
sed 's/^-//' sysctl.conf >strict-sysctl.conf
sed 's/^w-/w/' tmpfiles.conf >strict-tmpfiles.conf

can=yes
unshare -m sh -c 'mount -t tmpfs none /proc/sys/vm &&
	mount -t tmpfs none /sys/kernel/debug' 2>/dev/null || can=

sysctl=/lib/systemd/systemd-sysctl
if [ ! "$can" ]; then
	skip 6 'no mount namespace with files in place of the knobs'
elif [ ! -x $sysctl ]; then
	skip 6 "no $sysctl"
else
	kernel -2 0
	ok 'systemd-sysctl brings the file into force' real $sysctl "$tmp/sysctl.conf"
	is "$(in_force)" "$factor $entries" '... factor and E'
	kernel
	ok 'a kernel without the sysctls boots all the same' \
		real $sysctl "$tmp/sysctl.conf"
	is "$(in_force)" '' '... and gets none'
	kernel -2 0
	refuses=yes
	ok 'one that refuses the value, too' real $sysctl "$tmp/sysctl.conf"
	real $sysctl "$tmp/strict-sysctl.conf"
	ok '... where a line without "-" fails' [ $? -ne 0 ]
fi

if [ ! "$can" ]; then
	skip 7 'no mount namespace with files in place of the knobs'
elif ! command -v systemd-tmpfiles >/dev/null; then
	skip 7 'no systemd-tmpfiles'
else
	set -- systemd-tmpfiles --create --boot
	kernel '' '' 33
	ok 'systemd-tmpfiles brings the file into force' real "$@" "$tmp/tmpfiles.conf"
	is "$(in_force)" "$pages" '... the ceiling'
	kernel
	ok 'a kernel without the ceiling boots all the same' \
		real "$@" "$tmp/tmpfiles.conf"
	is "$(in_force)" '' '... and gets none'
	kernel '' '' 33
	readonly=yes
	ok 'one that is locked down, too' real "$@" "$tmp/tmpfiles.conf"
	is "$(in_force)" 33 '... and keeps what it has'
	real "$@" "$tmp/strict-tmpfiles.conf"
	ok '... where a line without "-" fails' [ $? -ne 0 ]
fi

# The unit, among those of the system that it is ordered after.
units=/lib/systemd/system
if ! command -v systemd-analyze >/dev/null || [ ! -e $units/sysinit.target ]; then
	skip 4 'no systemd-analyze'
else
	(
		cd "$build" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
			"${MAKE:-make}" -s install DESTDIR="$tmp/image" >/dev/null
	)
	unit=$(find image -name tlbtune.service)
	ok 'make install puts the unit somewhere' [ -f "$unit" ]
	is "$(find image -path '*.wants/*')" '' '... not enabled'
	mkdir -p image$units
	cp -r $units/. image$units
	# The prefix may have a space, which systemd-analyze cannot have there.
	cp "$unit" image$units
	set -- systemd-analyze verify --root="$tmp/image" \
		"$tmp/image$units/tlbtune.service"
	"$@" >out 2>&1
	is "$? $(cat out)" '0 ' 'systemd-analyze has nothing to say about it'
	rm "image$(sed -n 's/^ExecStart="\(.*\)" .*/\1/p' "$unit")"
	"$@" >out 2>&1
	is "$? $(grep -c 'is not executable' out)" '1 1' \
		'... but would without the program that it runs'
fi

done_testing
