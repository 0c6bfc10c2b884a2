#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What "make install" puts where: no program under its bare name, which may be
# a system call's, and nothing left behind by "make uninstall".

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_builddir" || exit 1
[ -f Makefile ] || skip_all "not in a build root"

# Only the files' names matter, so every directory goes below $tmp. The make
# that runs this test is none of the inner make's business.
inner_make() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s \
		prefix=/p exec_prefix=/p bindir=/p/bin DESTDIR="$tmp/root" \
		"$@" >&2
}

bare=$(sed -n '/^bin_PROGRAMS =/,/[^\\]$/p' "$top_srcdir/Makefile.am" |
	sed '1d; s/[\t \\]//g')
transform=$(sed -n 's/^program_transform_name = //p' Makefile | sed 's/\$\$/$/g')
programs=$(echo "$bare" | sed "$transform")

ok "make install" inner_make install
is "$(ls "$tmp/root/p/bin")" "$programs" "the programs have their names"
for program in $programs; do
	ok "$program runs from there" "$tmp/root/p/bin/$program" --version
done
pages=$(find "$tmp/root/p/share/man" -type f 2>/dev/null | sed 's,.*/,,' | sort)
if [ -f tune.1 ] || [ -f "$top_srcdir/tune.1" ]; then
	is "$pages" "$(echo "$programs" | sed 's/$/.1/' | sort)" \
		"so are the manual pages"
	is "$(find "$tmp/root/p" -name '*.1' ! -path '*/man1/*')" '' \
		"... in their directory"
else
	skip 2 "no help2man made the pages"
fi
ok "the database is installed" test -f "$tmp/root/p/share/tlbtune/cpus.json"
if [ "$transform" = 's&^&tlb-&' ]; then
	is "$(ls "$tmp/root/p/bin")" "$(echo "$bare" | sed 's/^/tlb-/')" \
		"the prefix is tlb-"
else
	skip 1 "configured with other names"
fi
ok "make uninstall" inner_make uninstall
is "$(find "$tmp/root" -type f)" "" "nothing is left behind"

ok "make install under other names" \
	inner_make program_transform_name='s,^,other-,' install
is "$(ls "$tmp/root/p/bin")" "$(echo "$bare" | sed 's/^/other-/')" \
	"the names can be chosen"

done_testing
