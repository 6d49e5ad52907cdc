#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctanalyze report from outside: one page, what it says, and what it must never do.
load common

setup_file()
{
	cd "$CT_SOURCE" || return
	export CT_NET3=$BATS_FILE_TMPDIR/net3.db CT_CLIENTS=$BATS_FILE_TMPDIR/clients.db
	ctmerge -q tests/fixtures/net3 -o "$CT_NET3" 2>/dev/null
	ctsim -q --seed 1 --set seconds=2 clients -o "$BATS_FILE_TMPDIR/clients" 2>/dev/null
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

# lacks PATTERN: no line of the page matches.
lacks()
{
	if grep -n -i -E -e "$1" report.html; then
		echo "the page has: $1"
		return 1
	fi
}

# Well-formed enough: what is opened is closed.
is_balanced()
{
	for tag in section figure table tr td div svg p dl ul details main; do
		opened=$(grep -o "<${tag}[ >]" report.html | wc -l)
		closed=$(grep -o "</$tag>" report.html | wc -l)
		[ "$opened" -eq "$closed" ] || {
			echo "$tag: $opened opened, $closed closed"
			return 1
		}
	done
}

@test "the page has every section, and nothing from outside" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	for id in nodes clocks resources timeline latency requests top; do
		has "<section id=\"$id\">"
	done
	for id in clock-bounds cpu memory disk network lanes latency-pairs; do
		has "<figure class=\"chart\" id=\"$id\""
	done
	is_balanced
	lacks '(src|href|url)[ =(]*["'\'']?(https?:|//)|@import|<link|<iframe'
	has "default-src 'none'"
}

@test "numbers are the database's" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	for sql in 'sum(events) FROM event_class' 'count(*) FROM message' 'count(*) FROM sample'; do
		has "<dd data-v=\"$(sqlite3 -readonly "$CT_CLIENTS" "SELECT $sql")\">"
	done
	slowest=$(sqlite3 -readonly "$CT_CLIENTS" 'SELECT id FROM message ORDER BY latency_ns DESC LIMIT 1')
	has "<path class=\"slow\" data-m=\"$slowest\""
	sqlite3 -readonly "$CT_CLIENTS" 'SELECT max(latency_ns) FROM message' >most
	has "data-v=\"$(cat most)\""
}

# The figures of the slowest requests, in order, and what each state had of it.
@test "critical paths are those of critical-path" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	ctanalyze requests --top --limit 8 --format csv "$CT_CLIENTS" | cut -d , -f 2 | tail -n +2 >numbers
	[ "$(wc -l <numbers)" -eq 8 ]
	grep -o 'class="path" data-request="[0-9]*"' report.html | tr -dc '0-9\n' | diff numbers -
	running=$(ctanalyze critical-path --request "$(head -n 1 numbers)" --format csv --table states "$CT_CLIENTS" |
		awk -F, '$2 == "running" { sum += $4 } END { printf "%.0f", sum }')
	[ "$running" -gt 0 ]
	grep -A 1 "data-request=\"$(head -n 1 numbers)\"" report.html | grep -q "data-v=\"$running\">running "
	# Where threads were not recorded there are tables only.
	ctanalyze report "$CT_NET3" -o report.html
	has '<section id="requests">'
	has 'what servers did: not recorded (enable sched_switch'
	lacks 'class="path"'
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
	lacks '<img|<svg/|<i>"|<b>&'
	lacks "$(printf '\001')"
	iconv -f UTF-8 -t UTF-8 report.html >/dev/null
	is_balanced
}

@test "part of a run" {
	ctanalyze report --node 'node[12]' --timerange '+0.2,+0.6' "$CT_CLIENTS" -o report.html
	has 'Part of the run'
	lacks 'aria-label="Processors, node3"'
	is_balanced
}

@test "what cannot be done is told" {
	ctanalyze report "$CT_NET3" -o report.html
	ends_with 1 ctanalyze report "$CT_NET3" -o no/such/report.html
	grep -q -F 'no/such/report.html' "$scratch/stderr"
	fails_with 2 'ctanalyze: --format means nothing to report, see ctanalyze report --help' \
		ctanalyze report --format csv "$CT_NET3"
	echo no >none.db
	cp report.html before.html
	ends_with 1 ctanalyze report none.db -o report.html
	grep -q -F 'none.db' "$scratch/stderr"
	cmp report.html before.html
}
