#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What can be checked of the sources without running them.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1

# The project's files, one a line: those in git, and new ones that git does not
# ignore; without git, those in our directories that no build makes.
in_git=
if [ -e .git ] && git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	in_git=yes
	git ls-files --cached --others --exclude-standard >"$tmp/listed"
else
	find .ci .clang-format Makefile.am bench ci configure.ac data \
		kernel-patch m4 quickstart tests tuner -type f ! -name '*.[ao]' \
		! -name '*.Po' ! -name '*.log' ! -name '*.trs' \
		! -name .dirstamp ! -name pkg.m4 2>/dev/null >"$tmp/listed"
fi

# text FILE: it is text. Built tests bear the names of sources.
text() {
	LC_ALL=C.UTF-8 grep -Iq . "$1"
}

# offenders NAME TEXT: a test that TEXT, a list of what is wrong, is empty.
offenders() {
	is "$2" "" "$1"
}

# A file may be listed and gone; a built test bears the name of a script.
while read -r file; do
	[ -f "$file" ] && text "$file" && echo "$file"
done <"$tmp/listed" >"$tmp/files"
grep -E '^(bench|tuner|tests|kernel-patch/vm)/.*\.[ch]$' "$tmp/files" >"$tmp/c"
ok "there are C files" test -s "$tmp/c"

# The licence is in the first line, or in the second after a #! or <?xml.
grep -Ev '\.(md|json|tsv|txt|config|patch)$|^COPYING$|README$|^tests/machines/' "$tmp/files" \
	>"$tmp/sources"
offenders "every source file begins with its licence" "$(
	while read -r file; do
		case $file in
		kernel-patch/*) licence=GPL-2.0-only ;;
		*) licence=GPL-2.0-or-later ;;
		esac
		first=$(sed -n '1{/^#!/!{/^<?xml/!{p;q;};};};2{p;q;}' "$file")
		case $first in
		"/* SPDX-License-Identifier: $licence */") ;;
		"// SPDX-License-Identifier: $licence") ;;
		"# SPDX-License-Identifier: $licence") ;;
		"dnl SPDX-License-Identifier: $licence") ;;
		"<!-- SPDX-License-Identifier: $licence -->") ;;
		*) echo "$file" ;;
		esac
	done <"$tmp/sources"
)"

offenders "every C file includes config.h first" "$(
	grep '\.c$' "$tmp/c" | while read -r file; do
		[ "$(grep -m 1 '^#include' "$file")" = "#include <config.h>" ] ||
			echo "$file"
	done
)"

offenders "no setlocale: numbers are printed and read with a point" "$(
	xargs grep -nE '\bsetlocale *\(' <"$tmp/c"
)"

# A cpu_set_t ends at CPU 1023. CPU_ALLOC and the _S macros do not.
offenders "no CPU set of a fixed size" "$(
	xargs grep -nE '\bcpu_set_t +[a-z_]+ *[;=,[]|\bCPU_(ZERO|SET|CLR|ISSET|COUNT|SETSIZE) *\(|\bCPU_SETSIZE\b|sizeof *\(cpu_set_t\)' <"$tmp/c"
)"

offenders "no assert with an effect" "$(
	xargs grep -nE '\bassert *\(.*(\+\+|--|[^=!<>]=[^=])' <"$tmp/c"
)"

if command -v clang-format >/dev/null; then
	ok "clang-format has nothing to change" \
		xargs clang-format --dry-run --Werror <"$tmp/c"
else
	skip 1 "clang-format is not installed"
fi

grep -E '\.(sh|t)$|^quickstart$|^ci/[a-z]*$|^\.ci/run$|^kernel-patch/vm/[a-z-]*$' "$tmp/sources" >"$tmp/scripts"
if command -v shellcheck >/dev/null; then
	ok "shellcheck has nothing to say" \
		xargs shellcheck -x --severity=warning <"$tmp/scripts"
else
	skip 1 "shellcheck is not installed"
fi

# words VARIABLE: the value of a list of Makefile.am.
words() {
	sed -n "/^$1 =/,/[^\\\\]\$/p" Makefile.am | sed '1d;s/[\t \\]//g'
}

offenders "Makefile.am names every C file" "$(
	while read -r file; do
		grep -qE "(^|[[:space:]=])$file( |\$)" Makefile.am || echo "$file"
	done <"$tmp/c"
)"

offenders "the lists of Makefile.am are sorted" "$(
	for list in bin_PROGRAMS bench_libbench_a_SOURCES \
		tuner_libtuner_a_SOURCES C_TESTS HELPERS FUZZERS VM_BINARIES \
		PROGRAM_TESTS TREE_TESTS; do
		words $list | sort -c 2>&1
	done
)"

offenders "the README names every program" "$(
	for program in $(words bin_PROGRAMS); do
		grep -q "\./$program" README.md || echo "$program"
	done
)"

if [ "$in_git" ]; then
	offenders "git ignores every program" "$(
		for program in $(words bin_PROGRAMS) $(words C_TESTS) \
			$(words HELPERS) $(words FUZZERS) \
			$(words VM_BINARIES); do
			git check-ignore -q "$program" || echo "$program"
		done
	)"
	offenders "git ignores no source" "$(git ls-files -ci --exclude-standard)"
else
	skip 2 "not in git"
fi

done_testing
