# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# Made-up machines with knobs, below root in the current directory.

# shellcheck disable=SC2034
ceiling=root/sys/kernel/debug/x86/tlb_single_page_flush_ceiling
vm=root/proc/sys/vm

# machine: one without a knob.
machine() {
	rm -rf root
	mkdir -p "$(dirname $ceiling)" $vm root/run root/etc root/var \
		root/proc/sys/kernel/random
	echo one >root/proc/sys/kernel/random/boot_id
}

# stock: a stock kernel. patched: one with the sysctls.
stock() {
	machine
	echo 33 >$ceiling
}
patched() {
	machine
	echo -2 >$vm/tlb_flushall_factor
	echo 0 >$vm/tlb_entries
}
