#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ./tune --report and --plot: a page that needs nothing else, and every number
# in it is the one of the JSON report.

. "${top_srcdir:-.}/tests/tap.sh"

tune=$top_builddir/tune
simulate=$top_builddir/tests/simulate
query=$top_builddir/tests/query
cd "$tmp" || exit 1

# compare NAME MIN: cells, lines "PATH SCALE NUMBER", against out.json; at least
# MIN of them.
compare() {
	# Paths are words to be split.
	# shellcheck disable=SC2046
	"$query" out.json $(cut -d' ' -f1 cells) >values
	paste -d' ' cells values >both
	is "$(awk '{
		digits = index($3, ".") ? length($3) - index($3, ".") : 0
		if ($4 !~ /^-?[0-9]/ || sprintf("%.*f", digits, $2 * $4) != $3)
			print
	}' both)" '' "$1: the numbers are those of the JSON report"
	ok "... $(wc -l <cells) of them" [ "$(wc -l <cells)" -gt "$2" ]
}

# check NAME MIN: the text of page.html.
check() {
	grep -o 'data-json="[^"]*"[^>]*>[^<]*<' page.html |
		sed 's/data-json="\([^"]*\)" data-scale="\([^"]*\)">\([^<]*\)</\1 \2 \3/
		s/data-json="\([^"]*\)">\([^<]*\)</\1 1 \2/' >cells
	compare "$@"
}

# browse FILE: what the browser makes of it, and on stderr what it complains of.
browse() {
	timeout 60 chromium --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --allow-file-access-from-files \
		--user-data-dir="$tmp/profile" --enable-logging=stderr \
		--dump-dom "file://$tmp/$1" 2>browser.log
}

# rendered WIDTH MIN: page.html in a window of so many pixels.
rendered() {
	cat >window.html <<END
<iframe style="width: $1px; height: 800px; border: 0" src="page.html"></iframe>
<pre></pre>
<script>
addEventListener('load', () => {
	const page = document.querySelector('iframe').contentDocument;
	const shown = [...page.querySelectorAll('[data-json]')]
		.filter(cell => cell.checkVisibility());
	const outside = page.documentElement.scrollWidth -
		page.documentElement.clientWidth;
	document.querySelector('pre').textContent = 'outside ' + outside + '\n' +
		shown.map(cell => 'cell ' + cell.dataset.json + ' ' +
			(cell.dataset.scale || 1) + ' ' + cell.innerText + '\n').join('');
});
</script>
END
	browse window.html >dom
	is "$(grep -c ':CONSOLE' browser.log)" 0 "$1 pixels: no console errors"
	is "$(sed -n 's/^.*outside \(-*[0-9]*\)$/\1/p' dom)" 0 \
		'... nothing sticks out'
	sed -n 's/^cell //p' dom >cells
	compare "$1 pixels" "$2"
}

# page OPTION...: page.html and out.json of record.json. Called by ok.
# shellcheck disable=SC2120
page() {
	"$tune" --from record.json --report page.html --format json -o out.json \
		"$@"
}

"$simulate" live=1 knob=1 >record.json || exit 1
ok 'a page' page
check 'with a choice' 120
is "$(grep -c '<html\|</html>' page.html)" 2 'it is whole'
is "$(grep -Eio '(src|href)="[^"]*"|url\([^)]*\)|@import|<script' page.html)" \
	'href="data:,"' 'it loads nothing'
like "$(cat page.html)" 'name="viewport"' 'it has the width of the screen'
like "$(cat page.html)" 'prefers-color-scheme: dark' 'and a dark side'
like "$(cat page.html)" '<h2>Assumptions</h2>' 'what was assumed'
like "$(cat page.html)" 'tlb-tune --max-time|--seed' 'and how to reproduce it'
is "$(tr -d '\n' <page.html | grep -o '<\(table\|tr\|td\|th\|figure\|div\|ul\|li\|p\|pre\|h2\)[ >]' |
	sed 's/[< >]//g' | sort | uniq -c)" \
	"$(tr -d '\n' <page.html | grep -o '</\(table\|tr\|td\|th\|figure\|div\|ul\|li\|p\|pre\|h2\)>' |
		sed 's/[<\/>]//g' | sort | uniq -c)" 'every element is closed'
if command -v gnuplot >/dev/null; then
	is "$(grep -c '<svg' page.html)" 3 'three pictures'
	is "$(grep -c '"black"\|<!DOCTYPE svg' page.html)" 0 \
		'... in the colours of the page'
	like "$(cat page.html)" 'ceiling: 33' '... the ceiling is marked'
	like "$(cat page.html)" 'break-even .W = 256.: 7' \
		'... and the break-even'
	ok 'a picture of its own' page --plot plot.svg
	like "$(head -1 plot.svg)" '<?xml' '... is a file'
	like "$(cat plot.svg)" '</svg>' '... and whole'
else
	skip 7 'no gnuplot'
fi

# In a browser. That it would complain is seen with a page that has an error.
if ! command -v chromium >/dev/null || [ "$SANITIZER" ]; then
	skip 9 'no chromium, or sanitized'
else
	rendered 360 120
	rendered 1280 120
	echo '<script>none()</script>' >bad.html
	browse bad.html >dom
	is "$(grep -c ':CONSOLE.*none is not defined' browser.log)" 1 \
		'an error would be seen'
fi

# Two core types.
"$simulate" live=1 knob=1 c_i=200 c_f=300 seed=7 >other.json
page --also other.json
check 'core types' 160
like "$(cat page.html)" '<h2>Core types</h2>' '... each of them'

# What is in the report stays text.
sed 's/"release": *"[^"]*"/"release": "<script>\&amp;"/' record.json >hostile.json
cp hostile.json record.json
page
like "$(cat page.html)" '&lt;script&gt;&amp;amp;' 'text is escaped'
is "$(grep -c '<script' page.html)" 0 '... whatever it is'

# Without a choice.
"$simulate" ceiling=0 >record.json
ok 'a page without a choice' page
check 'without' 3
like "$(cat page.html)" 'No factor: ' '... says why there is none'

# Without gnuplot.
"$simulate" >record.json
mkdir bin
PATH=$tmp/bin "$tune" --from record.json --report page.html -o out.txt 2>err
is "$? $(cat err)" '0 ' 'without gnuplot there is a page'
like "$(cat page.html)" 'no pictures without gnuplot' '... that says so'
PATH=$tmp/bin "$tune" --from record.json --plot none.svg -o out.txt 2>err
is "$? $(wc -l <err)" '1 1' '... and no picture'
ok '... not even half of one' [ ! -e none.svg ]
"$tune" --from record.json --report no/such.html >out 2>err
is "$? $(wc -l <err) $(wc -l <out)" '2 1 0' 'a page that cannot be written'

done_testing
