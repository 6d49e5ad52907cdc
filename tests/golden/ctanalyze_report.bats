#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctanalyze report from outside: one page, what it says, and what it must never do.
load common

setup_file()
{
	cd "$CT_SOURCE" || return
	export CT_NET3=$BATS_FILE_TMPDIR/net3.db CT_CLIENTS=$BATS_FILE_TMPDIR/clients.db
	ctmerge -q datasets/net3 -o "$CT_NET3" 2>/dev/null
	ctsim --seed 1 --set seconds=1 clients -o "$BATS_FILE_TMPDIR/clients" 2>/dev/null
	ctmerge -q "$BATS_FILE_TMPDIR/clients" -o "$CT_CLIENTS" 2>/dev/null
}

# has TEXT: the page has it.
has()
{
	grep -q -F -e "$1" report.html || {
		echo "the page has no: $1"
		return 1
	}
}

# Well-formed enough: what is opened is closed.
is_balanced()
{
	for tag in section figure table tr td div svg p dl ul details main; do
		opened=$(grep -o "<$tag[ >]" report.html | wc -l)
		closed=$(grep -o "</$tag>" report.html | wc -l)
		[ "$opened" -eq "$closed" ] || {
			echo "$tag: $opened opened, $closed closed"
			return 1
		}
	done
}

@test "the page has every section, and nothing from outside" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	for id in nodes clocks resources timeline latency top; do
		has "<section id=\"$id\">"
	done
	for id in clock-bounds cpu memory disk network lanes latency-pairs; do
		has "<figure class=\"chart\" id=\"$id\""
	done
	is_balanced
	run ! grep -E -i '(src|href|url)[ =(]*["'\'']?(https?:|//)|@import|<link|<iframe' report.html
	has "default-src 'none'"
}

@test "numbers are the database's" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	for table in event_class:events message:1 sample:1; do
		sql="SELECT sum(${table#*:}) FROM ${table%:*}"
		has "data-v=\"$(sqlite3 -readonly "$CT_CLIENTS" "$sql")\""
	done
	slowest=$(sqlite3 -readonly "$CT_CLIENTS" 'SELECT id FROM message ORDER BY latency_ns DESC LIMIT 1')
	has "<path class=\"slow\" data-m=\"$slowest\""
	sqlite3 -readonly "$CT_CLIENTS" 'SELECT max(latency_ns) FROM message' >most
	has "data-v=\"$(cat most)\""
}

@test "the same timeline gives the same page" {
	ctanalyze report "$CT_NET3" -o report.html
	ctanalyze report "$CT_NET3" >again.html
	cmp report.html again.html
	[ "$(wc -c <report.html)" -lt 10000000 ]
}

@test "texts from traces are no HTML" {
	cp "$CT_CLIENTS" bad.db
	chmod u+w bad.db
	sqlite3 bad.db <<-'SQL'
		UPDATE node SET name = '</script><img src=x onerror=alert(1)>"''' || char(1) WHERE id = 1;
		UPDATE meta SET value = '<b>&"' WHERE key = 'name';
		UPDATE sched_switch SET next_comm = '"><script>', prev_comm = '"><script>'
			WHERE id % 2;
		UPDATE sched_switch SET next_comm = CAST(x'ff3c2f7376673e' AS TEXT) WHERE id % 3 = 0;
		UPDATE thread SET comm = '"><script>';
		UPDATE process SET comm = '</td><svg/onload=alert(1)>';
		INSERT INTO problem(id, source, kind, count, text, place)
			VALUES (999, NULL, 'x', 1, '<script>alert(1)</script>', '"><i>');
	SQL
	ctanalyze report bad.db -o report.html
	has '&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;'
	has '&quot;&gt;&lt;script&gt;'
	[ "$(grep -o '<script' report.html | wc -l)" -eq 1 ]
	run ! grep -q -i -E '<img|<svg/|<i>"|<b>&' report.html
	run ! grep -q "$(printf '\001')" report.html
	iconv -f UTF-8 -t UTF-8 report.html >/dev/null
	is_balanced
}

@test "part of a run, and a run without anything" {
	ctanalyze report --node 'node[12]' --timerange '+0.2,+0.6' "$CT_CLIENTS" -o report.html
	has 'Part of the run'
	run ! grep -q 'aria-label="Processors, node3"' report.html
	is_balanced
}

@test "what cannot be done is told" {
	ctanalyze report "$CT_NET3" -o report.html
	fails_with 1 'no/such/report.html' ctanalyze report "$CT_NET3" -o no/such/report.html
	fails_with 2 'format' ctanalyze report --format csv "$CT_NET3"
	echo no >none.db
	cp report.html before.html
	fails_with 1 'none.db' ctanalyze report none.db -o report.html
	cmp report.html before.html
}
