#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every program has a manual page, which has all of its options, says what the
# numbers and the exit status are, and renders without a warning.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_builddir" || exit 1
programs=$(sed -n '/^bin_PROGRAMS =/,/[^\\]$/p' "$top_srcdir/Makefile.am" |
	sed '1d; s/[\t \\]//g')

# page PROGRAM: its file, here or where the tarball has it.
page() {
	if [ -f "$1.1" ]; then
		echo "$1.1"
	else
		echo "$top_srcdir/$1.1"
	fi
}

[ -f "$(page tune)" ] || command -v help2man >/dev/null ||
	skip_all "no help2man made the pages"

# silent NAME COMMAND...: it succeeds and prints nothing, on stderr neither.
silent() {
	name=$1
	shift
	if "$@" >"$tmp/said" 2>&1 && ! [ -s "$tmp/said" ]; then
		is '' '' "$name"
	else
		is "$(cat "$tmp/said")" '' "$name" || :
	fi
}

rendered() {
	LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$1" \
		>/dev/null
}

for program in $programs; do
	file=$(page "$program")
	ok "$program has a page" test -s "$file" || continue
	# As it reads: no font changes, no escapes.
	sed 's/\\f[A-Z]//g; s/\\[,\/]//g; s/\\//g' "$file" >"$tmp/text"

	"./$program" --help | grep -oE '^ +(-., )?--[a-z-]+' |
		sed 's/.*--/--/' >"$tmp/options"
	missing=
	while read -r option; do
		grep -qE -- "(^|[^a-z-])$option([^a-z-]|\$)" "$tmp/text" ||
			missing="$missing $option"
	done <"$tmp/options"
	ok "$program: there are options" test -s "$tmp/options"
	is "$missing" '' "$program: each of them is in the page"

	missing=
	for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES \
		'EXIT STATUS' 'SEE ALSO'; do
		grep -qE "^\.SH \"?$section\"?\$" "$file" ||
			missing="$missing $section"
	done
	is "$missing" '' "$program: all sections"
	missing=
	for other in $programs; do
		sed -n '/^\.SH "SEE ALSO"/,$p' "$tmp/text" |
			grep -q "tlb-$other (1)" || missing="$missing $other"
	done
	is "$missing" '' "$program: the other programs are named"
	like "$(sed -n '/^\.SH NAME/{n;p;}' "$tmp/text")" \
		"^tlb-$program - [a-zA-Z]" "$program: its name, for whatis"
	is "$(sed -n '/^\.RS/,/^\.RE/p' "$tmp/text" |
		awk 'length > 100' | head -n 1)" '' \
		"$program: no example is too wide"

	if command -v groff >/dev/null; then
		silent "$program: groff has no warning" \
			groff -Kutf8 -man -ww -z -Tutf8 "$file"
	else
		skip 1 'groff is not installed'
	fi
	if man --help 2>/dev/null | grep -q -- --warnings; then
		silent "$program: man has no warning" rendered "$file"
	else
		skip 1 'man is not installed, or not the one of man-db'
	fi
	if command -v mandoc >/dev/null; then
		silent "$program: mandoc has no warning" \
			mandoc -Tlint -Wwarning "$file"
	else
		skip 1 'mandoc is not installed'
	fi
done

done_testing
