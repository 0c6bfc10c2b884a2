#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What can be checked of the kernel series without a kernel: that each is whole
# and signed, that all carry the same policy, and that their table is what
# gen-table makes of the database.

. "${top_srcdir:-.}/tests/tap.sh"

series_dir=$top_srcdir/kernel-patch
all_series='linux-6.1 linux-6.12 mainline'

added() {
	"$series_dir/added-text" "$@"
}

# patch_of SERIES FILE: the patch of the series that adds the file.
patch_of() {
	grep -l "^+++ b/$2\$" "$series_dir/$1"/000[1-9]-*.patch | head -n 1
}

# text_of SERIES FILE: the file as the series adds it.
text_of() {
	added "$(patch_of "$1" "$2")" "$2"
}

# Every series ---------------------------------------------------------------

for series in $all_series; do
	dir=$series_dir/$series

	ok "$series: names its base" grep -Eq '^[a-z].* [0-9a-f][0-9a-z.~+-]+$' \
		"$dir/base"

	count=0
	numbers=
	for patch in "$dir"/000[1-9]-*.patch; do
		count=$((count + 1))
		numbers="$numbers$(sed -n 's/^Subject: \[PATCH \([^]]*\)\].*/\1/p' \
			"$patch") "
	done
	want=
	i=1
	while [ $i -le $count ]; do
		want="$want$i/$count "
		i=$((i + 1))
	done
	is "$numbers" "$want" "$series: the patches are numbered without a gap"
	like "$(cat "$dir/0000-cover-letter.patch")" \
		"^Subject: \\[PATCH 0/$count\\] [^*]" "$series: a cover letter"

	unsigned=
	for patch in "$dir"/000[1-9]-*.patch; do
		sed '/^---$/q' "$patch" | grep -q '^Signed-off-by: .* <.*@.*>$' ||
			unsigned="$unsigned ${patch##*/}"
	done
	is "$unsigned" "" "$series: every patch is signed off"

	unlicensed=
	for patch in "$dir"/000[1-9]-*.patch; do
		for file in $(awk '/^--- /{new = $2 == "/dev/null"}
			/^\+\+\+ b/ && new {print substr($2, 3)}' "$patch"); do
			added "$patch" "$file" | sed 1q | grep -Eq \
				'^(//|/\*) SPDX-License-Identifier: GPL-2.0-only( \*/)?$' ||
				unlicensed="$unlicensed $file"
		done
	done
	is "$unlicensed" "" "$series: every new file begins with its licence"

	missing=
	i=1
	while [ $i -le 14 ]; do
		grep -Eq "^ +$i [A-Za-z][^:]*: " "$dir/0000-cover-letter.patch" ||
			missing="$missing $i"
		i=$((i + 1))
	done
	is "$missing" "" "$series: the cover letter answers 14 hazards"
done

# The same in all ------------------------------------------------------------

for file in tlb_policy.h tlb_policy_test.c tlb_defaults.h; do
	path=arch/x86/mm/$file
	text_of linux-6.12 "$path" >"$tmp/$file"
	ok "linux-6.12 adds $file" test -s "$tmp/$file"
	for series in linux-6.1 mainline; do
		is "$(text_of "$series" "$path")" "$(cat "$tmp/$file")" \
			"$series: the same $file as in linux-6.12"
	done
done

# descriptors SERIES: code, type and entries of what it adds to the table of CPUID
# leaf 2, which is another file in mainline.
descriptors() {
	sed -nE 's/^\+.*(0x[0-9a-f]{2}),[[:space:]]*([A-Z0-9_]+),[[:space:]]*([0-9]+).*/\1 \2 \3/p' \
		"$series_dir/$1"/0003-*.patch
}

descriptors linux-6.12 >"$tmp/descriptors"
is "$(wc -l <"$tmp/descriptors")" 4 "linux-6.12 adds 4 descriptors"
for series in linux-6.1 mainline; do
	is "$(descriptors $series)" "$(cat "$tmp/descriptors")" \
		"$series: the same descriptors as in linux-6.12"
done

# A file that several patches touch is not what its first one adds.
changed=
for series in $all_series; do
	for file in tlb_policy.h tlb_policy_test.c tlb_defaults.h; do
		n=$(cat "$series_dir/$series"/000[1-9]-*.patch 2>/dev/null |
			grep -c "^+++ b/arch/x86/mm/$file\$")
		[ "$n" -le 1 ] || changed="$changed $series:$file"
	done
done
is "$changed" "" "what is compared is not changed by a later patch"

like "$(added "$(patch_of linux-6.12 arch/x86/mm/tlb_policy.h)" none 2>&1)" \
	'does not add none' "added-text: a file that the patch has not"

# The table ------------------------------------------------------------------

if ! command -v jq >/dev/null; then
	skip 36 "jq is not installed"
	done_testing
fi

gen_table() {
	"$series_dir/gen-table" "$@"
}

# rows DATABASE: what is between the braces of the table.
rows() {
	gen_table "$1" | sed '1,/^static/d;/^\t{ }$/,$d'
}

is "$(gen_table)" "$(cat "$tmp/tlb_defaults.h")" \
	"the series carry the table of the database"

echo '{"schema": 1, "kind": "tlbtune-cpus", "records": []}' >"$tmp/empty"
nothing='	/* Nothing has been measured yet. */'
is "$(rows "$tmp/empty")" "$nothing" "an empty database, an empty table"

# record CHANGE: a database with one record of bare metal, changed by jq.
record() {
	jq "$1" >"$tmp/database" <<'END'
{
  "schema": 1,
  "kind": "tlbtune-cpus",
  "records": [
    {
      "id": "GenuineIntel-6-167-1-bare-pcid-invpcid",
      "identity": { "vendor": "GenuineIntel", "family": 6, "model": 167,
                    "stepping": 1, "core_type": null },
      "condition": { "guest": false, "hypervisor": null, "pti": false,
                     "pcid": true, "invpcid": true, "invlpgb": false,
                     "pv_tlb_flush": null },
      "entries": { "estimate": 2044.6 },
      "page_flush_empties_tlb": false,
      "choice": { "factor": 5 },
      "raw": { "partial": false, "quick": false }
    }
  ]
}
END
}

record .
is "$(rows "$tmp/database")" "	{ X86_VENDOR_INTEL, 6, 167, TLB_PCID | TLB_INVPCID, 2045, 5 }, /* GenuineIntel-6-167-1-bare-pcid-invpcid */" \
	"a record from bare metal is a row"
record '.records[0].identity += {vendor: "AuthenticAMD", family: 26, model: 2} |
	.records[0].condition += {pti: true, invlpgb: true, pcid: false,
	invpcid: false} | .records[0].choice.factor = -1'
is "$(rows "$tmp/database" | sed 's,/\*.*,,')" \
	"	{ X86_VENDOR_AMD, 26, 2, TLB_PTI | TLB_INVLPGB, 2045, -1 }, " \
	"other conditions and factor -1"
record '.records[0].condition |= map_values(if . == true then false else . end)'
is "$(rows "$tmp/database" | cut -d , -f 4)" " 0" "no condition is 0"

# none CHANGE NAME: no row with that change.
none() {
	record "$1"
	is "$(rows "$tmp/database")" "$nothing" "no row: $2"
}

none '.records[0].condition.guest = true' "a guest"
none '.records[0].condition.guest = null' "perhaps a guest"
none '.records[0].condition.hypervisor = "KVMKVMKVM"' "a hypervisor"
none '.records[0].condition.pti = null' "PTI is unknown"
none '.records[0].condition.invlpgb = null' "INVLPGB is unknown"
none '.records[0].raw.partial = true' "interrupted"
none '.records[0].raw.quick = true' "quick"
none '.records[0].identity.core_type = "performance"' "a hybrid part"
none '.records[0].page_flush_empties_tlb = true' "a flush empties the TLB"
none '.records[0].page_flush_empties_tlb = null' "a flush may empty the TLB"
none '.records[0].choice.factor = null' "no choice"
none '.records[0].choice.factor = 17' "a factor out of range"
none '.records[0].entries.estimate = null' "the entries are unknown"
none '.records[0].identity.vendor = "SomeoneElse"' "an unknown vendor"

record '.records += [.records[0] | .id = "other-stepping" |
	.identity.stepping = 2 | .entries.estimate = 2047]'
is "$(rows "$tmp/database" | grep -c X86_VENDOR)" 1 "two that agree, one row"
record '.records += [.records[0] | .id = "other-stepping" |
	.identity.stepping = 2 | .choice.factor = 4]'
is "$(rows "$tmp/database")" \
	"	/* Different results: GenuineIntel-6-167-1-bare-pcid-invpcid, other-stepping */" \
	"two that do not agree, no row"
record '.records += [.records[0] | .id = "with-pti" | .condition.pti = true]'
is "$(rows "$tmp/database" | grep -c X86_VENDOR)" 2 "two conditions, two rows"

# gen-table replaces the table in the patch, and nothing else.
last=$(patch_of linux-6.12 arch/x86/mm/tlb_defaults.h)
# A copy that can be written to, whatever the tree is.
cat "$last" >"$tmp/last.patch"
ok "gen-table --update" gen_table --update "$tmp/last.patch" "$tmp/database"
is "$(added "$tmp/last.patch" arch/x86/mm/tlb_defaults.h)" \
	"$(gen_table "$tmp/database")" "... puts the table into the patch"
if command -v git >/dev/null; then
	mkdir "$tmp/tree"
	(cd "$tmp/tree" && git apply --include=arch/x86/mm/tlb_defaults.h \
		"$tmp/last.patch")
	is "$(cat "$tmp/tree/arch/x86/mm/tlb_defaults.h")" \
		"$(gen_table "$tmp/database")" "... which applies"
else
	skip 1 "git is not installed"
fi
gen_table --update "$tmp/last.patch"
ok "... and the way back is the way back" cmp "$tmp/last.patch" "$last"

# Bad input ------------------------------------------------------------------

# refused NAME TEXT COMMAND...: exit status 2 and one line that says TEXT.
refused() {
	name=$1
	text=$2
	shift 2
	said=$("$@" 2>&1)
	is "$?: $(printf '%s\n' "$said" | wc -l)" "2: 1" "$name: refused"
	like "$said" "$text" "$name: with the reason"
}

echo '{"records": [' >"$tmp/broken"
refused "no JSON" "broken: expected a database" gen_table "$tmp/broken"
refused "no file" "absent: cannot be read" gen_table "$tmp/absent"
refused "no database" "expected a database" gen_table \
	"$top_srcdir/data/history.json"
refused "no patch" "absent: no such file" gen_table --update "$tmp/absent"
refused "another patch" "does not add tlb_defaults.h" gen_table --update \
	"$tmp/broken"

done_testing
